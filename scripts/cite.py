"""The works to cite for the results of a study: ``python -m scripts.cite --help``."""

import functools
import re
from collections import Counter

from ufs_bench.scripts.core.conf import CONF, ROOT, find, read
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.study import Study

# The authors at the beginning of a source, such as "Guo & Zhu", "Golub et al." or "Roweis".
AUTHORS = r"(.*?(?: & [^,]+| et al\.)|[^,]+)"


def sources(study):
    """Return the sources of everything in a study: texts on the suite, the protocol, the methods and the data sets."""
    suite, trials, protocol = read(ROOT / "CITATION.cff"), study.trials, study.protocol["name"]
    commits = ", ".join(sha for sha, _ in Counter(trials["git_sha"]).most_common())
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


def bibtex(study):
    """Return the entries of a .bib file: one for the suite, and one for each paper of a method and source of data.

    conf/dataset has sources as "authors, where year", without titles: the note of an entry says so, and has the source.
    """
    suite, found = read(ROOT / "CITATION.cff"), {}
    for group, names in (("method", study.trials["method"].unique()), ("dataset", study.trials["dataset"].unique())):
        for name in sorted(names):
            if text := (find(group, name) or {}).get("citation"):
                found.setdefault(text, []).append(name)
    if (protocol := study.protocol["name"]) in PAPERS and (text := (find("method", protocol) or {}).get("citation")):
        found.setdefault(text, []).append(f"protocol {protocol}")
    names = [one.get("name") or f"{one['family-names']}, {one['given-names']}" for one in suite["authors"]]
    authors = " and ".join(map(_escaped, names))
    titled = {entry: None for text in found for part in text.split("; ") if (entry := paper_of(part))}
    found = {text: names for text, names in found.items() if not all(map(paper_of, text.split("; ")))}
    entries = [
        _entry("software", "ufs_bench", {
            "title": f"{{{_escaped(suite['title'])}}}", "author": f"{{{authors}}}", "version": suite["version"],
            "note": "commit " + ", ".join(study.trials["git_sha"].unique()),
        })
    ]  # fmt: skip
    rest = [of_source(text, names) for text, names in sorted(found.items(), key=lambda item: item[1][0])]
    return [*entries, *titled, *rest]


def of_source(text, names):
    """Return the entry of a source, under the name of the first thing that it is cited for."""
    first = text.split(";")[0]
    years = re.findall(r"\b(?:19|20)\d\d\b", re.sub(r"\([^)]*(\)|$)", "", first))
    people = re.split(r", | & ", re.match(AUTHORS, first)[1].replace(" et al.", " & others"))
    fields = {"author": " and ".join(map(_escaped, people)), "year": years[-1] if years else ""}
    fields["note"] = f"{_escaped(text)}. Cited for {_escaped(', '.join(names))}; the title is to be filled in"
    return _entry("misc", names[0].replace("protocol ", ""), fields)


def _entry(kind, key, fields):
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def _escaped(text):
    return re.sub(r"([&%#_$])", r"\\\1", str(text))


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
