"""The scores of stored feature sets and labels, computed again from the data: no fit is needed."""

import math
from collections import Counter

import numpy as np
from joblib import Parallel, delayed

from datasets import DataError, load_dataset, read_spec
from datasets.load import at_hand
from datasets.spec import files_of
from metrics.evaluate import evaluate_labels
from metrics.kmeans import load_engine
from metrics.measures import OF_SET, of_set
from metrics.protocol import Protocol
from metrics.study import is_learned
from runners.experiment.method import load_class
from runners.store.evaluations import Evaluations
from runners.store.identity import Identity
from runners.store.row import feature_set_digest, stored_scores
from runners.words import counted
from runners.workers.fit import evaluate_set, labels_in
from runners.workers.tasks import Data
from scripts.core.conf import find
from scripts.core.data import data_of
from scripts.verify import ELSEWHERE, REFUSED, UNVERIFIED

BLOCK = 64  # sets that are evaluated before they are kept, so that a later command goes on from there
# With other packages or another arithmetic, K-means from the same start ends elsewhere where two distances are within
# rounding, in single restarts: four in five must have the same number of samples right, and what is an average over
# restarts moves by no more than a fiftieth.
SAME_RESTARTS, MOVED = 0.8, 0.02


class Spent:
    """The CPU seconds of evaluations, and how many were done now."""

    def __init__(self, budget=None):
        self.budget, self.seconds, self.n_sets, self.n_kept = budget, 0.0, 0, 0

    @property
    def is_over(self):
        """True where the budget is used up."""
        return self.budget is not None and self.seconds >= self.budget

    def __str__(self):
        """Return what was done, and what a thousand feature sets cost."""
        each = f", {1000 * self.seconds / self.n_sets:.0f} CPU s per 1000 of them" if self.n_sets else ""
        return (
            f"{self.n_sets} feature sets evaluated in {self.seconds:.0f} CPU s{each}; {self.n_kept} known from before"
        )


def faults(frame, data_dir, spent, folder=None, n_jobs=1, say=print):
    """Yield (kind, data set, method, trial, words) of scored rows that are not what is computed here.

    `frame` has rows of one study with their lists, of which `structure` refuses none; evaluations are kept in `folder`,
    so that none is done twice, and `say` gets a line a data set.
    """
    frame = frame[frame["n_restarts"] > 0]
    for dataset, of_data in frame.groupby("dataset"):
        data, reason = data_of(of_data, data_dir)
        if data is None:
            for method, rows in of_data.groupby("method"):
                yield UNVERIFIED, dataset, method, "", f"{counted(len(rows), 'row')}: {reason}"
            continue
        protocol = Protocol.from_json(of_data["protocol"].iloc[0])
        scaled = Data.scaled(data, protocol, of_data["method"].iloc[0])
        known = Evaluations(scaled.X, scaled.y, protocol, folder)
        _evaluate(of_data, scaled, protocol, known, spent, n_jobs)
        say(f"  {dataset}: {counted(len(of_data), 'row')}; {spent}")
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


def _evaluate(rows, data, protocol, known, spent, n_jobs):
    """Evaluate the feature sets of some rows that are not known, as far as the budget goes."""
    sets = {feature_set_digest(own): own for own in rows["features"] if own is not None}
    spent.n_kept += sum(known.find(digest) is not None for digest in sets)
    new = [(digest, own) for digest, own in sets.items() if known.find(digest) is None]
    load_engine()
    for start in range(0, len(new), BLOCK):
        if spent.is_over:
            return
        block = new[start : start + BLOCK]
        jobs = (delayed(evaluate_set)(features, data.X, data.y, protocol) for _, features in block)
        found = Parallel(n_jobs)(jobs)
        known.add({digest: scores for (digest, _), (scores, _) in zip(block, found, strict=True)})
        spent.seconds += sum(seconds for _, seconds in found)
        spent.n_sets += len(block)


def _of_cell(rows, data, protocol, known):
    identities = {}
    left = Counter()
    for row in rows.to_dict("records"):
        if learned := is_learned(row):
            scores = evaluate_labels(row["labels"], labels_in(data.y)[0], protocol.nmi)
        else:
            scores = known.find(feature_set_digest(row["features"]))
        if scores is None:
            left["the budget was used up before their feature sets."] += 1
            continue
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
    for words, count in left.items():
        yield UNVERIFIED, "", f"{counted(count, 'row')}: {words}"


def _fault(row, scores, measured, exact):
    """Say what of a row is not what was computed; "" where all is, or is within the bounds unless `exact`."""
    n = row["n_samples"]
    acc, nmi = map(np.array, stored_scores(scores))
    pairs = [("acc_mean", acc.mean(), row["acc_mean"]), ("nmi_mean", nmi.mean(), row["nmi_mean"])]
    if measured:
        pairs += [(name, value, row[name]) for name, value in zip(OF_SET, of_set(scores), strict=True)]
    if row["acc"] is None or math.isnan(acc[0]):
        if not (row["acc"] is None and math.isnan(acc[0])):
            return "it has ACC where the data have no labels, or has none where they have."
    else:
        counts = np.rint(acc * n)
        same = counts == row["acc"]
        if not (same.all() if exact else same.mean() >= SAME_RESTARTS):
            place = int(np.argmin(same))
            return (
                f"ACC of {np.count_nonzero(~same)} of {len(same)} restarts is another: {row['acc'][place]} samples of "
                f"restart {place} are stored to be right, and {counts[place]:.0f} are."
            )
        if exact and not np.array_equal(nmi, row["nmi"]):
            place = int(np.argmax(nmi != row["nmi"]))
            return f"NMI of restart {place} is stored as {row['nmi'][place]:.4f}, and is {nmi[place]:.4f}."
    for name, here, stored in pairs if not exact else pairs[2:]:  # exact ones are known to be those of their lists
        if not (here == stored or (here != here and stored != stored) or (not exact and abs(here - stored) <= MOVED)):
            return f"{name} is stored as {stored:.7f}, and is {here:.7f}."
    return ""
