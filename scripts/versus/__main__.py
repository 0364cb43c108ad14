"""``python -m scripts.versus --help``."""

import sys
from pathlib import Path

from metrics.study import METRICS
from scripts.core.conf import printed
from scripts.core.entry import command
from scripts.core.given import known
from scripts.core.study import Study
from scripts.core.text import deliver
from scripts.versus import versus
from scripts.versus.runs import data_sets, divided, label_of, most_points, run, seconds_page, split_by_data

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
    # Imported here, as Matplotlib takes a second, and not all formats need it.
    from scripts.make_figure import save
    from scripts.versus.forest import drawn, forest
    from scripts.versus.versus_page import frame, page_of, written

    first, page = found[0], page_of(found, study, options["metric"], options["rope"], said)
    title = f"Gain in {METRICS[options['metric']]} of {first.name} over each other, in points"
    where = ", ".join(printed("dataset", name) for name in first.scores.index)
    note = "Mean and 95 % interval on other data sets of other families; green, red: it leaves 0; hollow: too few data "
    note += f"sets for one. Below the line: controls. On {where}.\n"
    note += study.origin(set().union(*(one.scores for one in found)))
    figure = forest(found, title, note) if options["figure"] or options["format"] == "html" else None
    form = options["format"]
    drawing = drawn(figure) if form == "html" else ""
    deliver(frame(found).to_csv() if form == "csv" else written(page, form, drawing), options["output"])
    if options["figure"]:
        for file in save(figure, Path(options["figure"]), svg=True):
            print(file, file=sys.stderr)


if __name__ == "__main__":
    main()
