"""Says where methods come from: their classes, files, docstrings and papers."""

import functools
import inspect
import re

from ufs_bench.runners.experiment.method import load_class
from ufs_bench.scripts.core.conf import CONF, ROOT, find, read_group


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


def method_lines():
    """Return the lines of a table with a row for each class of conf/method."""
    lines = [["`method=`", "it is", "from", "written in"]]
    for target, names in classes():
        summary, file = inspect.getdoc(load_class(target)).split("\n\n")[0], source_of(target)
        links = ", ".join(f"[`{name}`](../conf/method/{name}.yaml)" for name in names)
        lines.append([links, " ".join(summary.split()), citations(names), f"[`{file}`](../{file})"])
    return lines


def citations(names):
    """Return the sources of some methods as one text in Markdown, each once, with links to the papers."""
    parts = dict.fromkeys(part for name in names for part in find("method", name)["citation"].split("; ") if part)
    return "; ".join(f"[{part}]({address})" if (address := address_of(part)) else part for part in parts)


@functools.cache
def papers():
    """Return the entries of conf/references.bib by the citation of the method that each is named after."""
    text = (CONF / "references.bib").read_text(encoding="utf-8")
    entries = re.finditer(r"^@\w+\{(\w+),.*?^\}", text, re.MULTILINE | re.DOTALL)
    return {find("method", entry[1])["citation"]: entry[0] for entry in entries}


def paper_of(citation):
    """Return the entry of a citation such as "Cai, Zhang & He, KDD 2010" in conf/references.bib, or None."""
    return next((entry for own, entry in papers().items() if citation.startswith(own)), None)


def address_of(citation):
    """Return where the paper of a citation is: its DOI, another address, or None."""
    found = re.search(r"^  (doi|url) = \{(.*)\},$", paper_of(citation) or "", re.MULTILINE)
    return found and {"doi": "https://doi.org/", "url": ""}[found[1]] + found[2]
