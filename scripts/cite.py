"""The works to cite for the results of a study: ``python -m scripts.cite --help``; where each method is from."""

import functools
import inspect
import re

from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.core.conf import CONF, ROOT, find, read, read_group
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study


def sources(study):
    """Return the sources of everything in a study: texts on the suite, the protocol, the methods and the data sets."""
    suite, trials, protocol = read(ROOT / "CITATION.cff"), study.trials, study.protocol["name"]
    commits = ", ".join(trials["git_sha"].value_counts().index)
    paper = f": {_citation('method', protocol)}" if protocol in PAPERS else ", of this suite"
    return {
        "suite": [f"{suite['title']}, version {suite['version']}, commit {commits}"],
        "protocol": [protocol + paper],
        "methods": _listed("method", trials["method"].unique()),
        "data sets": _listed("dataset", trials["dataset"].unique()),
    }


def _listed(group, names):
    """Return the names that have a source; all features, for example, have none."""
    found = {name: _citation(group, name) for name in sorted(names)}
    return [f"{name}: {text}" for name, text in found.items() if text]


def _citation(group, name):
    content = find(group, name)
    if content is None:
        return f"not in conf/{group}"
    terms = f"; terms: {content['terms'].rstrip('.')}" if "terms" in content else ""
    return (content.get("citation") or "") + terms


def bibtex(study):
    """Return the entries of a .bib file: for the suite, for each paper of conf/references.bib, and for other sources.

    The sources of conf/dataset are "authors, where year" without titles, so that their entry has a note only.
    """
    suite, trials, protocol = read(ROOT / "CITATION.cff"), study.trials, study.protocol["name"]
    used = [("method", name) for name in sorted(trials["method"].unique())]
    used += [("dataset", name) for name in sorted(trials["dataset"].unique())]
    used += [("method", protocol)] if protocol in PAPERS else []
    authors = [one.get("name") or f"{one['family-names']}, {one['given-names']}" for one in suite["authors"]]
    fields = {
        "title": f"{{{_escaped(suite['title'])}}}", "author": f"{{{_escaped(' and '.join(authors))}}}",
        "version": suite["version"], "note": "commit " + ", ".join(trials["git_sha"].unique()),
    }  # fmt: skip
    papers, others = {}, {}
    for group, name in used:
        parts = [part for part in ((find(group, name) or {}).get("citation") or "").split("; ") if part]
        papers |= dict.fromkeys(filter(None, map(paper_of, parts)))
        if not all(map(paper_of, parts)):
            others.setdefault("; ".join(parts), name)
    notes = [_entry("misc", name, {"note": _escaped(text)}) for text, name in others.items()]
    return [_entry("software", "ufs_bench", fields), *papers, *notes]


def _entry(kind, key, fields):
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _escaped(text):
    return re.sub(r"([&%#_$])", r"\\\1", str(text))


def classes():
    """Return the target of every class of conf/method with the names that use it, the first one being its own."""
    users = {}
    for name, content in read_group("method").items():
        users.setdefault(content["target"], []).append(name)
    return list(users.items())


def source_of(target):
    """Return the file with a class, relative to the checkout."""
    return inspect.getsourcefile(load_class(target)).removeprefix(f"{ROOT}/")


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


@command("cite")
def main(options):
    """Print the sources of a study."""
    study = Study.find(options["results_dir"], options["study"]).filled()
    if options["format"] == "bibtex":
        print("\n\n".join(bibtex(study)))
        return
    for title, texts in sources(study).items():
        print(title.capitalize(), *(f"  {text}" for text in texts), sep="\n")


if __name__ == "__main__":
    main()
