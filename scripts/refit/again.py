"""Run stored fits again, and compare all that is stored of them."""

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import FAILED, UNSCORED
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.messages import counted
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.tidy import SET, differing, distance, tidy
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.pool import run_all
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.refits import SENSITIVE, add_refits, data_of, is_sensitive, load_refits

# What counts as the same where packages, machine or code differ: the objective as a share of itself, and the share of
# the selected features that both have.  Rounding alone moves an objective by 1e-9 and a choice among near ties.
OBJECTIVE, SELECTED = 1e-3, 0.9
SPREADS = 2  # of a fit whose spread is known: so many times what one moved X makes of it
ERRORS = 1.0  # standard errors of a mean ACC: a fit that rounding moves further is sensitive
FAR = {"objective": np.inf, "selected": 0.0, "acc": np.inf, "errors": np.inf}
NEAR = {"objective": 0.0, "selected": 1.0, "acc": 0.0, "errors": 0.0}
SPREAD = {"kept": "selected", "acc_moved": "acc", "acc_errors": "errors", "objective_moved": "objective"}  # as stored
MOVE, MOST_SHOWN = 1e-14, 20


@dataclass(frozen=True)
class Again:
    """A stored fit that was run again."""

    row: dict = field(compare=False)  # the stored trial
    stored: Identity
    here: Identity | None = None  # the identity of the fit now; None where it was not run
    reason: str = ""  # why it was not run
    # Differences: of the objective as a share of the stored one, the smallest share of features that both selected over
    # the sizes, and the largest of a mean ACC, in points and in standard errors of that mean.
    distance: dict = field(default_factory=lambda: NEAR)
    differs: tuple = ()  # the columns of the tidy frame that are not the same
    rows: pd.DataFrame | None = field(default=None, compare=False)  # of the tidy frame, now
    spread: dict | None = None  # how far rounding alone moves the fit, a distance

    @property
    def is_comparable(self):
        """True where the fit was run, and the arithmetic is that of the stored fit, so that bytes can be compared."""
        return self.here is not None and self.here.same_arithmetic(self.stored)

    @property
    def is_same(self):
        """True where every byte is that of the stored fit."""
        return self.is_comparable and not self.differs

    @property
    def within(self):
        """True where objective, features and ACC are within the bounds, or within twice what rounding alone moves."""
        spread, own = self.spread or NEAR, self.distance
        return (
            own["objective"] <= max(OBJECTIVE, SPREADS * spread["objective"])
            and 1 - own["selected"] <= max(1 - SELECTED, SPREADS * (1 - spread["selected"]))
            and own["errors"] <= max(ERRORS, SPREADS * spread["errors"])
        )

    @property
    def is_wrong(self):
        """True where the fit speaks against the stored one.

        Of the same packages and machine that is every other byte, whatever the code, as nobody has said yet that the
        numbers changed; of other packages or another arithmetic, what is not within the bounds.
        """
        if self.here is None or self.is_same:
            return False
        return not self.within or (self.is_comparable and self.here.versions == self.stored.versions)

    @property
    def elsewhere(self):
        """Return what of code, packages and machine is not that of the stored fit; "" where all is."""
        return self.here.difference(self.stored)

    def __str__(self):
        """Return which fit it is, and its distance from the stored one."""
        own = self.distance
        numbers = f"objective {own['objective']:.2g}, {own['selected']:.0%} of the features, ACC {own['acc']:.1f}"
        of = f"{self.row['method']} on {self.row['dataset']} {self.row['params']}"
        return f"{of}: {numbers} points; {', '.join(self.differs)} {self.reason}".rstrip("; ")


def draw(trials, fits, seed=0, longest=None):
    """Return so many scored trials at random, of fits of at most `longest` seconds."""
    drawn = trials[~trials["status"].isin(UNSCORED)]
    drawn = drawn if longest is None else drawn[drawn["fit_s"] <= longest]
    drawn = drawn.iloc[np.random.default_rng(seed).permutation(len(drawn))].head(fits)
    return drawn.sort_values(["dataset", "method", "params", "sizes"], kind="stable")


def run_again(study, drawn, n_jobs=1, say=print):
    """Run the fits of `draw` again, and yield an `Again` for each; `say` gets a line a cell."""
    sets = dict(iter(study.whole[study.whole["trial"].isin(drawn["trial"])].groupby("trial")))
    for row, outcome, reason in fitted_anew(study, drawn, n_jobs, say=say):
        yield compare(sets[row["trial"]], outcome) if outcome else Again(row, Identity.stored(row), reason=reason)


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
                for ended in run_all([trial for _, trial in asked.values()], given, n_jobs):
                    yield from ((asked[outcome.trial["trial"]][0], outcome, "") for outcome in ended)


