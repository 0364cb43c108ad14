"""Copies of the papers' tables, and studies that have nothing to do with them, for tests of the five lines."""

import functools
from typing import NamedTuple

import numpy as np

from ufs_bench.metrics.study import POOR
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare import compare_studies, open_studies, shipped_names
from ufs_bench.scripts.compare.columns import equivalence, orders_of
from ufs_bench.scripts.compare.evidence import LEVEL, LINES, N_COPIES, N_ORDERS_OF_COPIES, p_values, values
from ufs_bench.scripts.compare.headline import weighed
from ufs_bench.scripts.core.conf import find

QUALITY = 3.0  # points, std of the quality of methods unrelated to the paper; their noise has a std of 1


@functools.cache
def _weighed():
    """Return the cells that the lines of docs/reproduction.md weigh, by paper."""
    return weighed(compare_studies(open_studies(None, shipped_names())))


def perfect_cells(paper):
    """Return the cells that the lines of a paper weigh, with the published values in the place of ours."""
    cells, restarts = _weighed()[paper], find("protocol", paper)["restarts"]
    return cells.assign(
        mean=cells["published_mean"], std=cells["published_std"], n_restarts=restarts, published_n=restarts,
        all_mean=cells["published_all"], seed_std=np.nan, group_error=np.nan,
    )  # fmt: skip


def false_passes(columns, n_studies=N_COPIES):
    """Estimate, by line, how often studies whose methods have a quality unrelated to the paper's have p <= `LEVEL`."""
    rng = np.random.default_rng(0)
    quality = QUALITY * rng.normal(size=(n_studies, 1, len(columns.methods)))
    ours = columns.published_all[:, None] + quality + rng.normal(size=(n_studies, *columns.published.shape))
    found = values(columns, ours, orders_of(len(columns.methods), N_ORDERS_OF_COPIES))
    return dict(zip(LINES, (p_values(found) <= LEVEL).mean(axis=1), strict=True))


def ceiling(columns):
    """Return the share of the cells in which a perfect copy agrees."""
    margin = np.abs(columns.published - columns.published_all[:, None]) / 2
    known = np.isfinite(columns.published)
    agrees, _ = equivalence(0.0, columns.error, margin)
    return float(agrees[known].mean())


class Noise(NamedTuple):
    """The differences between our solvers and the authors' programs, by K-means, but for fits that learned nothing."""

    points: float  # the root mean square difference
    error: float  # its standard error over data sets, by leaving out one at a time
    pairs: int  # the number of cells
    together: float  # the correlation of the differences in ACC with those in NMI


def program_noise(comparison):
    """Return how our solvers differ from the authors' programs, on the cells of a comparison."""
    kmeans = of_kmeans(comparison[comparison["mean"].notna() & ~comparison["trial_status"].isin(POOR)])
    keys = ["paper", "dataset", "metric", "method"]
    programs = kmeans[kmeans["method"].str.endswith("_released")]
    programs = programs.assign(method=programs["method"].str.removesuffix("_released"))
    pairs = kmeans[[*keys, "mean"]].merge(programs[[*keys, "mean"]], on=keys, suffixes=("", "_released"))
    pairs["gap"] = pairs["mean"] - pairs["mean_released"]
    both = pairs.pivot_table(index=["paper", "dataset", "method"], columns="metric", values="gap")
    squares = (pairs["gap"] ** 2).groupby(pairs["dataset"]).agg(["sum", "size"])
    without = np.sqrt((squares["sum"].sum() - squares["sum"]) / (len(pairs) - squares["size"]))
    # The cells of one data set go together: two scores of one fit, and one fit in the tables of two papers.
    error = np.sqrt((len(squares) - 1) * without.var(ddof=0))
    points = np.sqrt((pairs["gap"] ** 2).mean())
    return Noise(float(points), float(error), len(pairs), float(both["acc"].corr(both["nmi"])))
