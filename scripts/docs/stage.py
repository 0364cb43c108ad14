"""The folder that Sphinx reads: the pages of docs/, of the checkout's root, and those made from conf/ and results."""

import posixpath
import re
import shutil

from ufs_bench.scripts.core.conf import ROOT, names
from ufs_bench.scripts.docs.pages import made_pages, method_pages

# Pages from outside docs/, by their names on the site.
OTHERS = {
    "README.md": "index",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "paper/paper.md": "paper",
    "docs/notebook.ipynb": "notebook",
}
# The sections of the header, each with the pages of its side navigation; what is named nowhere is in the first.
TREE = {
    "start": ("Guide", []),
    "leaderboard": ("Leaderboard", []),
    "methods": ("Methods", ["method/*", "methods/*"]),
    "data": ("Data", ["data/*"]),
    "findings": ("Findings", "plan ground_truth reproduction claims printed choices objections".split()),
    "python": ("Python", ["notebook", "api"]),
}
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
API = "# The Python API\n\n```{eval-rst}\n.. automodule:: ufs_bench\n   :members:\n```\n"


def stage(folder):
    """Write every page, with links that lead to pages of the site or to files of the checkout."""
    docs = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md") if path.name != "index.md"]
    pages = {name: name[5:-3] for name in docs} | OTHERS
    found = {to: _led((ROOT / name).read_text("utf-8"), name, to, pages) for name, to in pages.items()}
    found |= made_pages() | {"api": API}
    for name, text in found.items():
        path = folder / f"{name}{_suffix(name)}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + contents(name, found), "utf-8")
    for path in (ROOT / "docs").rglob("*.svg"):
        target = folder / path.relative_to(ROOT / "docs")
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)


def _suffix(page):
    return ".ipynb" if page == "notebook" else ".md"


def _led(text, name, to, pages):
    """Return the text of a page with its links as they are on the site; `pages` has the pages by their files."""
    known = pages | {"docs/index.md": "index"}
    known |= {f"conf/method/{own}.yaml": page for own, page in method_pages().items()}
    known |= {f"conf/dataset/{own}.yaml": f"data/{own}" for own in names("dataset")}
    here = posixpath.dirname(to)

    def led(found):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), found[1]))
        if target in known:
            there = posixpath.relpath(known[target], here or ".") + _suffix(known[target])
        elif target.endswith(".svg"):
            there = posixpath.relpath(target, f"docs/{here}")
        else:
            there = posixpath.relpath(target, f"build/pages/{here}")
        return f"]({there}{found[2] or ''})"

    return LINK.sub(led, text)


def contents(page, found):
    """Return the hidden table of contents of a page: the sections, or the pages of a section."""
    entries = [f"/{name}" for name in TREE.get(page, ("", []))[1] if "*" in name or name in found]
    if page == "index":
        entries = [f"{title} <{name}>" for name, (title, _) in TREE.items()]
    if page == "start":
        named = {name for head, (_, own) in TREE.items() for name in (head, *own)} | {"index"}
        entries = [f"/{name}" for name in sorted(found) if name not in named and "/" not in name]
    return "\n\n```{toctree}\n:hidden:\n:glob:\n\n" + "\n".join(entries) + "\n```\n" if entries else ""