def compare(sets, outcome):
    """Return the `Again` of a stored trial, its rows of the tidy frame, and of the `Outcome` of the same trial now."""
    row, now = sets.iloc[0].to_dict(), outcome.trial
    found = Again(row, Identity.stored(row), Identity.stored(now))
    if now["status"] in UNSCORED or row["status"] in UNSCORED:
        if row["status"] == now["status"] == FAILED and row["error"] == now["error"]:
            return found
        reason = now["error"] or f"it was {row['status']}"
        return replace(found, reason=reason, differs=("status",), distance=FAR)
    sets, rows = sets.sort_values(SET[1:], ignore_index=True), tidy([now])
    return replace(found, rows=rows, differs=tuple(differing(sets, rows)), distance=distance(sets, rows))


def moved(X):
    """Return a copy of X in which every value is 1e-14 of itself larger or smaller, by a seeded pattern of signs."""
    values = X.data if issparse(X) else X
    other = values * (1 + MOVE * np.random.default_rng(0).choice([-1.0, 1.0], size=values.shape))
    if not issparse(X):
        return other
    X = X.copy()
    X.data = other
    return X


def with_spreads(study, found, n_jobs=1, say=print):
    """Fit what was run again once more, on a moved X; store and return how far that moves each."""
    ran = {one.row["trial"]: one for one in found if one.rows is not None}
    again = fitted_anew(study, study.trials[study.trials["trial"].isin(list(ran))], n_jobs, moved)
    spreads, rows = {}, []
    for row, outcome, _ in again:
        one = ran[row["trial"]]
        failed = outcome.trial["status"] in UNSCORED
        spread = spreads[row["trial"]] = FAR if failed else distance(one.rows, tidy([outcome.trial]))
        identity = one.here if one.elsewhere else one.stored
        rows.append((row["trial"], row["dataset"], row["method"], *map(spread.get, SPREAD.values()), identity.name))
        if is_sensitive(spread["selected"], spread["errors"]):
            say(f"  SENSITIVE: moved by rounding, {replace(one, distance=spread, differs=())}")
    add_refits(study, SENSITIVE, rows)
    return [replace(one, spread=spreads.get(one.row["trial"])) for one in found]


def with_stored_spreads(study, found):
    """Return fits that were run again with the spreads that are stored of them."""
    stored = load_refits(study, SENSITIVE).rename(columns=SPREAD).set_index("trial")[list(NEAR)].to_dict("index")
    return [replace(one, spread=stored.get(one.row["trial"])) for one in found]


def answer(studies, options):
    """Run fits of studies again, print what came out, and fail where it speaks against what is stored."""
    load_engine()
    fits = -(-options["fits"] // len(studies))
    found = [one for study in studies for one in _one(study, fits, options)]
    if not (n_ran := sum(one.here is not None for one in found)):
        raise ValueError("no stored fit was run again, so this says nothing: ask for others.")
    if n_wrong := sum(one.is_wrong for one in found):
        raise ValueError(
            f"{n_wrong} of {counted(n_ran, 'fit')} run again {'is' if n_wrong == 1 else 'are'} out of bounds: run "
            "their cells again and ship them, or find out why."
        )
    print(f"{counted(n_ran, 'fit')} run again: none is out of bounds.")


def _one(study, fits, options):
    drawn = draw(study.trials, fits, options["seed"], options["longest"])
    print(f"Study {study.title}: {len(drawn)} of {len(study.trials)} fits")
    found = list(run_again(study, drawn, options["n_jobs"], say=lambda line: print(f"  {line}", flush=True)))
    found = with_spreads(study, found, options["n_jobs"]) if options["sensitive"] else with_stored_spreads(study, found)
    ran = [one for one in found if one.here is not None]
    comparable, others = [one for one in ran if one.is_comparable], [one for one in ran if not one.is_same]
    n_same = sum(one.is_same for one in ran)
    print(f"  {n_same} of {len(comparable)} have the same bytes: all columns but those of the run")
    if len(ran) > len(comparable):
        print(f"  {len(ran) - len(comparable)} are of another arithmetic: bytes cannot be compared")
    if others:
        far = pd.DataFrame([one.distance for one in others])
        print(
            f"  {sum(one.within for one in others)} of {len(others)} others are within bounds: objective "
            f"{OBJECTIVE:g}, {SELECTED:.0%} of the features, and ACC {ERRORS:g} standard error; at most they differ "
            f"by {far['objective'].max():.2g}, {1 - far['selected'].min():.0%} and {far['acc'].max():.1f} points"
        )
    for reason, count in Counter(one.reason for one in found if one.here is None).items():
        print(f"  {count} not run: {reason}")
    for why, count in Counter(one.elsewhere for one in ran if one.elsewhere).items():
        print(f"  {count} are stored under another identity: {why}")
    for one in [one for one in ran if one.is_wrong][:MOST_SHOWN]:
        print(f"  OTHER: {one}")
    return found
