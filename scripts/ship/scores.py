"""The scores of stored feature sets and labels, computed again from the data: no fit is needed."""

import math

import numpy as np
from joblib import Parallel, delayed

from ufs_bench.datasets import DataError, load_dataset, read_spec
from ufs_bench.datasets.load import at_hand
from ufs_bench.datasets.spec import files_of
from ufs_bench.metrics.evaluate import evaluate_labels
from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.metrics.measures import OF_SET, of_set
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import is_learned
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.messages import counted
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import feature_set_digest, stored_scores
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.fit import evaluate_set, labels_in
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.refits import data_of
from ufs_bench.scripts.ship import ELSEWHERE, REFUSED, UNVERIFIED

# With other packages or another arithmetic, K-means from the same start ends elsewhere where two distances are within
# rounding, in single restarts: four in five must have the same number of samples right, and what is an average over
# restarts moves by no more than a fiftieth.
SAME_RESTARTS, MOVED = 0.8, 0.02
MEANS = 5.1e-8  # means and deviations have 7 decimals, and the order in which they are summed moves them by less


def faults(frame, data_dir, n_jobs=1, say=print):
    """Yield (kind, data set, method, trial, words) of scored rows that are not what is computed here.

    `frame` has rows of one study with their lists, of which `rows` refuses none; `say` gets a line a data set.
    """
    for dataset, of_data in frame[frame["n_restarts"] > 0].groupby("dataset"):
        data, reason = data_of(of_data, data_dir)
        if data is None:
            for method, rows in of_data.groupby("method"):
                yield UNVERIFIED, dataset, method, "", f"{counted(len(rows), 'row')}: {reason}"
            continue
        protocol = Protocol.from_json(of_data["protocol"].iloc[0])
        scaled = Data.scaled(data, protocol, of_data["method"].iloc[0])
        known = _evaluated(of_data, scaled, protocol, n_jobs)
        say(f"  {dataset}: {counted(len(of_data), 'row')}, {counted(len(known), 'feature set')} evaluated")
        for method, rows in of_data.groupby("method"):
            yield from ((kind, dataset, method, *rest) for kind, *rest in _of_cell(rows, scaled, protocol, known))


def fetch(frame, most, data_dir, say=print):
    """Download the data sets of some rows whose files have this many MB at most, and are not on this machine."""
    for name in sorted(set(frame["dataset"])):
        spec = read_spec(name)
        size = sum(file.get("bytes", np.inf) for file in files_of(spec["sources"][0])) / 1e6
        if size > most or at_hand(name, data_dir):
            continue
        try:
            load_dataset(name, data_dir=data_dir)
        except DataError as error:
            say(f"  {str(error).splitlines()[0]}")


def _evaluated(rows, data, protocol, n_jobs):
    """Return the scores of the feature sets of some rows by their digests."""
    sets = {feature_set_digest(own): own for own in rows["features"] if own is not None}
    load_engine()
    found = Parallel(n_jobs)(delayed(evaluate_set)(own, data.X, data.y, protocol) for own in sets.values())
    return {digest: scores for digest, (scores, _) in zip(sets, found, strict=True)}


def _of_cell(rows, data, protocol, known):
    identities = {}
    for row in rows.to_dict("records"):
        if learned := is_learned(row):
            scores = evaluate_labels(row["labels"], labels_in(data.y)[0], protocol.nmi)
        else:
            scores = known[feature_set_digest(row["features"])]
        stored = Identity.stored(row)
        if stored not in identities:
            here = Identity.of(load_class(find("method", row["method"])["target"]))
            # Scores are exact where the code that evaluates, its packages and the arithmetic are those of this process.
            same = (here.code_evaluation, here.versions) == (stored.code_evaluation, stored.versions)
            identities[stored] = here.difference(stored), same
        if words := _fault(row, scores, not learned, exact=identities[stored][1]):
            yield REFUSED, row["trial"], f"{row['n_selected']} features, {row['clusterer']}: {words}"
    for why, exact in identities.values():
        if why:
            yield ELSEWHERE, "", f"{why}; its scores are {'the same' if exact else 'within bounds, or refused'}"


def _fault(row, scores, measured, exact):
    """Say what of a row is not what was computed; "" where all is, or is within the bounds unless `exact`."""
    acc, nmi = map(np.array, stored_scores(scores))
    if row["acc"] is None or math.isnan(acc[0]):
        if row["acc"] is not None or not math.isnan(acc[0]):
            return "it has ACC where the data have no labels, or has none where they have."
    elif len(row["acc"]) != len(acc):
        return f"it has {len(row['acc'])} restarts, not {len(acc)}."
    else:
        same = np.rint(acc * row["n_samples"]) == row["acc"]
        same &= (nmi == row["nmi"]) | (not exact)
        if same.mean() < (1.0 if exact else SAME_RESTARTS):
            return f"ACC or NMI of {np.count_nonzero(~same)} of {len(same)} restarts is another, as of {same.argmin()}."
    values = {f"{name}_mean": own.mean() for name, own in (("acc", acc), ("nmi", nmi))}
    spread = [np.std(own, ddof=1) if len(own) > 1 else math.nan for own in (acc, nmi)]
    values |= dict(zip(("acc_std", "nmi_std"), spread, strict=True))
    values |= dict(zip(OF_SET, of_set(scores), strict=True)) if measured else {}
    for name, here in values.items():
        bound = MOVED if not exact else 0.0 if name in OF_SET else MEANS
        if not (abs(here - row[name]) <= bound or (math.isnan(here) and math.isnan(row[name]))):
            return f"{name} is stored as {row[name]:.7f}, and is {here:.7f}."
    return ""
