"""The seconds that the scores of a study took."""

import numpy as np

from ufs_bench.metrics.study.frames import of_kmeans


def with_seconds(chosen, trials, selection):
    """Return the chosen cells that have a score, with the seconds that it took.

    Those are of the one fit, the median, or all fits of the cell; other seeds do not count, as a user fits once.
    """
    chosen = chosen.dropna(subset="mean")
    cells = trials[trials["nth_seed"] == 0].groupby(["dataset", "method"])["fit_s"]
    if selection in ("default_params", "largest_size"):
        seconds = chosen["trial"].map(trials.set_index("trial")["fit_s"])
    else:
        totals = cells.median() if selection == "grid_median" else cells.sum()
        seconds = [totals.get((row.dataset, row.method), np.nan) for row in chosen.itertuples()]
    return chosen.assign(seconds=seconds)


def seconds_of_cells(study):
    """Return the CPU seconds of the fit for the most features, by (dataset, method)."""
    chosen = of_kmeans(study.select("acc", "largest_size"))
    return with_seconds(chosen, study.trials, "largest_size").set_index(["dataset", "method"])["seconds"]
