"""Selectors that misbehave: where `gain` is 2, a fit of `Misbehaving` does what its method called `what` does.

A module of its own, so that every worker finds it, however early it was started.
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import numba
import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import at_least


def sleep(*_):
    time.sleep(100)


class Misbehaving(BaseSelector):
    bounds = {"gain": at_least(0)}  # noqa: RUF012

    def __init__(self, n_features_to_select=None, *, gain=1.0, what="", file="", random_state=None):
        self.n_features_to_select, self.gain, self.what, self.file = n_features_to_select, gain, what, file
        self.random_state = random_state

    def _solve(self, X, rng):
        if self.what == "write":
            X[:] = 0
        elif self.what and self.gain == 2:
            getattr(self, self.what)()
        labels = (X[:, 0] > X[:, 0].mean()).astype(int)
        return Solution(self.gain * X.var(axis=0) + rng.uniform(size=X.shape[1]), labels=labels)

    def fail(self):
        raise RuntimeError('two, is\nnot "allowed"')

    def take_longer(self):
        time.sleep(2)

    def hang(self):
        sleep()

    def count(self):
        while True:
            pass

    def count_on(self):
        """Catch what ends it, once."""
        try:
            self.count()
        except BaseException:
            self.count()

    def decompose(self):
        """Stay in compiled code that gives Python's lock away."""
        A = np.ones((2000, 2000))
        while True:
            np.linalg.eigh(A + A.T)

    def spin(self):
        """Hold Python's lock, so that no thread of the process can run."""

        @numba.njit
        def spin(rounds):
            total = 0.0
            for index in range(rounds):
                total += np.sin(index)
            return total

        spin(1)
        if self.file:
            Path(self.file).touch()
        spin(10**12)

    def allocate_much(self):
        np.ones((60_000, 60_000)).sum()

    def allocate(self):
        sleep([np.ones(2**20) for _ in range(200)])

    # --- ends of the process

    def exit(self):
        sys.exit()

    def exit_with_words(self):
        sys.exit("enough")

    def exit_natively(self):
        ctypes.CDLL(None)._exit(3)

    def segfault(self):
        ctypes.string_at(0)

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Various(Misbehaving):
    """Misbehaves in one of seven ways where `gain` is 2 to 8."""

    ways = ("segfault", "exit_natively", "count", "decompose", "allocate_much", "fail", "die")

    def _solve(self, X, rng):
        if 2 <= self.gain <= 8:
            getattr(self, self.ways[int(self.gain) - 2])()
        return super()._solve(X, rng)


class PerSize(Misbehaving):
    size_in_objective = True


class Silent(Misbehaving):
    def fit(self, X):
        self.ranking_ = np.arange(X.shape[1])
        self.n_features_to_select_ = X.shape[1]
        return self


class Writer(Misbehaving):
    def fit(self, X):
        X[:] = 0


class Checking(Misbehaving):
    def check_parameters(self, X):
        sys.exit("not this one")
