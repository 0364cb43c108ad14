"""The features that methods select, best first, by name: ``python -m scripts.features --help``."""

import pandas as pd

from metrics.study import RANDOM
from metrics.study.frames import of_kmeans
from metrics.study.selections import BY_NAME
from metrics.study.summary import select
from runners.store.names import size_to_show
from runners.words import counted
from scripts.core.command_lines import MissingResults, fill_pairs, with_commands
from scripts.core.conf import CONF, printed, rows_of, unique_names
from scripts.core.entry import command
from scripts.core.study import Study
from scripts.core.text import deliver
from scripts.core.views import render
from scripts.core.words import POOR, by_labels


def selected_features(study, method, dataset, metric="acc", selection="best_over_grid"):
    """Return the features that a method selects at every size, best first, chosen at every size."""
    if selection == "grid_median":
        raise ValueError("selection=grid_median is no feature set: choose best_over_grid or default_params.")
    summary = study.summary
    cell = of_kmeans(summary[(summary["method"] == method) & (summary["dataset"] == dataset)])
    chosen = select(cell, metric, selection, per_size=True)
    chosen = chosen[["trial", "n_selected", "clusterer"]].dropna()  # without labels there is no mean, but a selection
    rows = study.whole.merge(chosen, on=["trial", "n_selected", "clusterer"])
    sets = {int(size): own for size, own in zip(rows["n_selected"], rows["features"], strict=True) if own is not None}
    if not sets:
        raise MissingResults(
            f"no feature set of method={method} on dataset={dataset} is stored for selection={selection}.",
            [(method, dataset)],
        )
    return sets


def features_of(study, dataset=None, methods=None, metric="acc", selection="default_params", size=None):
    """Return the features that methods select on a data set: method, n_selected, rank (from 1), number (from 0), name.

    The data set is by default the only one of the study, the methods all that select something, and the size that of
    `runners.store.names.size_to_show`.  Parameters are chosen by `selection`, for every size.  Names are missing where
    the file of the data has none, and in shipped studies.
    """
    there = sorted(study.trials["dataset"].unique())
    if dataset is None and len(there) > 1:
        raise ValueError(f"dataset must be given: the study has {', '.join(there)}.")
    dataset = there[0] if dataset is None else dataset
    stored = sorted(rows_of(study.trials, methods, [dataset])["method"].unique())
    methods = methods or [one for one in stored if one not in ("all_features", RANDOM)]
    if not methods:
        raise MissingResults(f"no method that selects features has results on dataset={dataset}: run one.")
    sets = {one: selected_features(study, one, dataset, metric, selection) for one in methods}
    sizes = sorted(set().union(*sets.values()))
    size = size_to_show(sizes) if size is None else size
    if lacking := [method for method, own in sets.items() if size not in own]:
        raise ValueError(f"size={size} is not stored of {', '.join(lacking)}; stored are {', '.join(map(str, sizes))}.")
    names = study.feature_names(dataset)
    rows = [
        (dataset, method, size, rank, int(number), None if names is None else names[number])
        for method, own in sets.items()
        for rank, number in enumerate(own[size], 1)
    ]
    return pd.DataFrame(rows, columns=["dataset", "method", "n_selected", "rank", "number", "name"])


@command("features", CONF / "features", "config")  # in conf/ itself Hydra would take dataset=... for a group
def main(options):
    """Print the features that methods select, or write them to a file."""
    study = Study.open(options["results_dir"], options["study"]).filled()
    given = [options[name] for name in ("dataset", "methods", "metric", "selection", "size")]
    try:
        found = features_of(study, *given)
    except MissingResults as error:
        raise ValueError(with_commands(error, fill_pairs(error.cells, study, study.own_name))) from error
    is_csv = options["format"] == "csv"
    deliver(found.to_csv(index=False) if is_csv else _page(found, study, *given[2:4]), options["output"])


def _page(found, study, metric, selection):
    dataset, size, methods = found["dataset"].iloc[0], int(found["n_selected"].iloc[0]), found["method"].unique()
    named = found["name"].notna().all()
    shown = found.assign(shown=found["name"] if named else found["number"].astype(str))
    wide = shown.pivot(index="rank", columns="method", values="shown")[list(methods)].fillna("")
    own = of_kmeans(study.summary[(study.summary["dataset"] == dataset) & (study.summary["n_selected"] == size)])
    status = select(own, metric, selection, per_size=True).set_index("method")["status"]
    heads = [f"{name}‡" if status[method] in POOR else name for method, name in unique_names("method", methods).items()]
    return render(
        "features.md.j2",
        dataset=printed("dataset", dataset),
        count=counted(size, "feature"),
        named=named,
        poor=sorted(set(status[methods]) & set(POOR)),
        choice=by_labels(BY_NAME[selection].per_size, metric),
        origin=study.origin(methods),
        lines=[["rank", *heads], *([str(rank), *row] for rank, *row in wide.itertuples())],
    )


if __name__ == "__main__":
    main()
