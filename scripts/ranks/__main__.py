"""``python -m scripts.ranks --help``."""

import sys

import hydra

from metrics.study.summary import SELECTIONS
from scripts.core.commands import MissingResults, fill_pairs, no_results, with_commands
from scripts.core.conf import CONF, unique_names
from scripts.core.study import Study
from scripts.core.text import deliver
from scripts.ranks import rank_study
from scripts.ranks.page import ranks_page


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="ranks")
def main(config):
    """Print the ranks that `config` describes, or write them to a file."""
    if config.format not in ("md", "csv"):
        sys.exit(f"format={config.format} must be md or csv.")
    if config.selection not in SELECTIONS:
        sys.exit(f"selection={config.selection} must be one of {', '.join(SELECTIONS)}.")
    study = Study.open(config.results_dir, config.study)
    if study.trials.empty:
        sys.exit(f"error: {no_results(study)}")
    settings = {name: config[name] for name in ("metric", "selection", "clusterer", "partial", "alpha")}
    chosen = {name: None if config[name] is None else list(config[name]) for name in ("methods", "datasets")}
    try:
        ranking = rank_study(study, **chosen, **settings)
    except MissingResults as error:
        sys.exit(with_commands(error, fill_pairs(error.cells, study, study.name)))
    except ValueError as error:
        sys.exit(f"error: {error}")
    heading = f"Ranks of study {config.study}: {config.metric.upper()}, {config.selection}, {config.clusterer}"
    if config.format == "csv":
        text = ranking.table.rename_axis("method").to_csv()
    else:
        text = ranks_page(ranking, unique_names("method", ranking.table.index), heading, config.alpha)
    deliver(text, config.output)


if __name__ == "__main__":
    main()
