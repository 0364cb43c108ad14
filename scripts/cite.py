"""The works to cite for the results of a study: ``python -m scripts.cite --help``."""

from collections import Counter

from scripts.core.command_lines import no_results
from scripts.core.conf import ROOT, find, read
from scripts.core.entry import command
from scripts.core.published import PAPERS
from scripts.core.study import Study


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


@command("cite")
def main(options):
    """Print the sources of a study."""
    study = Study.open(options["results_dir"], options["study"])
    if study.trials.empty:
        raise ValueError(no_results(study))
    for title, texts in sources(study).items():
        print(title.capitalize(), *(f"  {text}" for text in texts), sep="\n")


if __name__ == "__main__":
    main()
