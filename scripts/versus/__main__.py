"""``python -m scripts.versus --help``."""

import sys
from pathlib import Path

from ufs_bench.metrics.study import METRICS
from ufs_bench.scripts.core.conf import printed
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.given import known
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver
from ufs_bench.scripts.versus import versus
from ufs_bench.scripts.versus.runs import data_sets, divided, label_of, most_points, run, seconds_page, split_by_data
from ufs_bench.scripts.versus.versus_page import frame, versus_page

OF_DEFAULTS = ("largest_size", "default_params")
OF_GRIDS = ("silhouette_all", "best_over_grid")
NO_GRID = "points={points}: what is chosen from a grid is not shown, as the defaults alone are no choice."


def main():
    """Run the method that the command line names, and print how it stands beside all others."""
    handed, sys.argv[1:] = divided(sys.argv[1:])
    command("versus")(lambda options: _answer(options, handed))()


def _answer(options, handed):
    label = label_of(options["method"], handed)
    if not any(word.startswith(("--config-dir", "-cd")) or "method.target=" in word for word in handed):
        known("method", label)  # before long work
    study = Study.find(options["results_dir"], options["study"], options["data_dir"]).filled()
    datasets, said = data_sets(study, options["datasets"], options["data_dir"])
    options = {**options, "points": options["points"] or most_points(study, datasets)}
    print(seconds_page(study, datasets, options["points"]), file=sys.stderr, flush=True)
    mine, name = run(study, label, handed, datasets, options)
    datasets, others = split_by_data(study, mine, datasets)
    said += [f"Left out, as the data here are not those of the study: {', '.join(others)}."] if others else []
    alone = options["points"] in ("default", 1)
    said += [NO_GRID.format(**options)] if alone else []
    chosen = OF_DEFAULTS + (() if alone else OF_GRIDS)
    settings = [options[option] for option in ("metric", "variants", "rope")]
    found = [versus(study, mine, name, datasets, selection, *settings) for selection in chosen]
    _show(found, study, options, said)


def _show(found, study, options, said):
    is_csv, settings = options["format"] == "csv", [options[option] for option in ("metric", "rope")]
    text = frame(found).to_csv() if is_csv else versus_page(found, study, *settings, said, options["full"])
    deliver(text, options["output"])
    if options["figure"]:
        _draw(found, study, options)


def _draw(found, study, options):
    from ufs_bench.scripts.make_figure import save  # here, as Matplotlib takes a second
    from ufs_bench.scripts.versus.forest import forest

    first = found[0]
    title = f"Gain in {METRICS[options['metric']]} of {first.name} over each other, in points"
    where = ", ".join(printed("dataset", name) for name in first.scores.index)
    note = "Mean and 95 % interval on other data sets of other families; green, red: it leaves 0; hollow: too few data "
    note += f"sets for one. Below the line: controls. On {where}.\n"
    note += study.origin(set().union(*(one.scores for one in found)))
    for file in save(forest(found, title, note), Path(options["figure"]), svg=True):
        print(file, file=sys.stderr)


if __name__ == "__main__":
    main()
