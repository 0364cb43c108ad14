"""The cells of one paper as arrays, and the fit of our rows to the published rows under any order of methods.

A method keeps its quality from one data set to the next, so an order gives all rows of one method to the same published
row, on every data set.  Sums over the data sets do not depend on the order: they leave one matrix of methods by
methods for each line, and thousands of orders of a thousand studies are one product.
"""

from itertools import combinations, permutations
from math import factorial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

CONFIDENCE = 0.95  # confidence of each side of the equivalence test
MOST = 5040  # orders that are all used however few would be drawn: 7!
# Points by which scores of all features differ between two samples of 3,000 and of 5,000 of 70,000 images, the paper's,
# which nobody knows, and ours, as measured at ee2f1ea1.  What K-means adds is counted by itself.
SAMPLED = {("fashion", "acc"): 1.1, ("fashion", "nmi"): 1.0, ("mnist", "acc"): 1.1, ("mnist", "nmi"): 0.9}


class Columns(NamedTuple):
    """The cells that the lines of one paper weigh."""

    # The number of every column's data set, shape (n_columns,); a column is one score on one data set.
    datasets: np.ndarray
    methods: np.ndarray  # the names, shape (n_methods,)
    # Of shape (n_columns, n_methods), in percent. A method that lacks a number in some column of
    # a data set has nan in all of them
    ours: np.ndarray
    published: np.ndarray
    # The standard errors of the two means, of the same shape.
    ours_error: np.ndarray
    published_error: np.ndarray
    # The scores of all features, ours and the paper's, shape (n_columns,)
    all_mean: np.ndarray
    published_all: np.ndarray

    @property
    def error(self):
        """The standard error of the difference of the two means, in every cell."""
        return np.hypot(self.ours_error, self.published_error)


def columns_of(cells):
    """Return the cells of one paper, all features aside, as arrays; they have a row per column and method."""
    datasets, metrics = (pd.factorize(cells[name], sort=True)[0] for name in ("dataset", "metric"))
    places, rows = np.unique(datasets * (metrics.max() + 1) + metrics, return_inverse=True)
    of, methods = pd.factorize(cells["method"], sort=True)
    datasets = places // (metrics.max() + 1)

    def table(values):  # a pivot of pandas takes ten times as long, and there is one for every draw of a control
        found = np.full((len(places), len(methods)), np.nan)
        found[rows, of] = values
        return found

    ours, published = (table(cells[name]) for name in ("mean", "published_mean"))
    lacking = ~(np.isfinite(ours) & np.isfinite(published))
    for dataset in np.unique(datasets):
        lacking[datasets == dataset] |= lacking[datasets == dataset].any(axis=0)
    return Columns(
        datasets,
        np.asarray(methods, dtype=object),
        *(np.where(lacking, np.nan, values) for values in (ours, published)),
        *(table(error(cells)) for error in (own_error, published_error)),
        *(_first(table(cells[name])) for name in ("all_mean", "published_all")),
    )


def _first(table):
    """Return the first number of every row; nan where there is none."""
    return table[np.arange(len(table)), np.isfinite(table).argmax(axis=1)]


def own_error(cells):
    """Return the standard errors of our means; that over groups of starts (`scripts.refit`) where there are some."""
    return standard_error(cells["std"], cells["n_restarts"], cells["seed_std"], cells["group_error"])


def published_error(cells):
    """Return the standard errors of the paper's means, with that between samples where the paper's is unknown."""
    sampled = [SAMPLED.get(one, 0.0) for one in zip(cells["dataset"], cells["metric"], strict=True)]
    return np.hypot(standard_error(cells["published_std"], cells["published_n"]), sampled)


def standard_error(std, n, seed_std=0.0, group_error=np.nan):
    """Return the standard error of a mean over `n` K-means restarts of one fit; nan counts as 0.

    `seed_std` is the spread over the seeds of the method, and `group_error` the error over restarts where it is known.
    """
    std, seed_std = (np.nan_to_num(np.asarray(values, dtype=float)) for values in (std, seed_std))
    by_runs, group_error = std / np.sqrt(np.maximum(n, 1)), np.asarray(group_error, dtype=float)
    return np.hypot(np.where(np.isnan(group_error), by_runs, group_error), seed_std)


def equivalence(difference, error, margin):
    """Tell where two means are shown to differ by less than a margin, and where by more: two arrays of booleans.

    Each is by one-sided tests of `CONFIDENCE`; where both are False, the tests cannot tell.
    """
    reach, away = ndtri(CONFIDENCE) * error, np.abs(difference)
    return away + reach <= margin, away - reach > margin


