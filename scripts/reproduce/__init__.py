"""Run stored fits again and compare: ``python -m scripts.reproduce --help``."""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from metrics.protocol import Protocol
from metrics.study import UNSCORED
from runners import reference
from runners.code import CodeChanged
from runners.files import write_rows
from runners.pool import run_all
from runners.provenance import Identity
from runners.row import subsets_of
from runners.tasks import Data
from runners.tidy import rows_of
from runners.trial import stored_trial
from scripts.core.conf import find
from scripts.core.data import data_of

# What counts as the same where packages, machine or code differ: the objective as a share of itself, and the share of
# the selected features that both have.  Rounding alone moves an objective by 1e-9 and a choice among near ties.
OBJECTIVE, SELECTED = 1e-3, 0.9
SAME, WITHIN, OTHER, NOT_RUN = "same bytes", "within bounds", "other", "not run"
ELSEWHERE = "of other arithmetic"  # the fingerprint of their machine is another, or unknown: bytes cannot be compared
STAMP = "dataset method old_fit old_evaluation new_fit new_evaluation sample date".split()


@dataclass(frozen=True)
class Again:
    """A stored fit that was run again."""

    dataset: str
    method: str
    params: str
    here: Identity | None  # the identity of the fit now; None where it was not run
    stored: Identity
    outcome: str  # one of the five words above
    reason: str = ""  # why it was not run
    objective: float = 0.0  # difference as a share of the stored one
    selected: float = 1.0  # smallest share of features that both selected, over the sizes
    acc: float = 0.0  # largest difference of a mean ACC, in points

    @property
    def within(self):
        """True where objective and selected features are within the bounds."""
        return self.objective <= OBJECTIVE and self.selected >= SELECTED

    @property
    def expected_same(self):
        """True where code, packages and machine are those of the stored fit."""
        return self.here is not None and not self.here.difference(self.stored)


def draw(trials, fits, seed=0, longest=None, per_cell=None):
    """Return a random sample of the scored trials of a study, data set by data set.

    Parameters
    ----------
    trials : DataFrame
    fits : int
        How many.
    seed : int, default=0
    longest : float, optional
        Seconds that a fit took at most.
    per_cell : int, optional
        So many of every cell, in place of `fits`.
    """
    drawn = trials[~trials["status"].isin(UNSCORED)]
    if longest is not None:
        drawn = drawn[drawn["fit_s"] <= longest]
    drawn = drawn.iloc[np.random.default_rng(seed).permutation(len(drawn))]
    drawn = drawn.groupby(["dataset", "method"]).head(per_cell) if per_cell else drawn.head(fits)
    return drawn.sort_values(["dataset", "method", "params", "sizes"], kind="stable")


def reproduce(study, drawn, n_jobs=1, say=print):
    """Run fits of a study again, and yield an `Again` for each.

    Parameters
    ----------
    study : Study
    drawn : DataFrame
        From `draw`.
    n_jobs : int, default=1
    say : callable, optional
        Called with a line for each cell.
    """
    sets = dict(iter(study.whole[study.whole["trial"].isin(drawn["trial"])].groupby("trial")))
    for dataset, of_data in drawn.groupby("dataset"):
        data, reason = data_of(of_data, study.data_dir)
        for method, cell in of_data.groupby("method"):
            say(f"{method} on {dataset}: {len(cell)} fits")
            yield from _cell(cell, data, reason, sets, n_jobs)


def _cell(cell, data, reason, sets, n_jobs):
    content = find("method", cell["method"].iloc[0])
    rows, trials = {}, []
    for row in cell.to_dict("records"):
        trial = stored_trial(row, content["target"]) if content and data is not None else None
        if trial is None:
            yield _again(row, None, NOT_RUN, reason or "conf/method has it no more, or gives it another key.")
        else:
            rows[trial.key] = row
            trials.append(trial)
    if not trials:
        return
    scaled = Data.scaled(data, Protocol.from_json(cell["protocol"].iloc[0]), trials[0].method)
    try:
        for ended in run_all(trials, scaled, n_jobs):
            for outcome in ended:
                key = outcome.trial["trial"]
                yield compare(sets[key], outcome)
    except CodeChanged as error:
        raise ValueError(str(error)) from error


