"""The evidence of a comparison with a paper: five lines that can fail, each with its test and its power.

Whether a number is near the published one says little where all methods of a table are near each other.  So each line
asks whether our row of a method fits the published row of *that* method better than it fits the other rows of the same
column.  Under the null hypothesis our methods could be matched with the published ones in any order, the same on all
data sets: methods keep their quality from one data set to the next, and an order drawn for each data set apart would
take that for agreement.  If an honest copy of the paper would fail a line as well, the line is not evidence against
it.  Two honest programs of one method differ by more than K-means does, so copies have the noise by which our solvers
and the authors' programs differ (`HONEST`).
"""

from typing import NamedTuple

import numpy as np

from ufs_bench.scripts.compare.columns import cell_fits, columns_of, concordance, orders_of, under
from ufs_bench.scripts.core.text import number

LINES = {
    "distance": "mean distance to the published value, in points",
    "order": "rank correlation with the published column (Kendall's tau-b, over all pairs of one column)",
    "nearest": "share of cells whose nearest published row is the row of their own method",
    "sign": "share of cells above or below all features, as published",
    "equivalence": "cells that agree less those that differ, as a share",
}
SIGNS = np.array([-1.0, 1.0, 1.0, 1.0, 1.0])  # of the lines: a smaller distance is better
REPRODUCED, NOT_REPRODUCED, CANNOT_TELL = "reproduced", "not reproduced", "cannot tell"
LEVEL = 0.01  # of a line's test: with five papers and five lines, a false "reproduced" in one of four whole comparisons
AS_BAD = 0.05  # share of honest copies that may be called "not reproduced"
N_COPIES = 1000
N_FITS = 20_000  # copies where `N_COPIES` leave a verdict open: at `AS_BAD` their share has an error of .0015
# Points of noise of an honest copy, added to the error of each cell: the root mean square difference of our solvers and
# the authors' programs in the shipped studies, 2.4, and its error, 0.4, rounded up to a tenth (tests/copies.py).
HONEST = 2.8
TOGETHER = 0.66  # correlation of the noise of ACC and NMI in a copy, as between programs
# All orders of eight methods, the most that a paper has: a p near `LEVEL` would rest on which of them were drawn.  That
# of a copy needs no third digit.
N_ORDERS, N_ORDERS_OF_COPIES = 40_320, 1999
AT_ONCE = 200  # copies
N_RESAMPLES = 2000
INTERVAL = 0.95
LEAST_DATASETS = 3  # for an interval; of two a resample is one of them, or both


class Line(NamedTuple):
    """One line of a paper."""

    value: float  # value of our rows, each compared with the published row of its method
    by_chance: float  # mean over the orders
    p: float  # share of the orders, the study's own among them, that are at least as good
    power: float  # share of the copies with p <= `LEVEL`
    as_bad: float  # share of the copies that fit no better than ours
    # "reproduced" if p <= `LEVEL`; else "not reproduced" if as_bad plus two errors of it is <= `AS_BAD`; else
    # "cannot tell"
    verdict: str


def lines(cells, with_power=True):
    """Return the five lines of one paper, by the keys of `LINES`; cells as for `scripts.compare.columns.columns_of`.

    Power, on which no verdict rests, takes longest; it is nan where it is not asked for.
    """
    if cells.empty:
        return dict.fromkeys(LINES, Line(*[np.nan] * 5, CANNOT_TELL))
    columns = columns_of(cells)
    found = values(columns, columns.ours[None], orders_of(len(columns.methods), N_ORDERS))[:, 0]
    noise = np.hypot(columns.error, HONEST)
    power = passes(columns, noise, N_COPIES).mean(axis=1) if with_power else [np.nan] * len(LINES)
    p = p_values(found)
    as_bad, n_copies = _as_bad(columns, noise, found[:, :1], p)
    by_chance = [float(np.nanmean(own)) if np.isfinite(own[0]) else np.nan for own in found]
    rows = zip(LINES, SIGNS * found[:, 0], SIGNS * by_chance, p, power, as_bad, strict=True)
    return {name: _line(*map(float, row), n_copies) for name, *row in rows}


def _line(value, by_chance, p, power, as_bad, n_copies):
    if np.isnan(value):
        return Line(*[np.nan] * 5, CANNOT_TELL)
    verdict = REPRODUCED if p <= LEVEL else NOT_REPRODUCED if is_rare(as_bad, n_copies) else CANNOT_TELL
    return Line(value, by_chance, p, power, as_bad, verdict)


def _as_bad(columns, noise, own, p):
    """Return the share of copies that fit no better than a study with these lines, and of how many it is the share."""
    order = np.arange(len(columns.methods))[None]

    def share(n_copies):
        found = [copies[..., 0] <= own + 1e-9 for copies in of_copies(columns, noise, n_copies, order)]
        return np.concatenate(found, axis=1).mean(axis=1)

    shares = share(N_COPIES)
    is_open = (p > LEVEL) & (shares > AS_BAD / 2) & (shares < 2 * AS_BAD)
    return (share(N_FITS), N_FITS) if is_open.any() else (shares, N_COPIES)


