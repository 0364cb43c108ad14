"""The pages of the documentation as HTML: Markdown, with links that lead to the other pages of the site."""

import functools
import os.path
import re
from itertools import pairwise
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from markupsafe import Markup

from scripts.core.views import raw, render

# What stands above every page; the rest is in the list of all pages.
MENU = {
    "index.html": "ufs-bench",
    "docs/start.html": "Start",
    "leaderboard.html": "Leaderboard",
    "docs/findings.html": "Findings",
    "docs/methods.html": "Methods",
    "datasets.html": "Data",
    "results.html": "Results",
    "docs/glossary.html": "Glossary",
    "docs/index.html": "Pages",
    "search.html": "Search",
}
OTHERS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # beside those of docs/


class Pages:
    """All pages of a checkout.

    `instead` has the pages of the site that stand for files of the checkout; `files` are the paths of what they link to
    besides, filled while they are written.
    """

    def __init__(self, root, instead=None):
        self.root, self.instead, self.files = root, instead or {}, set()
        found = [*(root / name for name in OTHERS), *sorted((root / "docs").rglob("*.md"))]
        self.texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}

    def written(self):
        """Yield the path and the text of every page."""
        for path, markdown in self.texts.items():
            yield (
                address(path),
                layout(title_of(markdown), markdown, address(path), functools.partial(self._link, path)),
            )

    def _link(self, path, link, words=""):
        """Return a link of a page, and its words, as they are on the site: a page is called by its title."""
        parts = urlsplit(link)
        if parts.scheme or not parts.path:
            return link, words
        target = os.path.normpath(PurePosixPath(path).parent / parts.path)
        if target in self.texts:
            words = title_of(self.texts[target]) if words == PurePosixPath(target).name else words
            target = address(target)
        elif target in self.instead:
            target = self.instead[target]
        elif (self.root / target).is_file():
            self.files.add(target)
        else:
            raise ValueError(f"{path} links to {link}, which is no file of this checkout.")
        return relative(target, address(path)) + (f"#{parts.fragment}" if parts.fragment else ""), words


def address(path):
    """Return the path of a page on the site: the README is the start page."""
    return "index.html" if path == "README.md" else f"{path.removesuffix('.md')}.html"


def relative(target, page):
    """Return the link from a page of the site to another file of it."""
    return os.path.relpath(target, os.path.dirname(page) or ".")


def title_of(markdown):
    """Return the first title of a page."""
    return re.search(r"^# (.+)$", markdown, re.MULTILINE)[1]


def layout(title, markdown, page, link=lambda *given: given):
    """Return a whole page; `link` gives every link and its words their form on the site."""
    return framed(title, to_html(markdown, link), page)


def framed(title, content, page, scripts=("site/site.js",)):
    """Return a whole page around some HTML, with scripts of its own."""
    return render(
        "site/page.html.j2",
        title=title,
        menu={relative(target, page): text for target, text in MENU.items()},
        here=relative(page, page),
        content=Markup(content),
        style=raw("make_report/page.css", "site/site.css"),
        script=raw("make_report/sort.js", *scripts),
    )


def to_html(markdown, link):
    """Return Markdown as HTML, with a name for every title and tables that can be sorted."""
    # Only this command needs it.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table class="data">')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    image = parser.renderer.rules["image"]
    # A figure is not made smaller than its text can be read.
    parser.add_render_rule("image", lambda _, *given: f'<span class="figure">{image(*given)}</span>')
    tokens, used = parser.parse(markdown), {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _unused(slug(tokens[place + 1]), used))
        children = token.children or []
        for child, after in pairwise([*children, None]):
            if child.type == "link_open":
                child.attrs["href"], after.content = link(child.attrs["href"], after.content)
            elif child.type == "image":
                child.attrs["src"], _ = link(child.attrs["src"], "")
    return parser.renderer.render(tokens, parser.options, {})


def slug(inline):
    """Return the name of a title, as GitHub makes it: small letters, hyphens, no other signs."""
    text = "".join(child.content for child in inline.children if child.type in ("text", "code_inline"))
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-")


def _unused(name, used):
    used[name] = used.get(name, -1) + 1
    return f"{name}-{used[name]}" if used[name] else name
