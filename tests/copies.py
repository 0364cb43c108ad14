"""Copies of the papers' tables, and studies that have nothing to do with them, for tests of the five lines."""

import functools

import numpy as np

from ufs_bench.scripts.compare import compare_studies, open_studies, shipped_names
from ufs_bench.scripts.compare.columns import AGREES, equivalence, orders_of
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
    return {name: float((p_values(found[name]) <= LEVEL).mean()) for name in LINES}


def ceiling(columns):
    """Return the share of the cells in which a perfect copy agrees."""
    margin = np.abs(columns.published - columns.published_all[:, None]) / 2
    known = np.isfinite(columns.published)
    return float((equivalence(0.0, columns.error, margin) == AGREES)[known].mean())
