"""The evidence of a comparison with a paper: five lines that can fail, each with its test and its power.

Whether a number is near the published one says little where all methods of a table are near each other.  So each line
asks whether our row of a method fits the published row of *that* method better than it fits the other rows of the same
column.  Under the null hypothesis our methods could be matched with the published ones in any order, the same on all
data sets: methods keep their quality from one data set to the next, and an order drawn for each data set apart would
take that for agreement.  A line that an honest copy of the paper would fail as well is no evidence against it.  Two
honest programs of one method differ by more than K-means does, so copies have the noise by which our solvers and the
authors' programs differ (`HONEST`).
"""

from typing import NamedTuple

import numpy as np

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare.columns import cell_fits, columns_of, concordance, orders_of, under
from ufs_bench.scripts.compare.verdicts import is_hollow
from ufs_bench.scripts.core.text import number

LINES = {
    "distance": "mean distance to the published value, in points",
    "order": "rank correlation with the published column (Kendall's tau-b, over all pairs of one column)",
    "nearest": "share of cells whose nearest published row is that of their own method",
    "sign": "share of cells above or below all features, as published",
    "equivalence": "cells that agree less those that differ, as a share",
}
SMALLER_IS_BETTER = ("distance",)
REPRODUCED, NOT_REPRODUCED, CANNOT_TELL = "reproduced", "not reproduced", "cannot tell"
LEVEL = 0.01  # of a line's test: with five papers and five lines, a false "reproduced" in one of four whole comparisons
AS_BAD = 0.05  # share of honest copies that may be called "not reproduced"
N_COPIES = 1000
N_FITS = 20_000  # copies where `N_COPIES` leave a verdict open: at `AS_BAD` their share has an error of .0015
# Points of noise of an honest copy besides the error of each cell: `program_noise` of the shipped studies, 2.4, and its
# error, 0.4, rounded up to a tenth, so that no verdict rests on the data that the programs were run on.
HONEST = 2.8
TOGETHER = 0.66  # how far the noise of ACC and that of NMI go together in a copy: their correlation between programs
# All orders of eight methods, the most that a paper has: a p near `LEVEL` would rest on which of them were drawn.  That
# of a copy needs no third digit.
N_ORDERS, N_ORDERS_OF_COPIES = 40_320, 1999
SOME = 200  # copies at a time
N_RESAMPLES = 2000
INTERVAL = 0.95
FEW = 3  # data sets; of two a resample is one of them, or both


class Line(NamedTuple):
    """One line of a paper."""

    value: float  # value of our rows, each compared with the published row of its method
    by_chance: float  # mean over the orders
    p: float  # share of the orders, the study's own among them, that are at least as good
    power: float  # share of the copies with p <= `LEVEL`
    as_bad: float  # share of the copies that fit no better than ours
    # "reproduced" where p <= `LEVEL`; "not reproduced" where as_bad, and two errors of it, are <= `AS_BAD` besides
    # p > `LEVEL`; else "cannot tell"
    verdict: str


class Effect(NamedTuple):
    """The distance of our rows from the published ones: two numbers, each with its interval over data sets."""

    # distance, distance_low, distance_high: mean distance to the published value, in points
    distance: float
    distance_low: float
    distance_high: float
    # gain, gain_low, gain_high: 1 less the ratio of the distance to that by chance: 1 where ours are the published
    # values, 0 where they are no nearer to their own rows than to the others
    gain: float
    gain_low: float
    gain_high: float


class Noise(NamedTuple):
    """The differences between our solvers and the authors' programs, by K-means, hollow cells aside."""

    points: float  # the root mean square difference
    error: float  # its standard error over data sets, by leaving out one at a time
    pairs: int  # the number of cells
    together: float  # the correlation of the differences in ACC with those in NMI


