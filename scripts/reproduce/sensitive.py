"""Fits that rounding alone moves: each is fitted once more, on an X that is moved by 1e-14 of itself."""

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.runners.store.differences import distance
from ufs_bench.scripts.core.refits import SENSITIVE, add_refits, is_sensitive, load_refits
from ufs_bench.scripts.reproduce import NOT_RUN, fitted_anew, rows_now

MOVE, SEED = 1e-14, 0
PARTS = ("selected", "acc", "errors", "objective")  # in the order of the columns of sensitive.csv


def moved(X):
    """Return a copy of X in which every value is 1e-14 of itself larger or smaller, by a seeded pattern of signs."""
    values = X.data if issparse(X) else X
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size=values.shape)
    other = values * (1 + MOVE * signs)
    if not issparse(X):
        return other
    X = X.copy()
    X.data = other
    return X


def check(study, found, n_jobs=1, say=print):
    """Fit what `reproduce` has fitted once more, on a moved X; store and return how far each is from it."""
    ran = {one.trial: one for one in found if one.outcome != NOT_RUN and one.rows is not None}
    again = fitted_anew(study, study.trials[study.trials["trial"].isin(list(ran))], n_jobs, moved)
    spreads = {row["trial"]: _spread(ran[row["trial"]].rows, outcome) for row, outcome, _ in again}
    rows = []
    for key, spread in spreads.items():
        one = ran[key]
        where, name = (key, one.dataset, one.method), (one.stored if one.expected_same else one.here).name
        rows.append((*where, *(spread[part] for part in PARTS), name))
        if is_sensitive(spread["selected"], spread["errors"]):
            say(
                f"  SENSITIVE: {one.method} on {one.dataset} {one.params}: moved by rounding, it keeps "
                f"{spread['selected']:.0%} of its features, and ACC moves by {spread['acc']:.1f} points, "
                f"{spread['errors']:.1f} standard errors"
            )
    add_refits(study, SENSITIVE, rows)
    return [replace(one, spread=spreads[one.trial]) if one.trial in spreads else one for one in found]


def known(study, found):
    """Return fits that were run again with the spreads that are stored of them."""
    stored = load_refits(study, SENSITIVE)
    spreads = {key: dict(zip(PARTS, own, strict=True)) for key, _, _, *own, _ in stored.itertuples(index=False)}
    return [replace(one, spread=spreads.get(one.trial, {})) for one in found]


def _spread(rows, outcome):
    """Return the distance between a fit and the fit on a moved X; a fit that fails there keeps nothing."""
    if outcome.trial["status"] in UNSCORED:
        return {"objective": np.inf, "selected": 0.0, "acc": np.inf, "errors": np.inf}
    return distance(rows, rows_now(outcome))
