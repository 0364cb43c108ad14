"""What to cite for the results of a study: ``python -m scripts.cite --help``."""

import json
import sys
from collections import Counter

import hydra

from runners.store import load_results
from scripts.core.conf import CONF, ROOT, read
from scripts.core.missing import no_results
from scripts.core.published import PAPERS


def sources(trials):
    """Where everything in a study comes from.

    Parameters
    ----------
    trials : DataFrame
        Of one study, from `runners.store.load_results`.

    Returns
    -------
    dict
        Title -> list of texts: suite, protocol, methods, data sets.
    """
    suite = read(ROOT / "CITATION.cff")
    commits = ", ".join(sha for sha, _ in Counter(trials["git_sha"]).most_common())
    protocol = json.loads(trials["protocol"].iloc[0])["name"]
    paper = f": {_citation('method', protocol)}" if protocol in PAPERS else ", of this suite"
    return {
        "suite": [f"{suite['title']}, version {suite['version']}, commit {commits}"],
        "protocol": [protocol + paper],
        "methods": _listed("method", trials["method"].unique()),
        "data sets": _listed("dataset", trials["dataset"].unique()),
    }


def _listed(group, names):
    """Those with a source: all features, for one, have none."""
    found = {name: _citation(group, name) for name in sorted(names)}
    return [f"{name}: {text}" for name, text in found.items() if text]


def _citation(group, name):
    path = CONF / group / f"{name}.yaml"
    if not path.exists():
        return f"not in conf/{group}"
    content = read(path)
    terms = f"; terms: {content['terms'].rstrip('.')}" if "terms" in content else ""
    return (content.get("citation") or "") + terms


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="cite")
def main(config):
    """Print the sources of the study that `config` names."""
    trials = load_results(config.results_dir, study=config.study).trials
    if trials.empty:
        sys.exit(f"error: {no_results(config.results_dir, config.study)}")
    for title, texts in sources(trials).items():
        print(title.capitalize(), *(f"  {text}" for text in texts), sep="\n")


if __name__ == "__main__":
    main()