def program_noise(comparison):
    """Return how our solvers differ from the authors' programs, on the cells of a comparison."""
    kmeans = of_kmeans(comparison[comparison["mean"].notna() & ~is_hollow(comparison)])
    keys = ["paper", "dataset", "metric", "method"]
    programs = kmeans[kmeans["method"].str.endswith("_released")]
    programs = programs.assign(method=programs["method"].str.removesuffix("_released"))
    pairs = kmeans[[*keys, "mean"]].merge(programs[[*keys, "mean"]], on=keys, suffixes=("", "_released"))
    pairs["gap"] = pairs["mean"] - pairs["mean_released"]
    both = pairs.pivot_table(index=["paper", "dataset", "method"], columns="metric", values="gap")
    together = both["acc"].corr(both["nmi"]) if {"acc", "nmi"} <= set(both) else np.nan
    squares = (pairs["gap"] ** 2).groupby(pairs["dataset"]).agg(["sum", "size"])
    without = np.sqrt((squares["sum"].sum() - squares["sum"]) / (len(pairs) - squares["size"]))
    # The cells of one data set go together: two scores of one fit, and one fit in the tables of two papers.
    error = np.sqrt((len(squares) - 1) * without.var(ddof=0)) if len(squares) > 1 else np.nan
    return Noise(float(np.sqrt((pairs["gap"] ** 2).mean())), float(error), len(pairs), float(together))


def lines(cells, with_power=True):
    """Return the five lines of one paper, by the keys of `LINES`; cells as for `scripts.compare.columns.columns_of`.

    Power, on which no verdict rests, takes longest; it is nan where it is not asked for.
    """
    if cells.empty:
        return dict.fromkeys(LINES, Line(*[np.nan] * 5, CANNOT_TELL))
    columns = columns_of(cells)
    found = values(columns, columns.ours[None], orders_of(len(columns.methods), N_ORDERS))
    noise = np.hypot(columns.error, HONEST)
    power = passes(columns, noise, N_COPIES).mean(axis=0) if with_power else [np.nan] * len(LINES)
    own = np.array([found[name][0, 0] for name in LINES])
    p = np.array([p_values(found[name])[0] for name in LINES])
    as_bad, n_copies = _as_bad(columns, noise, own, p)
    return {name: _line(name, found[name][0], *of, n_copies) for name, *of in zip(LINES, p, power, as_bad, strict=True)}


def _as_bad(columns, noise, own, p):
    """Return the share of copies that fit no better than a study with these lines, and of how many it is the share."""
    shares = (fits(columns, noise, N_COPIES) <= own + 1e-9).mean(axis=0)
    open_ones = (p > LEVEL) & (shares > AS_BAD / 2) & (shares < 2 * AS_BAD)
    if not open_ones.any():
        return shares, N_COPIES
    return (fits(columns, noise, N_FITS) <= own + 1e-9).mean(axis=0), N_FITS


def line_values(cells):
    """Return the values of the five lines, without their tests."""
    if cells.empty:
        return dict.fromkeys(LINES, np.nan)
    columns = columns_of(cells)
    own = np.arange(len(columns.methods))[None]
    return {name: _sign(name) * float(found[0, 0]) for name, found in values(columns, columns.ours[None], own).items()}


def values(columns, ours, orders):
    """Return the five lines of several studies under every order, that of the studies first; larger is better.

    `ours` has shape (n_studies, n_columns, n_methods), and each line (n_studies, n_orders), with nan for an order that
    leaves no pair.
    """
    fits = cell_fits(columns, ours)
    total = np.stack([np.moveaxis(fit.sum(axis=0), -1, 0) for fit, _ in fits.values()])
    count = np.stack([counted.sum(axis=0) for _, counted in fits.values()])[:, None]
    found = dict(zip(fits, under(orders, total, count), strict=True)) | {"order": concordance(columns, ours, orders)}
    return {name: found[name] for name in LINES}


def p_values(found):
    """Return, by row, the share of the orders that are at least as good as the first; nan where that has no value."""
    own, known = found[:, :1], np.isfinite(found)
    as_good = np.count_nonzero(known & (found >= own - 1e-9), axis=1)
    return np.where(known[:, 0], as_good / np.maximum(known.sum(axis=1), 1), np.nan)


