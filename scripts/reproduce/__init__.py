"""Run stored fits again and compare: ``python -m scripts.reproduce --help``."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import FAILED, UNSCORED
from ufs_bench.runners.code import CodeChanged
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.differences import differing, distance
from ufs_bench.runners.store.files import write_rows
from ufs_bench.runners.store.folder import Results
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import FACTS, MEASURES, SCORES, TRACES
from ufs_bench.runners.store.tidy import SET, tidy
from ufs_bench.runners.words import counted
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.pool import run_all
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.data import data_of

# What counts as the same where packages, machine or code differ: the objective as a share of itself, and the share of
# the selected features that both have.  Rounding alone moves an objective by 1e-9 and a choice among near ties.
OBJECTIVE, SELECTED = 1e-3, 0.9
SPREADS = 2  # of a fit whose spread is known: so many times what one moved X makes of it
ERRORS = 1.0  # standard errors of a mean ACC: a fit that rounding moves further is sensitive
SAME, WITHIN, OTHER, NOT_RUN = "same bytes", "within bounds", "other", "not run"
ELSEWHERE = "of other arithmetic"  # the fingerprint of their machine is another, or unknown: bytes cannot be compared
STAMP = "dataset method old_fit old_evaluation new_fit new_evaluation sample date".split()


@dataclass(frozen=True)
class Again:
    """A stored fit that was run again."""

    dataset: str
    method: str
    params: str
    trial: str
    here: Identity | None  # the identity of the fit now; None where it was not run
    stored: Identity
    outcome: str  # one of the five words above
    reason: str = ""  # why it was not run
    objective: float = 0.0  # difference as a share of the stored one
    selected: float = 1.0  # smallest share of features that both selected, over the sizes
    acc: float = 0.0  # largest difference of a mean ACC, in points
    errors: float = 0.0  # and in standard errors of that mean
    differs: tuple = ()  # the columns of the tidy frame that are not the same
    rows: pd.DataFrame | None = field(default=None, compare=False)  # of the tidy frame, now
    spread: dict = field(default_factory=dict)  # how far rounding alone moves the fit, of `sensitive`

    @property
    def within(self):
        """True where objective, features and ACC are within the bounds, or within twice what rounding alone moves."""
        own = {name: SPREADS * value for name, value in self.spread.items()}
        lost = SPREADS * (1 - self.spread["selected"]) if own else 0.0
        return (
            self.objective <= max(OBJECTIVE, own.get("objective", 0.0))
            and 1 - self.selected <= max(1 - SELECTED, lost)
            and self.errors <= max(ERRORS, own.get("errors", 0.0))
        )

    @property
    def words(self):
        """The distance of the fit from the stored one, in words."""
        numbers = f"objective {self.objective:.2g}, {self.selected:.0%} of the features, ACC {self.acc:.1f} points"
        return f"{numbers}; {', '.join(self.differs)} {self.reason}".rstrip("; ")

    @property
    def expected_same(self):
        """True where code, packages and machine are those of the stored fit."""
        return self.here is not None and not self.here.difference(self.stored)


def draw(trials, fits, seed=0, longest=None, per_cell=None):
    """Return so many scored trials at random, or `per_cell` of every cell, of fits of at most `longest` seconds."""
    drawn = trials[~trials["status"].isin(UNSCORED)]
    if longest is not None:
        drawn = drawn[drawn["fit_s"] <= longest]
    drawn = drawn.iloc[np.random.default_rng(seed).permutation(len(drawn))]
    drawn = drawn.groupby(["dataset", "method"]).head(per_cell) if per_cell else drawn.head(fits)
    return drawn.sort_values(["dataset", "method", "params", "sizes"], kind="stable")


def reproduce(study, drawn, n_jobs=1, say=print):
    """Run the fits of `draw` again, and yield an `Again` for each; `say` gets a line a cell."""
    sets = dict(iter(study.whole[study.whole["trial"].isin(drawn["trial"])].groupby("trial")))
    for row, outcome, reason in fitted_anew(study, drawn, n_jobs, say=say):
        yield compare(sets[row["trial"]], outcome) if outcome else _again(row, None, NOT_RUN, reason)


def fitted_anew(study, trials, n_jobs=1, change=lambda X: X, say=lambda line: None):
    """Fit trials of a study anew, on `change(X)`; yield (row, `Outcome`, "") of each, or (row, None, why not)."""
    for dataset, of_data in trials.groupby("dataset"):
        data, reason = data_of(of_data, study.data_dir)
        for method, cell in of_data.groupby("method"):
            say(f"{method} on {dataset}: {counted(len(cell), 'fit')}")
            content, asked = find("method", method), {}
            for row in cell.to_dict("records"):
                if trial := stored_trial(row, content["target"]) if content and data is not None else None:
                    asked[trial.key] = row, trial
                else:
                    yield row, None, reason or "conf/method has it no more, or gives it another key."
            if asked:
                scaled = Data.scaled(data, Protocol.from_json(cell["protocol"].iloc[0]), method)
                given = Data(scaled.X, scaled.y, change(scaled.fitted_on))  # K-means sees the data as they are
                yield from ((asked[one.trial["trial"]][0], one, "") for one in _run(asked.values(), given, n_jobs))


def _run(asked, data, n_jobs):
    try:
        for ended in run_all([trial for _, trial in asked], data, n_jobs):
            yield from ended
    except CodeChanged as error:
        raise ValueError(str(error)) from error


def compare(sets, outcome):
    """Return the `Again` of a stored trial, its rows of the tidy frame, and of the `Outcome` of the same trial now."""
    row = sets.iloc[0].to_dict()
    now, here = outcome.trial, Identity.stored(outcome.trial)
    if now["status"] in UNSCORED or row["status"] in UNSCORED:
        same = row["status"] == now["status"] == FAILED and row["error"] == now["error"]
        return _again(row, here, SAME if same else OTHER, now["error"] or f"it was {row['status']}")
    sets, rows = sets.sort_values(SET[1:], ignore_index=True), rows_now(outcome)
    differs = tuple(differing(sets, rows))
    found = _again(row, here, OTHER, "")
    found = replace(found, rows=rows, differs=differs, **distance(sets, rows))
    if not here.same_arithmetic(found.stored):
        return replace(found, outcome=ELSEWHERE)
    return replace(found, outcome=WITHIN if differs and found.within else OTHER if differs else SAME)


def rows_now(outcome):
    """Return the rows of the tidy frame that an outcome gives, in the order of size and clusterer."""
    parts = [[outcome.trial.values()], outcome.scores, outcome.traces, outcome.facts, outcome.measures]
    names = [outcome.trial, SCORES, TRACES, FACTS, MEASURES]
    frames = (pd.DataFrame(rows, columns=list(own)) for rows, own in zip(parts, names, strict=True))
    return tidy(Results(*frames)).sort_values(SET[1:], ignore_index=True)


def _again(row, here, outcome, *rest):
    where = row["dataset"], row["method"], row["params"], row["trial"]
    return Again(*where, here, Identity.stored(row), outcome, *rest)


def failures(found):
    """Return the fits that speak against the stored ones.

    Of the same packages and machine that is every other byte, whatever the code, as nobody has said yet that the
    numbers changed; of other packages or another arithmetic, what is not within the bounds.
    """
    return [
        one
        for one in found
        if one.outcome == OTHER
        or (one.outcome == WITHIN and one.here.versions == one.stored.versions)
        or (one.outcome == ELSEWHERE and not one.within)
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
