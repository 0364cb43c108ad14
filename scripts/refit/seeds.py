"""Fit methods with a random part again, with other seeds; K-means keeps the starts of the protocol."""

import logging
from dataclasses import replace

import numpy as np

from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import UNSCORED, is_learned
from ufs_bench.runners.experiment.trial import has_random_part, stored_trial
from ufs_bench.runners.messages import counted
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.pool import run_all
from ufs_bench.scripts.core.conf import find, rows_of
from ufs_bench.scripts.core.refits import SEEDS, add_refits, data_of, read
from ufs_bench.scripts.core.text import REFITTED

log = logging.getLogger(__name__)


def fit_seeds(study, methods=None, datasets=None, n_seeds=5, n_jobs=1):
    """Fit the default and the chosen points of a study again, with other seeds of their methods.

    Returns sentences on what could not be done, and why.  The data must be on this machine; nothing is downloaded.
    What is stored is not computed again, but a fit that failed.  `n_seeds` includes the seed of the stored trials.  A
    ValueError says that the study is shipped, holds nothing, mixes protocols, has seeds of its own, or lacks a method
    or data set.
    """
    if own := study.filled().protocol.get("seeds"):
        raise ValueError(
            f"study={study.own_name} has protocol.seeds={own}: run.py fits them all; for more, raise it under a "
            "study=NAME of its own."
        )
    if study.is_shipped:
        raise ValueError(
            f"study={study.own_name} is shipped, and nothing is written there. Make a study of your own first, which "
            f"takes the shipped fits: python run.py experiment={study.own_name} runner.reuse=shipped"
        )
    trials, problems = rows_of(study.trials, methods, datasets), []
    contents = {name: find("method", name) for name in trials["method"].unique()}
    targets = {name: own["target"] for name, own in contents.items() if own and has_random_part(own)}
    if unknown := [name for name, own in contents.items() if own is None]:
        problems.append(f"{', '.join(unknown)}: no file of conf/method names the class.")
    if fixed := sorted(contents.keys() - targets.keys() - {*unknown}):
        log.info("No random part, and so no seeds: %s.", ", ".join(fixed))
    wanted = chosen_sets(study)
    trials = trials[trials["method"].isin(targets) & trials["trial"].isin(wanted)]
    for dataset, of_data in trials.groupby("dataset"):
        data, reason = data_of(of_data, study.data_dir)
        if data is None:
            problems.append(f"{dataset}: {reason}")
            continue
        load_engine()
        for method, cell in of_data.groupby("method"):
            problems += _fit_cell(study, cell, targets[method], wanted, data, n_seeds, n_jobs)
    return problems


def chosen_sets(study):
    """Return trial -> the (n_selected, clusterer) at the default point and the best of the grid, for ACC and NMI."""
    wanted = {}
    for metric in ("acc", "nmi"):
        for selection in REFITTED:
            for row in study.select(metric, selection).dropna(subset="mean").itertuples():
                wanted.setdefault(row.trial, set()).add((int(row.n_selected), row.clusterer))
    return wanted


def _fit_cell(study, cell, target, wanted, data, n_seeds, n_jobs):
    """Fit the points of a cell with the seeds that lack, and store the rows of each fit as it ends."""
    dataset, method = cell[["dataset", "method"]].iloc[0]
    place, asked, stored, problems = f"{method} on {dataset}", {}, [], []
    done = read(study.folder, SEEDS)
    done = done[~done["status"].isin(UNSCORED)]
    done = set(done[["trial", "n_selected", "clusterer", "seed", "identity"]].itertuples(index=False, name=None))
    for row in cell.to_dict("records"):
        trial = stored_trial(row, target)
        if trial is None:
            problems.append(f"{place}: its file in conf/method is not that of the trials.")
            continue
        own = list(_stored_rows(study, trial, wanted[trial.key]))
        stored += own
        identity, sets = Identity.of(trial.cls).name, sorted(one[3:5] for one in own)
        if own[0][-1] != identity:
            problems.append(f"{place}: it is of other code or packages; run the cell again first.")
        sizes = tuple(size for size, clusterer in sets if clusterer == "kmeans") or trial.sizes[:1]
        for seed in range(trial.protocol.seed + 1, trial.protocol.seed + n_seeds):
            if not done.issuperset((trial.key, *one, seed, identity) for one in sets):
                changed = replace(trial, seed=seed, sizes=sizes)
                asked[changed.key] = trial, changed, sets
    if stored:
        add_refits(study, SEEDS, stored)
    if asked:
        log.info("%s: %s", place, counted(len(asked), "fit"))
        given = Data.scaled(data, Protocol(**study.protocol), method)
    for ended in run_all([changed for _, changed, _ in asked.values()], given, n_jobs) if asked else ():
        for outcome in ended:
            trial, changed, sets = asked[outcome.trial["trial"]]
            add_refits(study, SEEDS, _rows(outcome, trial, changed.seed, sets))
            problems += [f"{place}: {outcome.trial['error']}"] if outcome.trial["error"] else []
    return list(dict.fromkeys(problems))


def _stored_rows(study, trial, wanted):
    """Yield the stored scores of a trial as rows of `SEEDS`, with learned labels, which cost nothing more."""
    for row in study.whole[study.whole["trial"] == trial.key].to_dict("records"):
        size, clusterer = row["n_selected"], row["clusterer"]
        if (size, clusterer) in wanted or is_learned(row):
            where = (trial.key, trial.dataset, trial.method, size, clusterer, trial.protocol.seed)
            scores = row["acc_mean"], row["nmi_mean"]
            yield (*where, row["status"], *scores, Identity.stored(row).name)


def _rows(outcome, trial, seed, sets):
    """Yield the rows that one fit adds, under the key of the stored trial; nan where it has no scores."""
    row = outcome.trial
    scores = {(one["n_selected"], one["clusterer"]): one for one in row["sets"]}
    for size, clusterer in sets:
        found = scores.get((size, clusterer), {"acc": np.nan, "nmi": np.nan})
        acc, nmi = (float(np.mean(found[name])) for name in ("acc", "nmi"))
        where = (trial.key, trial.dataset, trial.method, size, clusterer, seed)
        yield (*where, row["status"], acc, nmi, Identity.stored(row).name)
