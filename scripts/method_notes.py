"""The list of all methods, with the files that say what they compute.

``python -m scripts.method_notes > docs/methods.md`` takes it from conf/method and the docstrings.  The web site has a
page for each of them.
"""

import inspect
import re

from ufs_bench.runners.experiment.method import load_class
from ufs_bench.scripts.cite import address_of
from ufs_bench.scripts.core.conf import ROOT, find, read_group
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.views import render


def method_notes():
    """Return the text in Markdown, a row for each class of conf/method."""
    head = ["`method=`", "it is", "from", "written in"]
    return render("method_notes.md.j2", lines=[head, *map(_row, classes())])


def classes():
    """Return the target of every class of conf/method with the names that use it, the first one being its own."""
    users = {}
    for name, content in read_group("method").items():
        users.setdefault(content["target"], []).append(name)
    return list(users.items())


def source_of(target):
    """Return the file with a class, relative to the checkout."""
    return inspect.getsourcefile(load_class(target)).removeprefix(f"{ROOT}/")


def sections(docstring):
    """Split a docstring in the numpydoc style, by title; the text before the first title is under ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return {"": parts[0].strip(), **{title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}}


def citations(names):
    """Return the sources of some methods as one text in Markdown, each once, with links to the papers."""
    parts = dict.fromkeys(part for name in names for part in find("method", name)["citation"].split("; ") if part)
    return "; ".join(f"[{part}]({address})" if (address := address_of(part)) else part for part in parts)


def _row(page):
    target, names = page
    line = inspect.getdoc(load_class(target)).split("\n\n")[0]
    links = ", ".join(f"[`{name}`](../conf/method/{name}.yaml)" for name in names)
    return [links, " ".join(line.split()), citations(names), f"[`{source_of(target)}`](../{source_of(target)})"]


@command("method_notes")
def main(options):
    """Print the list."""
    print(method_notes(), end="")


if __name__ == "__main__":
    main()
