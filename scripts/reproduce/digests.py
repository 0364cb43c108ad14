"""Digests of what fits give, so that two clones or two machines can be compared: ``digests=FILE`` and ``against=FILE``.

The fits are of the settings that are stored; what is stored of their results plays no part.
"""

import hashlib
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import DECIMALS
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.metrics.threads import one_thread
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.store.files import write_rows
from ufs_bench.runners.store.identity import ARITHMETIC, versions
from ufs_bench.runners.words import counted
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.machine import own_cpu_seconds
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.data import data_of

PARTS = ("ranking", "scores", "trace", "labels", "evaluation")
COLUMNS = ("study", "dataset", "method", "trial", *PARTS, ARITHMETIC)
KEY = COLUMNS[:4]
DIGITS = 16


def rounds(trials, seed=0):
    """Return the scored trials of studies in rounds of one trial of every method of a study, the short first."""
    scored = trials[~trials["status"].isin(UNSCORED)].sort_values(["study", "method", "dataset", "trial"])
    drawn = scored.iloc[np.random.default_rng(seed).permutation(len(scored))]
    seconds = drawn["fit_s"] + drawn["eval_s"]
    drawn = drawn.assign(round=drawn.groupby(["study", "method"]).cumcount(), seconds=seconds)
    return drawn.sort_values(["round", "seconds"], kind="stable")


def fit(studies, fits, budget=None, seed=0, say=print):
    """Fit trials of studies again, one after the other, and return a row of `COLUMNS` for each.

    After `budget` CPU seconds no other fit begins, and one that took longer than what is left is passed over.
    """
    drawn = rounds(pd.concat([study.trials.assign(study=study.name) for study in studies]), seed)
    folders, rows, left_out, loaded = {study.name: study.data_dir for study in studies}, [], Counter(), {}
    started = own_cpu_seconds()
    for row in drawn.to_dict("records"):
        left = np.inf if budget is None else budget - (own_cpu_seconds() - started)
        if len(rows) == fits or left <= 0:
            break
        if row["seconds"] > left:
            left_out["longer than what is left of the budget"] += 1
            continue
        content, frame = find("method", row["method"]), pd.DataFrame([row])
        if row["dataset"] not in loaded:
            loaded[row["dataset"]] = data_of(frame, folders[row["study"]])
        data, reason = loaded[row["dataset"]]
        trial = stored_trial(row, content["target"]) if content and data is not None else None
        if trial is None:
            left_out[reason or "conf/method has it no more, or gives it another key"] += 1
            continue
        rows.append([row[name] for name in KEY] + [*digests(trial, data).values(), versions()[ARITHMETIC]])
    for reason, count in left_out.items():
        say(f"  {count} left out: {reason}")
    say(f"  {counted(len(rows), 'fit')} in {own_cpu_seconds() - started:.0f} CPU s")
    return rows


def digests(trial, data):
    """Return the digest of each of `PARTS` of a trial that is fitted and evaluated now, in this process."""
    from ufs_bench.metrics.centred import centred
    from ufs_bench.metrics.evaluate import evaluate, evaluate_labels

    scaled = Data.scaled(data, trial.protocol, trial.method)
    X, columns = trial.data(scaled.fitted_on)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = trial.selector().fit(X)
        sets = [columns[selector.subset(size)] for size in trial.sizes]
        how = data.y, trial.protocol, data.clusters, centred(scaled.X)
        scores = [evaluate(features, scaled.X, *how)[0] for features in sets]
    labels = getattr(selector, "labels_", None)
    if labels is not None:
        scores.append(evaluate_labels(labels, data.y, trial.protocol.nmi))
    scores = [np.round(values, DECIMALS) + 0.0 for values in scores]  # as they are stored, and without -0.0
    values = [selector.ranking_], [selector.scores_], [selector.trace_, selector.objective_], [labels], scores
    return {name: _digest(value) for name, value in zip(PARTS, values, strict=True)}


def _digest(arrays):
    found = hashlib.sha256()
    for array in arrays:
        if array is not None:
            array = np.ascontiguousarray(array)
            found.update(f"{array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return found.hexdigest()[:DIGITS]


def write(path, rows):
    """Write rows of `COLUMNS` to a file."""
    write_rows(Path(path), COLUMNS, rows)


def read(path):
    """Return the rows of a file that `write` has written, as a frame of texts."""
    try:
        found = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"against={path} cannot be read: {error}") from error
    if found.empty or set(COLUMNS) - set(found):
        raise ValueError(f"against={path} has no digests: write it with digests=FILE.")
    return found


def against(rows, path, say=print):
    """Compare rows with those of a file; return how many differ.  A ValueError says that none is in both."""
    here, there = pd.DataFrame(rows, columns=list(COLUMNS), dtype=str), read(path)
    both, different = here.merge(there, on=list(KEY), suffixes=("", "_there")), 0
    if both.empty:
        raise ValueError(f"against={path} has none of these fits: draw both with the same seed.")
    for row in both.to_dict("records"):
        if parts := [name for name in PARTS if row[name] != row[f"{name}_there"]]:
            different += 1
            say(f"  OTHER: {' '.join(row[name] for name in KEY)}: {', '.join(parts)}")
    say(f"  {len(both) - different} of {len(both)} fits that are in both have the same digests")
    if len({*here[ARITHMETIC], *there[ARITHMETIC]}) > 1:
        say("  the arithmetic of the two machines is not the same: their fingerprints differ")
    return different