def compare(sets, outcome):
    """Return the `Again` of a stored trial, its rows of the tidy frame, and of the `Outcome` of the same trial now."""
    row, *stored = rows_of(sets)
    now, here = outcome.trial, Identity.stored(outcome.trial)
    if now["status"] in UNSCORED:
        return _again(row, here, OTHER, now["error"])
    pairs = zip(stored[::3], (outcome.scores, outcome.measures), strict=True)  # traces are stored rounded
    same = all(_same(sorted(first), sorted(second)) for first, second in pairs)
    same = same and all(row[name] == now[name] for name in ("ranking", "status", "labels"))
    same = same and np.array_equal([row["objective"]], [now["objective"]], equal_nan=True)
    objective = _share(row["objective"], now["objective"])
    sizes = json.loads(row["sizes"])
    selected = min(_kept(*(subsets_of(one["ranking"], sizes) for one in (row, now))))
    found = _again(row, here, OTHER, "", objective, selected, _difference(stored[0], outcome.scores))
    comparable = here.same_arithmetic(found.stored)
    return replace(found, outcome=ELSEWHERE if not comparable else SAME if same else WITHIN if found.within else OTHER)


def _same(stored, now):
    return len(stored) == len(now) and all(
        first == second or (first != first and second != second)
        for rows in zip(stored, now, strict=True)
        for first, second in zip(*rows, strict=True)
    )


def _difference(stored, now):
    """Return the largest difference of a mean ACC, in points."""
    means = [{}, {}]
    for mean, rows in zip(means, (stored, now), strict=True):
        for _, _, _, size, clusterer, _, acc, _ in rows:
            mean.setdefault((size, clusterer), []).append(acc)
    pairs = [(np.mean(own), np.mean(means[1].get(key, np.nan))) for key, own in means[0].items()]
    return float(np.max([100 * abs(first - second) for first, second in pairs]))


def _again(row, here, outcome, *rest):
    return Again(row["dataset"], row["method"], row["params"], here, Identity.stored(row), outcome, *rest)


def _share(stored, now):
    if np.isnan(stored) or np.isnan(now):
        return 0.0 if np.isnan(stored) and np.isnan(now) else np.inf
    return abs(now - stored) / max(abs(stored), np.finfo(float).tiny)


def _kept(stored, now):
    for size, features in stored.items():
        yield len(set(features) & set(now[size])) / size


def failures(found):
    """Return the fits that speak against the stored ones.

    Where code, packages and machine are the same, all that has not the same bytes; where only the code is another, the
    same, as nobody has said yet that the numbers changed; with other packages what is not within the bounds.  Fits
    under another arithmetic neither speak against the stored ones nor for them.
    """
    return [
        one
        for one in found
        if one.outcome == OTHER or (one.outcome == WITHIN and one.here.versions == one.stored.versions)
    ]


def stamp(study, found):
    """Note in a shipped study the cells of other code whose fits all had the same bytes; return their number."""
    cells = {}
    for one in found:
        cells.setdefault((one.dataset, one.method), []).append(one)
    path = reference.SHIPPED / study.own_name / reference.STAMPS
    new = []
    for (dataset, method), fits in sorted(cells.items()):
        first = fits[0]
        same = all(one.outcome == SAME and one.here.versions == one.stored.versions for one in fits)
        if not same or first.expected_same or not first.here.code_fit:
            continue
        codes = (first.stored.code_fit, first.stored.code_evaluation, first.here.code_fit, first.here.code_evaluation)
        stamps = reference.stamped(study.own_name, dataset, method)
        if codes[2:] in stamps.get(codes[:2], ()):
            continue
        today = datetime.now(UTC).date().isoformat()
        new.append((dataset, method, *codes, f"{len(fits)} fits", today))
    if new:
        write_rows(path, STAMP, [*(row.values() for row in reference.stamps(study.own_name)), *new])
    return len(new)
