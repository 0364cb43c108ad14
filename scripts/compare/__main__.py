"""``python -m scripts.compare --help``."""

import sys

import hydra

from metrics.study.summary import SELECTIONS
from scripts.compare import compare_studies, controls_of, open_studies
from scripts.compare.page import comparison_page
from scripts.core.conf import CONF
from scripts.core.published import PAPERS
from scripts.core.text import deliver


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="compare")
def main(config):
    """Print the comparison that `config` describes, or write it to a file."""
    options = {
        "format": ("md", "csv"),
        "selection": SELECTIONS,
        "paper": (*PAPERS, None),
        "quick": (True, False),
        "summary": (True, False),
    }
    for name, allowed in options.items():
        if config[name] not in allowed:
            sys.exit(f"{name}={config[name]} must be one of {', '.join(map(str, allowed))}.")
    papers = [config.paper] if config.paper else list(PAPERS)
    names = {paper: config.study or f"{paper}{'_quick' if config.quick else ''}" for paper in papers}
    try:
        studies = open_studies(config.results_dir, papers, names)
        comparison, controls = compare_studies(studies, config.selection), controls_of(studies, config.selection)
    except ValueError as error:
        sys.exit(f"error: {error}")
    if config.format == "csv":
        text = comparison.to_csv(index=False, float_format="%.4f", lineterminator="\n")
    else:
        text = comparison_page(comparison, controls, config.summary)
    deliver(text, config.output)


if __name__ == "__main__":
    main()
