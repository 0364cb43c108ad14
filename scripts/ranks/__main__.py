"""``python -m scripts.ranks --help``."""

from ufs_bench.scripts.core.command_lines import MissingResults, fill_pairs, with_commands
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver
from ufs_bench.scripts.ranks import rank_study
from ufs_bench.scripts.ranks.field import field_of
from ufs_bench.scripts.ranks.gains import paired_gains
from ufs_bench.scripts.ranks.ranks_page import frame, ranks_page

FIELD = "metric selection clusterer methods datasets variants partial".split()


@command("ranks")
def main(options):
    """Print the gains and ranks that the options describe, or write them to a file."""
    study = Study.find(options["results_dir"], options["study"]).filled()
    try:
        field = field_of(study, **{name: options[name] for name in FIELD})
    except MissingResults as error:
        raise ValueError(with_commands(error, fill_pairs(error.cells, study, study.own_name))) from error
    ranking = rank_study(field)
    gains = paired_gains(field, options["rope"])
    if options["format"] == "csv":
        text = frame(ranking, gains).to_csv()
    else:
        text = ranks_page(field, ranking, gains, options["rope"], options["full"])
    deliver(text, options["output"])


if __name__ == "__main__":
    main()
