"""The features that methods select, best first, by name: ``python -m scripts.features --help``."""

from collections import Counter

import pandas as pd

from ufs_bench.metrics.study import POOR, RANDOM
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import select
from ufs_bench.runners.store.names import size_to_show
from ufs_bench.runners.words import counted
from ufs_bench.scripts.core.command_lines import MissingResults, fill_pairs, with_commands
from ufs_bench.scripts.core.conf import printed, rows_of, unique_names
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver, listed, split
from ufs_bench.scripts.core.views import WIDTH, render
from ufs_bench.scripts.core.words import by_labels


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

    The data set is by default the only one of the study.  Methods are a name or a list, by default all that have a
    selection of this size, and the size is that of `runners.store.names.size_to_show` among those that most methods
    have.  Parameters are chosen by `selection`, for every size.  Names are missing where the file of the data has none,
    and in shipped studies.
    """
    there = sorted(study.trials["dataset"].unique())
    if dataset is None and len(there) > 1:
        raise ValueError(f"dataset must be given: the study has {', '.join(there)}.")
    dataset, methods = there[0] if dataset is None else dataset, [methods] if isinstance(methods, str) else methods
    stored, sets = rows_of(study.trials, methods, [dataset]), {}
    for method in methods or selecting(stored):
        try:
            sets[method] = selected_features(study, method, dataset, metric, selection)
        except MissingResults:
            if methods is not None:
                raise
    counts = Counter(one for own in sets.values() for one in own)
    if not counts:
        raise MissingResults(f"no method that selects features has a selection on dataset={dataset}: run one.")
    if size is None:
        size = size_to_show([one for one, count in counts.items() if count == max(counts.values())])
    lacking = [f"{method} has {listed(map(str, sorted(own)))}" for method, own in sets.items() if size not in own]
    if (methods is not None and lacking) or size not in counts:
        raise ValueError(f"size={size} is not stored: {'; '.join(lacking)}.")
    names = study.feature_names(dataset)
    rows = [
        (dataset, method, size, rank, int(number), None if names is None else names[number])
        for method, own in sets.items()
        for rank, number in enumerate(own.get(size, []), 1)
    ]
    return pd.DataFrame(rows, columns=["dataset", "method", "n_selected", "rank", "number", "name"])


def selecting(trials):
    """Return the methods of some trials that select features: not the control that keeps all, and not many draws."""
    return [one for one in sorted(trials["method"].unique()) if one not in ("all_features", RANDOM)]


def as_csv(found):
    """Return a table as CSV in which no name is a formula for a spreadsheet: an apostrophe stands before it."""
    names = found.select_dtypes(exclude="number")
    return found.assign(**names.replace(r"^(?=[=+\-@\t\r])", "'", regex=True)).to_csv(index=False)


@command("features")
def main(options):
    """Print the features that methods select, or write them to a file."""
    study = Study.find(options["results_dir"], options["study"]).filled()
    given = [options[name] for name in ("dataset", "methods", "metric", "selection", "size")]
    try:
        found = features_of(study, *given)
    except MissingResults as error:
        raise ValueError(with_commands(error, fill_pairs(error.cells, study, study.own_name))) from error
    is_csv = options["format"] == "csv"
    deliver(as_csv(found) if is_csv else _page(found, study, *given[1:4]), options["output"])


def _page(found, study, asked, metric, selection):
    dataset, size, methods = found["dataset"].iloc[0], int(found["n_selected"].iloc[0]), list(found["method"].unique())
    named = found["name"].notna().all()
    names = found["name"].str.replace(r"\s+", " ", regex=True).str.replace("|", "\\|") if named else found["number"]
    wide = found.assign(shown=names.astype(str)).pivot(index="rank", columns="method", values="shown").fillna("")
    own = of_kmeans(study.summary[(study.summary["dataset"] == dataset) & (study.summary["n_selected"] == size)])
    status = select(own, metric, selection, per_size=True).set_index("method")["status"]
    heads = {method: name + "‡" * (status[method] in POOR) for method, name in unique_names("method", methods).items()}
    ranks, columns = ["rank", *map(str, wide.index)], [[heads[method], *wide[method]] for method in methods]
    parts = split([max(map(len, column)) + 3 for column in columns], max(map(len, ranks)) + 3, WIDTH - 1)
    stored = study.trials[study.trials["dataset"] == dataset]
    return render(
        "features.md.j2",
        dataset=printed("dataset", dataset),
        count=counted(size, "feature"),
        named=named,
        shipped=study.is_shipped,
        poor=sorted(set(status[methods]) & set(POOR)),
        lacking=[] if asked else [method for method in selecting(stored) if method not in methods],
        choice=by_labels(BY_NAME[selection].per_size, metric),
        origin=study.origin(methods),
        blocks=[list(zip(ranks, *columns[part], strict=True)) for part in parts],
    )


if __name__ == "__main__":
    main()
