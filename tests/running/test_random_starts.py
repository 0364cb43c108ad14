"""The remains of a random start are counted at the fit."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.runners.workers.fit import reported

SIZE, AMONG = 20, 100


class Stuck(BaseSelector):
    """Select what a random start has, but for some features that are drawn anew."""

    def __init__(self, n_features_to_select=None, *, n_moved=0, random_state=None):
        super().__init__(n_features_to_select)
        self.n_moved = n_moved
        self.random_state = random_state

    def _solve(self, X, rng):
        order = rng.permutation(X.shape[1])
        start, others = np.split(order, [self.n_features_to_select_])
        chosen = np.r_[start[self.n_moved :], others[: self.n_moved]]
        return Solution(1.0 + np.isin(np.arange(X.shape[1]), chosen), learned={"start_": start})


def facts_of(n_moved, seed):
    X = np.random.default_rng(0).normal(size=(12, AMONG))
    return reported(Stuck(SIZE, n_moved=n_moved, random_state=seed).fit(X))


def test_a_fit_reports_how_much_of_its_random_start_it_selects():
    assert facts_of(0, 1) == {"n_scored": AMONG, "start_kept": SIZE, "start_size": SIZE, "start_among": AMONG}
    assert facts_of(3, 1)["start_kept"] == SIZE - 3
