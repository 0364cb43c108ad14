"""Scores the chosen points of a study again over more K-means starts: ``python -m scripts.restarts --help``."""

import logging

import numpy as np
from joblib import Parallel, delayed

from datasets.scaling import scale
from metrics.kmeans import load_engine
from metrics.protocol import Protocol
from metrics.study.frames import of_kmeans
from metrics.study.seeds import SCORES
from runners.store.files import held, write_rows
from runners.store.identity import Identity
from scripts.core.conf import checked_names
from scripts.core.data import data_of
from scripts.core.entry import command
from scripts.core.refits import COLUMNS, RESTARTS, read
from scripts.core.restarts import best_in_groups, candidates, score
from scripts.core.study import Study

log = logging.getLogger(__name__)
CLOSE = 1e-6  # NMI is stored to 7 digits


def score_again(study, methods=None, datasets=None, n_starts=200, n_jobs=1):
    """Score the best points of every cell again, by K-means, and store the mean of the best over groups of starts.

    A group has as many starts as the tables.  Nothing is fitted.  The data must be on this machine.  Returns sentences
    on what could not be done, and why; a ValueError says that nothing is stored under that name, or that the study
    lacks a method or data set, or that the starts are too few for two groups.
    """
    trials = study.filled().trials
    for name, wanted in (("method", methods), ("dataset", datasets)):
        trials = trials[trials[name].isin(checked_names(name, wanted, study.trials[name].unique()))]
    protocol = Protocol(**study.protocol)
    if n_starts < 2 * protocol.restarts:
        raise ValueError(f"restarts={n_starts} must be {2 * protocol.restarts} or more: two groups of the table's.")
    load_engine()
    problems = []
    for dataset, own in trials.groupby("dataset"):
        data, reason = data_of(own, study.data_dir)
        if data is None or data.y is None:
            problems.append(reason or f"{dataset} has no labels.")
            continue
        X = scale(data.X, protocol.scaling)
        for method in own["method"].unique():
            try:
                _score_cell(study, (dataset, method), X, data.y, protocol, n_starts, n_jobs)
            except ValueError as error:
                problems.append(f"{method} on {dataset}: {error}")
    return problems


def _score_cell(study, cell, X, y, protocol, n_starts, n_jobs):
    """Update ``restarts.csv`` of a cell; a ValueError says that its stored scores are not those of this program."""
    points = of_kmeans(study.summary[study.summary["n_restarts"] > 0])
    points = points[(points["dataset"] == cell[0]) & (points["method"] == cell[1])]
    wanted = {metric: candidates(points, metric) for metric in SCORES if points[f"{metric}_mean"].notna().any()}
    path = study.folder.joinpath(*cell, RESTARTS)
    with held(path):
        stored = read(path)
        there = {(*row[:-4], row[-1]) for row in stored[COLUMNS[RESTARTS]].itertuples(index=False, name=None)}
        heads = {metric: _head(own, metric, n_starts, protocol) for metric, own in wanted.items()}
        lacking = {metric: own for metric, own in wanted.items() if heads[metric] not in there}
        if not lacking:
            return
        sets = {(row.trial, row.n_selected): row for own in lacking.values() for row in own.itertuples()}
        found = dict(zip(sets, _scores(study, sets, X, y, protocol, n_starts, n_jobs), strict=True))
        for key, scores in found.items():
            for metric, values in zip(SCORES, scores, strict=True):
                before, now = getattr(sets[key], f"{metric}_mean"), values[: protocol.restarts].mean()
                if abs(before - now) > CLOSE:
                    raise ValueError(
                        f"{metric.upper()} with {key[1]} features is stored as {before:.6f}, and the same starts give "
                        f"{now:.6f} here: run the cell again first."
                    )
        rows = []
        for place, metric in enumerate(SCORES):
            if metric not in wanted:
                continue
            head = heads[metric]
            if metric in lacking:
                own = np.stack([found[row.trial, row.n_selected][place] for row in wanted[metric].itertuples()])
                again = best_in_groups(own, protocol.restarts)
                rows.append((*head[:-1], *again, head[-1]))
                log.info("%s on %s: %s %.2f over %d starts (the table: %.2f), the best of %d in each of %d groups",
                         cell[1], cell[0], metric.upper(), 100 * again.mean, n_starts,
                         100 * wanted[metric][f"{metric}_mean"].iloc[0], len(own), head[-3])  # fmt: skip
            else:
                rows += [row for row in stored.itertuples(index=False, name=None) if (*row[:-4], row[-1]) == head]
        write_rows(path, COLUMNS[RESTARTS], rows)


def _head(own, metric, n_starts, protocol):
    """Return the values of `COLUMNS` for a metric besides the three that are computed."""
    best = own.iloc[0]
    where = best["trial"], best["dataset"], best["method"], int(best["n_selected"]), "kmeans", metric
    return (*where, n_starts, n_starts // protocol.restarts, len(own), Identity.stored(best).name)


def _scores(study, sets, X, y, protocol, n_starts, n_jobs):
    whole = of_kmeans(study.whole).set_index(["trial", "n_selected"])["features"]
    return Parallel(n_jobs=min(n_jobs, len(sets)))(
        delayed(score)(whole.loc[key], X, y, protocol, n_starts) for key in sets
    )


@command("restarts")
def main(options):
    """Score what the options describe."""
    study = Study.open(options["results_dir"], options["study"], options["data_dir"])
    if study.is_shipped:
        raise ValueError(study.refusal("more starts"))
    problems = score_again(study, options["methods"], options["datasets"], options["restarts"], options["n_jobs"])
    if problems:
        raise ValueError("\n".join(["not all could be scored again:", *(f"  {text}" for text in problems)]))


if __name__ == "__main__":
    main()
