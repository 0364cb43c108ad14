"""``python -m scripts.rank --help``."""

from ufs_bench.runners.messages import did_you_mean, typed
from ufs_bench.scripts.compare import shipped_names
from ufs_bench.scripts.core.command_lines import MissingResults, fill_pairs, with_commands
from ufs_bench.scripts.core.conf import rows_of
from ufs_bench.scripts.core.entry import command, refuse_unused
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver
from ufs_bench.scripts.rank.choice import choose
from ufs_bench.scripts.rank.field import field_of, paired_gains, rank_study
from ufs_bench.scripts.rank.page import choices_text, frame, ranks_page
from ufs_bench.scripts.rank.versus import versus, versus_frame, versus_page

FIELD = "metric selection clusterer methods datasets variants partial".split()
UNUSED = {
    "choices": "method full selection clusterer methods datasets variants partial",
    "method": "selection clusterer methods partial",
}


@command("rank")
def main(options):
    """Print what the options describe, or write it to a file."""
    for one in filter(options.get, UNUSED):
        refuse_unused("rank", options, UNUSED[one], f"{one}={typed(options[one])}")
    names = shipped_names().values() if options["study"] == ["reference"] else options["study"]
    studies = [Study.find(options["results_dir"], name).filled() for name in names]
    if options["choices"]:
        text = choices_text(studies, options["metric"], options["format"])
    elif len(studies) > 1:
        raise ValueError("several studies are compared by choices=true only: name one.")
    else:
        text = (_one_method if options["method"] else _all_methods)(studies[0], options)
    deliver(text, options["output"])


def _all_methods(study, options):
    try:
        field = field_of(study, drop=True, **{name: options[name] for name in FIELD})
    except MissingResults as error:
        raise ValueError(with_commands(error, fill_pairs(error.cells, study, study.own_name))) from error
    ranking, gains = rank_study(field), paired_gains(field)
    if options["format"] == "csv":
        return frame(ranking, gains).to_csv()
    return ranks_page(field, ranking, gains, options["full"])


def _one_method(study, options):
    """Compare a method with all others by its defaults, and where it has several points of a grid by choices of one."""
    name, metric, variants = map(options.get, ("method", "metric", "variants"))
    stored = set(study.trials["method"])
    if name not in stored:
        words = f"study={study.own_name} has no method={name!r}.{did_you_mean(name, stored)}"
        pairs = [(name, dataset) for dataset in sorted(study.trials["dataset"].unique())]
        raise ValueError(with_commands(words, fill_pairs(pairs, study, study.own_name)))
    own = rows_of(study.trials, [name], options["datasets"])
    others = study.part(stored - {name}, own["dataset"].unique())
    if others.frame.empty:
        raise ValueError(f"study={study.own_name} has no other method on the data sets of {name}.")
    datasets = choose(others, datasets=options["datasets"], variants=variants).datasets
    has_grid = own.groupby("dataset")["params"].nunique().max() > 1
    selections = ["largest_size", "default_params", *(["silhouette_all", "best_over_grid"] if has_grid else [])]
    found = [versus(others, study, name, datasets, one, metric, variants) for one in selections]
    if options["format"] == "csv":
        return versus_frame(found).to_csv()
    return versus_page(found, study, metric, options["full"])


if __name__ == "__main__":
    main()