def line_values(cells):
    """Return the values of the five lines, without their tests."""
    if cells.empty:
        return dict.fromkeys(LINES, np.nan)
    columns = columns_of(cells)
    found = values(columns, columns.ours[None], np.arange(len(columns.methods))[None])
    return dict(zip(LINES, map(float, SIGNS * found[:, 0, 0]), strict=True))


def values(columns, ours, orders):
    """Return the five lines of several studies under every order, their own first; larger is better.

    `ours` has shape (n_studies, n_columns, n_methods), and the result (n_lines, n_studies, n_orders), with nan for an
    order that leaves no pair.
    """
    fits = cell_fits(columns, ours)
    total = np.stack([np.moveaxis(fit.sum(axis=0), -1, 0) for fit, _ in fits.values()])
    count = np.stack([counted.sum(axis=0) for _, counted in fits.values()])[:, None]
    found = dict(zip(fits, under(orders, total, count), strict=True)) | {"order": concordance(columns, ours, orders)}
    return np.stack([found[name] for name in LINES])


def p_values(found):
    """Return the share of the orders, the last axis, at least as good as the first; nan where that has no value."""
    own, known = found[..., :1], np.isfinite(found)
    as_good = np.count_nonzero(known & (found >= own - 1e-9), axis=-1)
    return np.where(known[..., 0], as_good / np.maximum(known.sum(axis=-1), 1), np.nan)


def passes(columns, noise, n_copies, seed=0):
    """Tell which lines are passed by copies of a paper: booleans, of shape (n_lines, n_copies)."""
    orders = orders_of(len(columns.methods), N_ORDERS_OF_COPIES, seed)
    found = [p_values(copies) <= LEVEL for copies in of_copies(columns, noise, n_copies, orders, seed)]
    return np.concatenate(found, axis=1)


def of_copies(columns, noise, n_copies, orders, seed=0):
    """Yield the `values` of copies of a paper, some at once: its published values with normal noise.

    `noise` is its std in points, one or of shape (n_columns, n_methods); the noise of ACC and NMI of a method on one
    data set is correlated by `TOGETHER`.  Copies of one seed have the same noise up to its size.  All features have
    the paper's own score, as a copy of the paper has its data.
    """
    rng, shape = np.random.default_rng(seed), columns.published.shape
    columns = columns._replace(all_mean=columns.published_all)
    for first in range(0, n_copies, AT_ONCE):
        n = min(AT_ONCE, n_copies - first)
        common = rng.normal(size=(n, columns.datasets.max() + 1, shape[-1]))[:, columns.datasets]
        both = np.sqrt(TOGETHER) * common + np.sqrt(1 - TOGETHER) * rng.normal(size=(n, *shape))
        yield values(columns, columns.published + noise * both, orders)


def effect(columns):
    """Measure how near our rows are to the published ones, and how much nearer than by chance.

    Returns the mean distance in points, and 1 less its ratio to the distance by chance: 1 where ours are the published
    values, 0 where they are no nearer to their own rows than to the others.  Each is (value, low, high), with an
    interval by percentiles over resamples of the data sets; with few of them it is too narrow.
    """
    of = np.eye(columns.datasets.max() + 1)[columns.datasets]
    fit, counted = cell_fits(columns, columns.ours[None])["distance"]
    total, count = (np.einsum("cij,cd->dij", own, of) for own in (fit[..., 0], counted))
    times = resamples(len(count))
    total, count = (np.einsum("rd,dij->rij", times, own) for own in (total, count))
    found = -under(orders_of(len(columns.methods), N_ORDERS_OF_COPIES), total, count)
    distance = found[:, 0]
    return with_ends(distance), with_ends(1 - distance / np.nanmean(found, axis=1))


def resamples(n_datasets):
    """Return how often each data set is in a resample of them, a row each, the data sets as they are first."""
    times = np.random.default_rng(0).multinomial(n_datasets, np.full(n_datasets, 1 / n_datasets), size=N_RESAMPLES)
    return np.vstack([np.ones(n_datasets, dtype=int), times])


def with_ends(values):
    """Return a value of the data sets as they are, and the two ends of its interval, from values of `resamples`."""
    tail = (1 - INTERVAL) / 2
    return tuple(map(float, (values[0], *np.quantile(values[1:], [tail, 1 - tail]))))


def in_interval(n_datasets, value, low, high, decimals):
    """Return a number with its interval over data sets as a text; without it where these are few."""
    texts = [number(one, decimals) for one in (value, low, high)]
    return texts[0] if n_datasets < LEAST_DATASETS else "{} ({} to {})".format(*texts)


def is_rare(as_bad, n_copies=N_FITS):
    """Return True where so few copies fit as badly that it does not matter which were drawn."""
    return as_bad + 2 * np.sqrt(as_bad * (1 - as_bad) / n_copies) <= AS_BAD
