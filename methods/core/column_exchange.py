"""Exchanges of columns: a set of them in which no other can take the place of a single one with profit."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from ufs_bench.methods.core.column_subset import SPANNED, Gains, first_of_best, grow, ratio

WORTHWHILE = 1e-9  # share of F by which a swap must lower it
NOTHING = 1e-14  # share of ||X||_F^2: an F below it is known to fewer digits than a swap must gain


@dataclass(frozen=True)
class State:
    """Linearly independent features, in the order of their places, and F."""

    features: tuple
    value: float


class Problem:
    """F over the sets of h columns of A; `residual` belongs to the state that was made last.

    `worthwhile` is the share of F by which a swap must lower it.
    """

    def __init__(self, A, h, worthwhile=WORTHWHILE):
        self.A, self.h, self.worthwhile = A, h, worthwhile
        self.residual = Gains(A)
        self.size = self.residual.total

    def start(self, features):
        """Return the state with those of the features that are independent, filled up greedily."""
        chosen = []
        for j in features:
            if self.residual.left[j] > 0:
                self.residual.take(j)
                chosen.append(int(j))
        more, _ = grow(self.residual, self.h - len(chosen))
        return State((*chosen, *more), self.residual.total)

    def sweep(self, state):
        """Return the state after each feature has given way to the best one, where that is worthwhile."""
        if state.value <= NOTHING * self.size:
            return state
        features = np.array(state.features)
        rows = pseudo_inverse(self.A[:, features])
        swapped = [self._swap(features, rows, place) for place in range(len(features))]
        return State(tuple(features.tolist()), self.residual.total) if any(swapped) else state

    def scores(self, state):
        """Return the `scores_` of a state."""
        if self.size == 0:
            return np.zeros(self.A.shape[1])
        nothing = state.value <= NOTHING * self.size
        scores = (self.residual.sizes if nothing else self.residual.values()) / self.size
        features = np.array(state.features)
        rows = pseudo_inverse(self.A[:, features])
        lost = (rows / np.linalg.norm(rows, axis=1, keepdims=True)) @ self.A
        scores[features] = 1 + np.einsum("ij,ij->i", lost, lost) / self.size
        return scores

    def _swap(self, features, rows, place):
        """Put the best feature in a place; return whether it is another one.  `features` and `rows` are changed."""
        residual, old, row = self.residual, features[place], rows[place].copy()
        residual.values()  # computed anew in time
        unit = row / np.linalg.norm(row)
        along = unit @ self.A
        left = residual.left + along**2
        left[left <= SPANNED * residual.sizes] = 0.0
        others = np.delete(features, place)
        left[others] = 0.0
        gains = ratio(residual.numerators + residual.change(unit, along), left)
        new = first_of_best(gains)
        if not gains[new] - gains[old] > self.worthwhile * residual.total:
            return False
        rows -= np.outer(rows @ row / (row @ row), row)
        residual.restore(unit, along)
        residual.left[others] = 0.0
        residual.columns[others] = 0.0
        joins = residual.columns[new] / residual.left[new]
        residual.take(new)
        rows -= np.outer(rows @ self.A[:, new], joins)
        features[place], rows[place] = new, joins
        return True


def pseudo_inverse(C):
    """Return C+ for linearly independent columns."""
    Q, R = qr(C, mode="economic")
    return solve_triangular(R, Q.T)
