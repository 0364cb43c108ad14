"""The notes on every method: its objective, its departures from the paper, and its known pathologies.

``python -m scripts.method_notes > docs/methods.md`` takes them from the docstrings, the only place where they are
written.
"""

import inspect
import re

from runners.boundary import boundary
from runners.method import load_class
from scripts.core.conf import find, read_group
from scripts.core.text import pipes

SHOWN = ("Differs", "Known pathologies", "Permuted", "Why")  # first words of the paragraphs that are taken
HEAD = """# Methods: departures and known pathologies

Printed by `python -m scripts.method_notes` from the docstrings, which also have parameters, starts, sweeps and cost.
X is (n_samples, n_features); w_j is row j of W. A name that ends in `_released` is the program that the authors of the
paper published, where it does not compute what the paper prints.
"""


def method_notes():
    """Return the text in Markdown, one chapter for each class of conf/method."""
    users = {}
    for name, content in read_group("method").items():
        users.setdefault(content["target"], []).append(name)
    chapters = {target: load_class(target) for target in users}
    table = pipes([["`method=`", "it is", "from"], *(_row(chapters[target], names) for target, names in users.items())])
    return "\n".join([HEAD, table, "", *(_chapter(chapters[target], names) for target, names in users.items())])


def sections(docstring):
    """Split a docstring in the numpydoc style, by title; the text before the first title is under ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return {"": parts[0].strip(), **{title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}}


def _row(cls, names):
    line = inspect.getdoc(cls).split("\n\n")[0]
    sources = dict.fromkeys(filter(None, (find("method", name)["citation"] for name in names)))
    return [", ".join(f"`{name}`" for name in names), " ".join(line.split()), "; ".join(sources)]


def _chapter(cls, names):
    found = sections(inspect.getdoc(cls))
    shown = [
        paragraph
        for paragraph in re.split(r"\n\s*\n", found.get("Notes", ""))
        if paragraph.lstrip("*").startswith(SHOWN)
    ]
    source = [f"Source: {' '.join(found['References'].split())}"] if "References" in found else []
    title = f"## {cls.__name__}: {', '.join(f'`{name}`' for name in names)}"
    text = "\n\n".join([title, found[""], *shown, *source]) + "\n"
    return text.replace("]_", "]").replace(".. [", "[").replace("::\n", ":\n")


if __name__ == "__main__":
    with boundary():
        print(method_notes(), end="")
