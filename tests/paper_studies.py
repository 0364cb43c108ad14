"""Studies of a paper with its published values, with noise, or with random rankings in the place of its methods."""

import numpy as np
import pandas as pd
from frames import PROTOCOL, study_of

from ufs_bench.metrics.study import RANDOM
from ufs_bench.scripts.core.papers import FOLDER, load_published

RESTARTS, DRAWS = 20, 20
RUFS = {**PROTOCOL, "name": "rufs", "restarts": RESTARTS}
DGUFS = {**RUFS, "name": "dgufs"}


def runs(mean, std):
    """Return restarts, as fractions, with exactly this mean and std in percent."""
    values = np.tile([1.0, -1.0], RESTARTS // 2)
    return ((mean + np.nan_to_num(std) * values / values.std(ddof=1)) / 100).tolist()


def point(dataset, method, acc, nmi, std=2.0, **more):
    return {"dataset": dataset, "method": method, "acc": {50: runs(acc, std)}, "nmi": {50: runs(nmi, std)}, **more}


def published_pixels():
    """Return the data set whose selected pixels the DGUFS paper shows, and these by their number; sets are nested."""
    rows = pd.read_csv(FOLDER / "published_pixels.csv")
    sizes = rows["n_selected"].unique()
    return rows["dataset"].iloc[0], {size: rows.loc[rows["n_selected"] <= size, "feature"].to_numpy() for size in sizes}


def published(paper):
    """Return the means of ACC and NMI by data set and method."""
    cells = load_published().query("paper == @paper")
    return cells.pivot(index=["dataset", "method"], columns="metric", values="mean_percent")


def a_random_ranking(cells, dataset, rng):
    """Return scores about as good as those of all features."""
    return cells.loc[dataset, "all_features"].to_numpy() - 1 + 2 * rng.normal(size=2)


def study(paper, kind, seed=0, more=()):
    """Make a study of a paper with its controls and `more` points; `kind` gives the scores of every method."""
    rng, cells = np.random.default_rng(seed), published(paper)
    points = list(more)
    for dataset, method in cells.index:
        acc, nmi = cells.loc[dataset, method] if method == "all_features" else kind(cells, dataset, method, rng)
        points.append(point(dataset, method, acc, nmi))
    for dataset in cells.index.unique("dataset"):
        for draw in range(DRAWS):
            acc, nmi = a_random_ranking(cells, dataset, rng)
            points.append(point(dataset, RANDOM, acc, nmi, params={"draw": draw}, is_default=draw == 0))
        if "max_variance" not in cells.loc[dataset].index:
            points.append(point(dataset, "max_variance", *a_random_ranking(cells, dataset, rng)))
    return study_of(points, paper, {**RUFS, "name": paper})


def reproduction(cells, dataset, method, rng):
    return cells.loc[dataset, method].to_numpy() + 2 / np.sqrt(RESTARTS) * rng.normal(size=2)


def random_rankings(cells, dataset, method, rng):
    return a_random_ranking(cells, dataset, rng)
