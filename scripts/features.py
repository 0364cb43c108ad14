"""The features that methods select, best first, by name: ``python -m scripts.features --help``."""

from collections import Counter

import pandas as pd

from ufs_bench.metrics.study import POOR, RANDOM
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import select
from ufs_bench.runners.messages import counted
from ufs_bench.runners.store.files import size_to_show
from ufs_bench.scripts.core.command_lines import MissingResults, fill_pairs, with_commands
from ufs_bench.scripts.core.conf import printed, rows_of, unique_names
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import by_labels, deliver, listed, pipes, wrapped

NOT_SELECTING = ("all_features", RANDOM)  # the control that keeps all, and many draws


def selected_features(study, method, dataset, metric="acc", selection="best_over_grid"):
    """Return the features that a method selects at every size, best first, chosen at every size."""
    if selection == "grid_median":
        raise ValueError("selection=grid_median is not a feature set: choose best_over_grid or default_params.")
    summary = study.summary
    cell = of_kmeans(summary[(summary["method"] == method) & (summary["dataset"] == dataset)])
    chosen = select(cell, metric, selection, per_size=True)
    chosen = chosen[["trial", "n_selected", "clusterer"]].dropna()  # data without labels have a selection, but no mean
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
    selection of this size, and the size is that of `runners.store.files.size_to_show` among those that most methods
    have.  Parameters are chosen by `selection`, for every size.  Names are missing where the file of the data has none,
    and in shipped studies.
    """
    there = sorted(study.trials["dataset"].unique())
    if dataset is None and len(there) > 1:
        raise ValueError(f"dataset must be given: the study has {', '.join(there)}.")
    dataset, methods = there[0] if dataset is None else dataset, [methods] if isinstance(methods, str) else methods
    stored, sets = rows_of(study.trials, methods, [dataset]), {}
    for method in methods or sorted(set(stored["method"]).difference(NOT_SELECTING)):
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


def features_page(found, study, metric, selection):
    """Return the table of `features_of` as a page of Markdown, with a column for each method."""
    dataset, size, methods = found["dataset"].iloc[0], int(found["n_selected"].iloc[0]), list(found["method"].unique())
    named = found["name"].notna().all()
    shown = found["name"].str.replace(r"\s+", " ", regex=True).str.replace("|", "\\|") if named else found["number"]
    wide = found.assign(shown=shown.astype(str)).pivot(index="rank", columns="method", values="shown").fillna("")
    own = of_kmeans(study.summary[(study.summary["dataset"] == dataset) & (study.summary["n_selected"] == size)])
    poor = select(own, metric, selection, per_size=True).set_index("method")["status"].loc[methods].isin(POOR)
    heads = {method: name + "‡" * bool(poor[method]) for method, name in unique_names("method", methods).items()}
    lines = [["rank", *heads.values()], *([str(rank), *row] for rank, row in wide[methods].T.items())]
    there = study.trials.loc[study.trials["dataset"] == dataset, "method"].unique()
    notes = [f"{by_labels(BY_NAME[selection].per_size, metric)}."]
    notes += ["‡: the fit learned nothing, and its order means nothing."] if poor.any() else []
    if others := sorted(set(there).difference(methods, NOT_SELECTING)):
        notes.append(f"Not shown: {', '.join(others)}.")
    notes += [] if named else ["Features are numbered from 0, as no names are stored."]
    title = f"# {printed('dataset', dataset)}: the {counted(size, 'feature')} that methods select, best first"
    return f"{title}\n\n{pipes(lines)}\n\n{wrapped(' '.join([*notes, study.origin(methods)]))}\n"


@command("features")
def main(options):
    """Print the features that methods select, or write them to a file."""
    study = Study.find(options["results_dir"], options["study"]).filled()
    dataset, methods, metric, selection, size = map(options.get, "dataset methods metric selection size".split())
    try:
        found = features_of(study, dataset, methods, metric, selection, size)
    except MissingResults as error:
        raise ValueError(with_commands(error, fill_pairs(error.cells, study, study.own_name))) from error
    is_csv = options["format"] == "csv"
    deliver(found.to_csv(index=False) if is_csv else features_page(found, study, metric, selection), options["output"])


if __name__ == "__main__":
    main()
