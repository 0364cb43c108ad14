"""The one renderer of pages: a template that stands beside its query, filled with plain values and tables.

A template is a file of ``scripts/``, such as ``make_table/brief.md.j2``.  In Markdown one empty line
stands between two parts, however many a template leaves, so that a part which is empty leaves no trace.  A table is a
list of lines of texts, the head first.
"""

import functools
import re
from textwrap import fill

import jinja2

from ufs_bench.scripts.core import text
from ufs_bench.scripts.core.conf import ROOT, printed

FOLDER = ROOT / "scripts"
WIDTH = 120  # characters of a line of Markdown


def render(name, /, **values):
    """Return a page as a text; `name` is the path of its template below its folder."""
    page = environment(name.endswith(".html.j2")).get_template(name).render(**values)
    return re.sub(r"\n{3,}", "\n\n", page).strip("\n") + "\n" if name.endswith(".md.j2") else page


def notes(name, /, **values):
    """Return the notes of a template as a list of texts; each is a paragraph there, and a line here."""
    return [" ".join(note.split()) for note in render(name, **values).split("\n\n") if note.strip()]


@functools.cache
def environment(is_html, folder=FOLDER):
    """Return the environment of templates in some folders; in HTML every value is escaped, and no line is removed."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=is_html, undefined=jinja2.StrictUndefined,
        trim_blocks=not is_html, lstrip_blocks=not is_html, keep_trailing_newline=not is_html,
    )  # fmt: skip
    made.filters |= {"table": text.pipes, "span": text.span, "printed": lambda name, of: printed(of, name)}
    return made


def wrapped(words):
    """Return a text in lines of Markdown."""
    return fill(" ".join(words.split()), WIDTH, break_on_hyphens=False, break_long_words=False)
