"""``python -m scripts.ranks --help``."""

import sys
from pathlib import Path

import hydra

from metrics.study.summary import SELECTIONS, summarise
from runners.store import load_results
from scripts.core.conf import CONF, unique_names
from scripts.core.missing import MissingResults, fill, no_results, with_commands
from scripts.ranks import to_markdown
from scripts.ranks.ranking import rank_study


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="ranks")
def main(config):
    """Print the ranks that `config` describes, or write them to a file."""
    if config.format not in ("md", "csv"):
        sys.exit(f"format={config.format} must be md or csv.")
    if config.selection not in SELECTIONS:
        sys.exit(f"selection={config.selection} must be one of {', '.join(SELECTIONS)}.")
    results = load_results(config.results_dir, study=config.study)
    if results.trials.empty:
        sys.exit(f"error: {no_results(config.results_dir, config.study)}")
    settings = {name: config[name] for name in ("metric", "selection", "clusterer", "partial", "alpha")}
    chosen = {name: None if config[name] is None else list(config[name]) for name in ("methods", "datasets")}
    try:
        ranking = rank_study(results, summarise(results.trials, results.scores), **chosen, **settings)
    except MissingResults as error:
        lines = fill(error.cells, results.trials, config.study, config.study)
        sys.exit(with_commands(error, lines))
    except ValueError as error:
        sys.exit(f"error: {error}")
    heading = f"Ranks of study {config.study}: {config.metric.upper()}, {config.selection}, {config.clusterer}"
    if config.format == "csv":
        text = ranking.table.rename_axis("method").to_csv()
    else:
        text = to_markdown(ranking, unique_names("method", ranking.table.index), heading, config.alpha)
    if config.output is None:
        print(text, end="")
        return
    path = Path(config.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
