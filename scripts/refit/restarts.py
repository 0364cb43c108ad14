"""Score the chosen points of a study again over more K-means starts."""

import logging
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import issparse

from ufs_bench.datasets.scaling import scale
from ufs_bench.metrics.clustering import acc_nmi
from ufs_bench.metrics.kmeans import kmeans_restarts, load_engine
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.seeds import SCORES
from ufs_bench.metrics.threads import one_thread
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import stored_nmi
from ufs_bench.scripts.core.conf import rows_of
from ufs_bench.scripts.core.refits import COLUMNS, RESTARTS, add_refits, data_of, load_refits

log = logging.getLogger(__name__)
CLOSE = 1e-6  # a mean is stored to 7 decimals
ERRORS = 2.0  # standard errors of the difference to the best mean, up to which a point is a candidate
MOST = 10  # candidates at most


def candidates(points, metric):
    """Return the points that may be the best of a cell under other starts by a metric, the best first.

    Of the rows of a summary of one cell and clusterer, with scores, they are those whose mean is within `ERRORS`
    standard errors of the best, each feature set once, at most `MOST`. Means of points that share their starts differ
    by less than this error says, so that rather too many are kept.
    """
    mean = points[f"{metric}_mean"].round(10)
    points = points.assign(mean=mean).sort_values(["mean", "n_selected", "params"], ascending=[False, True, True])
    points = points.drop_duplicates("feature_set")
    error = points[f"{metric}_std"].fillna(0.0) / np.sqrt(points["n_restarts"])
    near = points["mean"].iloc[0] - points["mean"] <= ERRORS * np.hypot(error, error.iloc[0])
    return points[near].head(MOST)


def best_in_groups(scores, size):
    """Take the best of several feature sets in every group of starts, as a paper does in its one group.

    `scores` has shape (n_sets, n_starts), `size` is the number of starts of a group; the starts after the last whole
    group do not count.  Returns the mean, the std of single starts, root mean square over the groups, and the std of
    the best mean over the groups.
    """
    n_groups = scores.shape[1] // size
    groups = scores[:, : n_groups * size].reshape(len(scores), n_groups, size)
    best = groups.mean(axis=2).argmax(axis=0)
    chosen = groups[best, np.arange(n_groups)]
    means = chosen.mean(axis=1)
    std = np.sqrt(chosen.var(axis=1, ddof=1).mean()) if size > 1 else np.nan
    return float(means.mean()), float(std), float(means.std(ddof=1))


def score(features, X, y, protocol, n_starts):
    """Return ACC and NMI of a feature set from the first starts of a protocol, beginning with those of the tables."""
    wanted = replace(protocol, restarts=n_starts)
    selected = X[:, np.sort(features)]
    selected = selected.toarray() if issparse(selected) else np.ascontiguousarray(selected)
    how, n_clusters = {"starts": wanted.starts, "replicates": wanted.replicates}, wanted.clusters_of(len(np.unique(y)))
    with one_thread():
        labels = kmeans_restarts(selected, n_clusters, wanted.restarts, wanted.seed, wanted.max_iter, **how)
        acc, nmi = acc_nmi(y, labels, wanted.nmi)
    return np.array([acc, stored_nmi(nmi)])


def score_again(study, methods=None, datasets=None, n_starts=200, n_jobs=1):
    """Score the best points of every cell again, by K-means, and store the mean of the best over groups of starts.

    A group has as many starts as the tables.  Nothing is fitted.  The data must be on this machine.  Returns sentences
    on what could not be done, and why; a ValueError says that nothing is stored under that name, or that the study
    lacks a method or data set, or that the starts are too few for two groups.
    """
    trials = rows_of(study.filled().trials, methods, datasets)
    protocol = Protocol(**study.protocol)
    if n_starts < 2 * protocol.restarts:
        least = 2 * protocol.restarts
        raise ValueError(f"restarts={n_starts} must be {least} or more: two groups of {protocol.restarts}.")
    load_engine()
    stored, problems = load_refits(study, RESTARTS), []
    for dataset, own in trials.groupby("dataset"):
        data, reason = data_of(own, study.data_dir)
        if data is None or data.y is None:
            problems.append(reason or f"{dataset} has no labels.")
            continue
        X = scale(data.X, protocol.scaling)
        for method in own["method"].unique():
            try:
                _score_cell(study, (dataset, method), stored, X, data.y, protocol, n_starts, n_jobs)
            except ValueError as error:
                problems.append(f"{method} on {dataset}: {error}")
    return problems


def _score_cell(study, cell, stored, X, y, protocol, n_starts, n_jobs):
    """Add to `stored` rows of a cell; a ValueError says that its stored scores are not those of this program."""
    points = of_kmeans(study.summary[study.summary["n_restarts"] > 0])
    points = points[(points["dataset"] == cell[0]) & (points["method"] == cell[1])]
    wanted = {metric: candidates(points, metric) for metric in SCORES if points[f"{metric}_mean"].notna().any()}
    heads = {metric: _head(own, metric, n_starts, protocol) for metric, own in wanted.items()}
    there = {(*row[:-4], row[-1]) for row in stored[COLUMNS[RESTARTS]].itertuples(index=False, name=None)}
    if there.issuperset(heads.values()):
        return
    sets = dict.fromkeys((row.trial, row.n_selected) for own in wanted.values() for row in own.itertuples())
    whole = of_kmeans(study.whole).set_index(["trial", "n_selected"])
    jobs = (delayed(score)(whole.at[key, "features"], X, y, protocol, n_starts) for key in sets)
    found = dict(zip(sets, Parallel(n_jobs=min(n_jobs, len(sets)))(jobs), strict=True))
    for key, scores in found.items():
        for metric, values in zip(SCORES, scores, strict=True):
            before, now = whole.at[key, f"{metric}_mean"], values[: protocol.restarts].mean()
            if abs(before - now) > CLOSE:
                raise ValueError(
                    f"{metric.upper()} with {key[1]} features is stored as {before:.6f}, and the same starts give "
                    f"{now:.6f} here: run the cell again first."
                )
    rows = []
    for metric, points in wanted.items():
        head, place = heads[metric], SCORES.index(metric)
        own = np.stack([found[row.trial, row.n_selected][place] for row in points.itertuples()])
        mean, *spread = best_in_groups(own, protocol.restarts)
        rows.append((*head[:-1], mean, *spread, head[-1]))
        log.info("%s on %s: %s %.2f over %d starts (the table: %.2f), the best of %d in each of %d groups",
                 cell[1], cell[0], metric.upper(), 100 * mean, n_starts, points[f"{metric}_mean"].iloc[0],
                 len(own), head[-3])  # fmt: skip
    add_refits(study, RESTARTS, rows)


def _head(own, metric, n_starts, protocol):
    """Return the values of `COLUMNS` for a metric besides the three that are computed."""
    best = own.iloc[0]
    where = best["trial"], best["dataset"], best["method"], int(best["n_selected"]), "kmeans", metric
    return (*where, n_starts, n_starts // protocol.restarts, len(own), Identity.stored(best).name)