def passes(columns, noise, n_copies, seed=0):
    """Tell which lines are passed by copies of a paper, as `_copies` makes them: booleans, (n_copies, n_lines)."""
    orders = orders_of(len(columns.methods), N_ORDERS_OF_COPIES, seed)
    found = [values(own, copies, orders) for own, copies in _copies(columns, noise, n_copies, seed)]
    p = [np.column_stack([p_values(some[name]) for name in LINES]) for some in found]
    return np.concatenate(p) <= LEVEL


def fits(columns, noise, n_copies, seed=0):
    """Return how well copies of a paper fit, as `_copies` makes them: (n_copies, n_lines), larger being better."""
    order = np.arange(len(columns.methods))[None]
    found = [values(own, copies, order) for own, copies in _copies(columns, noise, n_copies, seed)]
    return np.concatenate([np.column_stack([some[name][:, 0] for name in LINES]) for some in found])


def _copies(columns, noise, n_copies, seed):
    """Yield the columns of copies of a paper, and blocks of the copies: its values with normal noise, where weighed.

    `noise` is its std in points, one or of shape (n_columns, n_methods); that of a method's ACC and NMI on one data set
    is correlated by `TOGETHER`.  Copies of one seed have the same noise up to its size.  All features have the paper's
    own score, as a copy of the paper has its data.
    """
    rng, shape = np.random.default_rng(seed), columns.published.shape
    for first in range(0, n_copies, SOME):
        n = min(SOME, n_copies - first)
        common = rng.normal(size=(n, columns.datasets.max() + 1, shape[-1]))[:, columns.datasets]
        drawn = np.sqrt(TOGETHER) * common + np.sqrt(1 - TOGETHER) * rng.normal(size=(n, *shape))
        yield columns._replace(all_mean=columns.published_all), columns.published + noise * drawn


def effect(columns):
    """Measure how near our rows are to the published ones, and how much nearer than by chance.

    The intervals, of 95 %, are percentiles over resamples of the data sets; with few of them they are too narrow.
    """
    of = np.eye(columns.datasets.max() + 1)[columns.datasets]
    fit, counted = cell_fits(columns, columns.ours[None])["distance"]
    total, count = (np.einsum("cij,cd->dij", own, of) for own in (fit[..., 0], counted))
    orders = orders_of(len(columns.methods), N_ORDERS_OF_COPIES)
    times = resamples(len(count))
    found = -under(orders, np.einsum("rd,dij->rij", times, total), np.einsum("rd,dij->rij", times, count))
    distance = found[:, 0]
    gain = 1 - distance / np.nanmean(found, axis=1)
    return Effect(*(x for each in (distance, gain) for x in (float(each[0]), *interval(each))))


def resamples(n_datasets):
    """Return how often each data set is in a resample of them, a row each, the data sets as they are first."""
    times = np.random.default_rng(0).multinomial(n_datasets, np.full(n_datasets, 1 / n_datasets), size=N_RESAMPLES)
    return np.vstack([np.ones(n_datasets, dtype=int), times])


def interval(values):
    """Return the two ends of the interval of a value, from those of `resamples`."""
    tail = (1 - INTERVAL) / 2
    return [float(end) for end in np.quantile(values[1:], [tail, 1 - tail])]


def in_interval(n_datasets, value, low, high, decimals):
    """Return a number with its interval over data sets as a text; without it where these are few."""
    texts = [number(one, decimals) for one in (value, low, high)]
    return texts[0] if n_datasets < FEW else "{} ({} to {})".format(*texts)


def _line(name, found, p, power, as_bad, n_copies):
    if not np.isfinite(found[0]):
        return Line(*[np.nan] * 5, CANNOT_TELL)
    verdict = REPRODUCED if p <= LEVEL else NOT_REPRODUCED if is_rare(as_bad, n_copies) else CANNOT_TELL
    by_chance = _sign(name) * float(np.nanmean(found))
    return Line(_sign(name) * float(found[0]), by_chance, *map(float, (p, power, as_bad)), verdict)


def is_rare(as_bad, n_copies=N_FITS):
    """Return True where so few copies fit as badly that it is no matter of which were drawn."""
    return as_bad + 2 * np.sqrt(as_bad * (1 - as_bad) / n_copies) <= AS_BAD


def _sign(name):
    return -1.0 if name in SMALLER_IS_BETTER else 1.0