def orders_of(n_methods, n_random, seed=0):
    """Return orders of the methods, a row each, the study's own first: all, or `n_random` where there are more."""
    own = np.arange(n_methods)
    if factorial(n_methods) <= max(MOST, n_random):
        return np.array(list(permutations(own)))
    random = np.random.default_rng(seed).permuted(np.tile(own, (n_random, 1)), axis=1)
    return np.vstack([own, random])


def cell_fits(columns, ours):
    """Measure how well each of our rows fits each published row in every column; larger is better.

    `ours`, of shape (n_studies, n_columns, n_methods), takes the place of the scores of `columns`.  Returns for each
    line a fit, of shape (n_columns, n_methods, n_methods, n_studies), [:, ours, published], and whether it counts, of
    shape (n_columns, n_methods, n_methods); the fit is 0 where not.  A column counts the pairs that it has both rows
    of; the last two lines leave out columns without all features.
    """
    # The studies are last, as arrays are fast along a long last axis.
    ours, published = np.ascontiguousarray(np.moveaxis(ours, 0, -1))[:, :, None], columns.published[:, None, :, None]
    present = np.isfinite(columns.published)
    pairs = present[:, :, None] & present[:, None, :]
    away = np.abs(ours - published)
    distance = np.where(pairs[..., None], away, np.inf)
    nearest = (distance <= distance.min(axis=2, keepdims=True) + 1e-9) & pairs[..., None]
    gain = published - columns.published_all[:, None, None, None]
    error = np.hypot(columns.ours_error[:, :, None], columns.published_error[:, None, :])[..., None]
    # Half of the paper's gain or loss against all features: a larger difference would change its conclusion.
    agree, differ = equivalence(away, error, np.abs(gain) / 2)
    above = np.sign(ours - columns.all_mean[:, None, None, None]) == np.sign(gain)
    known = pairs & (np.isfinite(columns.all_mean) & np.isfinite(columns.published_all))[:, None, None]
    fits = {
        "distance": (-away, pairs),
        "nearest": (nearest / np.maximum(nearest.sum(axis=2, keepdims=True), 1), pairs),
        "sign": (above, known),
        "equivalence": (agree.astype(float) - differ, known),
    }
    return {name: (np.where(counted[..., None], fit, 0.0), counted) for name, (fit, counted) in fits.items()}


def under(orders, total, count):
    """Return the means of lines under every order, of shape (..., n_orders); nan for an order that leaves no pair.

    Under `orders`, our row of method i stands for the published row of method orders[:, i].  `total` and `count`, of
    shape (..., n_methods, n_methods), are sums over columns of what `cell_fits` returns.
    """
    n_orders, n_methods = orders.shape
    places = np.zeros((n_orders, n_methods, n_methods))
    places[np.arange(n_orders)[:, None], np.arange(n_methods), orders] = 1.0
    weights, totals = (
        values.reshape(*values.shape[:-2], n_methods**2) @ places.reshape(n_orders, -1).T for values in (count, total)
    )
    return np.divide(totals, weights, out=np.full(np.broadcast_shapes(totals.shape, weights.shape), np.nan),
                     where=weights > 0)  # fmt: skip


def concordance(columns, ours, orders):
    """Return Kendall's tau-b of our rows with the published ones under every order, over all pairs of one column.

    `columns` and `ours` are as for `cell_fits`.  The result, of shape (n_studies, n_orders), is nan for an order that
    leaves no pair, and 0 where one side has only ties.
    """
    first, second = np.array(list(combinations(range(orders.shape[1]), 2)), dtype=int).reshape(-1, 2).T
    present, published, ours = np.isfinite(columns.published).T, columns.published.T, ours.swapaxes(1, 2)
    both = present[:, None] & present[None]
    signs = np.nan_to_num(np.sign(published[:, None] - published[None]))
    here = np.nan_to_num(np.sign(ours[:, first] - ours[:, second])) * both[first, second]
    # Sums of signs are exact in half of the bytes.
    here, own = (table.reshape(len(table), -1).astype(np.float32) for table in (here, both[first, second][None]))
    there, kept = (
        table.astype(np.float32)[orders[:, first], orders[:, second]].reshape(len(orders), -1)
        for table in (signs, both)
    )
    untied = (np.abs(here) @ kept.T).astype(float) * (np.abs(there) @ own[0])
    agreement = (here @ there.T) / np.sqrt(np.maximum(untied, 1.0))
    return np.where(kept @ own[0] > 0, agreement, np.nan)
