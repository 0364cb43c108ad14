"""``python -m scripts.ranks --help``."""

from metrics.study import METRICS
from scripts.core.command_lines import MissingResults, fill_pairs, no_results, with_commands
from scripts.core.conf import unique_names
from scripts.core.entry import command
from scripts.core.study import Study
from scripts.core.text import deliver
from scripts.ranks import rank_study
from scripts.ranks.page import ranks_page


@command("ranks")
def main(options):
    """Print the ranks that the options describe, or write them to a file."""
    study = Study.open(options["results_dir"], options["study"])
    if study.trials.empty:
        raise ValueError(no_results(study))
    names = "metric selection clusterer methods datasets partial alpha".split()
    try:
        ranking = rank_study(study, **{name: options[name] for name in names})
    except MissingResults as error:
        raise ValueError(with_commands(error, fill_pairs(error.cells, study, study.name))) from error
    if options["format"] == "csv":
        text = ranking.table.rename_axis("method").to_csv()
    else:
        heading = f"{METRICS[options['metric']]}, {options['selection']}, {options['clusterer']}"
        printed = unique_names("method", ranking.table.index)
        text = ranks_page(ranking, printed, f"Ranks of study {study.name}: {heading}", options["alpha"])
    deliver(text, options["output"])


if __name__ == "__main__":
    main()
