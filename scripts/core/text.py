"""Helpers for the texts that several commands write, the words that these share, and the one renderer of pages.

A page is a template that stands beside its query, a file of ``scripts/`` such as ``docs/method.md.j2``, filled with
plain values and tables.  In Markdown one empty line stands between two parts, however many a template leaves, so that a
part which is empty leaves no trace.  A table is a list of lines of texts, the head first.
"""

import functools
import re
import textwrap
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pandas as pd

from ufs_bench.metrics.study.selections import BY_NAME, LABEL_FREE
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.messages import ConfigError, remedy_of

FOLDER = ROOT / "scripts"
WIDTH = 120  # characters of a line of Markdown
POINTS = 1  # decimals of gains
# The state of a cell of a table.
COMPLETE, PARTIAL, NOT_RUN = "complete", "partial", "not run"  # FAILED is another state
NO_LABELS = "no labels"  # of the data, for a score that needs them
CAPPED_CELL = "capped"  # no fit ended by itself, and a cap ended some
REFITTED = ("default_params", "best_over_grid")  # selections whose points scripts.refit fits again with other seeds
CLUSTERERS = {"kmeans": "K-means on the selected features", "learned": "the labels that the methods learn"}
ORACLE = "this oracle is the custom of these papers and flatters what a user without labels gets"


def deliver(text, output=None):
    """Write a text to a file, whose folder is made, and print where it is; without a file, print the text itself."""
    if output is None:
        print(text, end="")
        return
    write(text, output)
    print(Path(output))


def write(text, path):
    """Write a text to a file, whose folder is made."""
    with writing(path) as path:
        path.write_text(text, encoding="utf-8")


@contextmanager
def writing(path):
    """Make the folder of a file; a ConfigError where it, or the file inside, cannot be written."""
    path = Path(path)
    if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
        raise ConfigError(f"{path} is a link out of its folder: name the file itself, output={path.resolve()}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield path
    except OSError as error:
        raise ConfigError(
            f"cannot write {path}: {error.strerror}. {remedy_of(error).capitalize()}, or name another file: output=..."
        ) from error


def signed(value, decimals=POINTS):
    """Return a number, such as a gain, as a text with its sign, 0.0 for what rounds to 0; "" where there is none."""
    text = "" if pd.isna(value) else f"{value:+.{decimals}f}"
    return text if not text or float(text) else text[1:]


def with_interval(mean, low, high):
    """Return a gain and its interval as a text."""
    return f"{signed(mean)} ({interval(low, high, signed) or 'no interval'})"


def interval(low, high, form="{:.2f}".format):
    """Return an interval, of ranks or in another form, as a text; "" where there is none."""
    return "" if pd.isna(low) else f"{form(low)} to {form(high)}"


def pipes(lines, line=None):
    """Return a Markdown table of texts, the first being its head, in columns of one width; with a line above a row."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    head, *body = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    if line is not None:
        body.insert(line, rule)
    return "\n".join([head, rule, *body])


def split(widths, first, room):
    """Return slices of columns, as few and about as long as fit the room, each with a first column before it."""
    slices = []
    for n_blocks in range(1, len(widths) + 1):
        ends = [len(widths) * stop // n_blocks for stop in range(n_blocks + 1)]
        slices = [slice(*pair) for pair in pairwise(ends)]
        if all(first + sum(widths[block]) <= room for block in slices):
            break
    return slices


def number(value, decimals=2):
    """Return a number as a text; "" where there is none."""
    return "" if pd.isna(value) else f"{round(value, decimals):z.{decimals}f}"


def spread(std, sign="±", decimals=1):
    """Return the text of a std that follows a mean; "" where there is none."""
    return "" if pd.isna(std) else f"{sign}{std:.{decimals}f}"


def listed(names):
    """Return one or more names as one text: "A, B and C"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def they(names, verb):
    """Return one or more names with what they do: "A gains", "A and B gain"."""
    return f"{listed(names)} {verb}{'s' if len(names) == 1 else ''}"


def span(values, form="{}"):
    """Return the smallest and the largest value as a text; one of them where their texts are equal."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def rule(name, metric="acc"):
    """Say in a sentence how the cells of a table of a metric were chosen."""
    selection = BY_NAME[name]
    what = selection.words if name == "grid_median" else f"the mean at {by_labels(selection.words, metric)}"
    return f"every cell is {what}; {ORACLE if uses_labels(name, metric) else 'the choice uses no label'}"


def uses_labels(name, metric):
    """Return True where a selection looks at the labels, as the largest of a metric may."""
    return BY_NAME[name].oracle and metric not in LABEL_FREE


def by_labels(words, metric):
    """Return the words of a selection without "chosen with the labels" where the largest of a metric needs none."""
    return words.replace(", chosen with the labels", "") if metric in LABEL_FREE else words


def labelled(name, clusterer):
    """Return a method's name with the remark that its labels are those that it learns itself."""
    return f"{name} (learned labels)" if clusterer == "learned" else name


def filled(path, command, parts):
    """Return the text of a page with the parts that a command prints, by their names, between their marks."""
    text = path.read_text(encoding="utf-8")
    for name, printed in parts.items():
        mark = f"<!-- printed by python -m {command}: {name} -->"
        marks = re.compile(f"{re.escape(mark)}\n.*?<!-- end -->", re.DOTALL)
        text, n_parts = marks.subn(lambda _, whole=f"{mark}\n{printed}\n<!-- end -->": whole, text)
        if n_parts != 1:
            raise ValueError(f"{path.name} must have one part {mark}, not {n_parts}.")
    return text


def differing(texts):
    """Return those of some texts, by the paths of their files, that the files do not have."""
    return {path: text for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text}


def renewed(texts, check):
    """Write the files that differ from their texts, by path, and say of each what it is; return the exit status.

    With `check` nothing is written, and the status is 1 where something differs.
    """
    wrong = differing(texts)
    for path in texts:
        print(f"{path.relative_to(ROOT)}: {'the same' if path not in wrong else 'differs' if check else 'written'}")
    for path, text in () if check else wrong.items():
        write(text, path)
    return int(bool(wrong) and check)


def render(name, /, **values):
    """Return a page as a text; `name` is the path of its template below its folder."""
    page = environment(name.endswith(".html.j2")).get_template(name).render(**values)
    return re.sub(r"\n{3,}", "\n\n", page).strip("\n") + "\n" if name.endswith(".md.j2") else page


@functools.cache
def environment(is_html):
    """Return the environment of the templates; in HTML every value is escaped, and no line is removed."""
    import jinja2  # here, as few commands need it

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=is_html, undefined=jinja2.StrictUndefined,
        trim_blocks=not is_html, lstrip_blocks=not is_html, keep_trailing_newline=not is_html,
    )  # fmt: skip
    made.filters["table"] = pipes
    return made


def wrapped(words):
    """Return a text in lines of Markdown."""
    return textwrap.fill(" ".join(words.split()), WIDTH, break_on_hyphens=False, break_long_words=False)
