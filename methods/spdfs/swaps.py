"""Features whose principal submatrix has large eigenvalues: blocks are swapped, then one or two features."""

from itertools import combinations
from math import comb

import numpy as np
from scipy.linalg import eigh, eigvalsh

WORTHWHILE = 1e-7  # share of the squared data by which a swap must raise the sum
PAIR_WORK = 2e8  # cubes of the number of features that exchanges of two may take
FEW = 5000  # sets of features, of which all are looked at
PRODUCTS = 0.2  # of the work of eigendecompositions, for an entry and a feature of a product
TRIED = 3  # features that may join, the most promising ones, for each that may leave


class Gains:
    """The sum of the largest eigenvalues of B = X'QX on some features, and what swaps do to it.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    QX : ndarray of shape (n_samples, n_features)
    n_vectors : int
        How many eigenvalues are summed.
    B : ndarray of shape (n_features, n_features), optional
        Where there are so few features that its rows are at hand.

    Attributes
    ----------
    work : float
        What was done: the cube of the number of features for an eigendecomposition, and what products take.
    """

    def __init__(self, X, QX, n_vectors, B=None):
        self.X, self.QX, self.n_vectors, self.B, self.work = X, QX, n_vectors, B, 0.0
        self.diagonal = np.einsum("ij,ij->j", X, QX)

    def rows(self, features, columns=slice(None)):
        """Return the rows of B of these features, in all columns or some."""
        if self.B is not None:
            return self.B[features][:, columns]
        QX = self.QX[:, columns]
        self.work += PRODUCTS * QX.size * len(features)
        return self.X[:, features].T @ QX

    def total(self, features):
        """Return the sum of the largest eigenvalues on these features."""
        B, size = self.rows(features, features), len(features)
        self.work += size**3
        return eigvalsh((B + B.T) / 2, subset_by_index=(size - self.n_vectors, size - 1)).sum()

    def by_blocks(self, features):
        """Swap blocks, from a quarter of the features down to one, as long as the sum rises."""
        if self.n_vectors == len(features):  # the sum is that of the diagonal
            return np.sort(np.argsort(-self.diagonal, kind="stable")[: len(features)])
        size = min(max(1, len(features) // 4), len(self.diagonal) - len(features))
        now, least = self.total(features), WORTHWHILE * len(features)
        leaving, joining = self._promising(features)
        while size >= 1:
            candidate = np.sort(np.concatenate([features[leaving[size:]], joining[:size]]))
            there = self.total(candidate)
            if there > now + least:
                features, now = candidate, there
                leaving, joining = self._promising(features)
            else:
                size //= 2
        return features

    def _promising(self, features):
        """Return places of features, those first that may leave, and features, those first that may join."""
        rows = self.rows(features)
        within = rows[:, features]
        values, vectors = eigh((within + within.T) / 2)
        self.work += len(features) ** 3
        values, vectors = values[-self.n_vectors :], vectors[:, -self.n_vectors :]
        gains = _increase(values, (vectors.T @ rows) ** 2, self.diagonal).sum(axis=0)
        gains[features] = -np.inf
        leaving = np.argsort(np.einsum("ij,ij->i", vectors, vectors), kind="stable")
        return leaving, np.argsort(-gains, kind="stable")

    def single(self, features):
        """Return the first swap of one feature that raises the sum, or the features as they are.

        For every one that leaves the `TRIED` with the largest bounds of the rise are looked at; those with the smallest
        rows in the eigenvectors leave first.
        """
        if self.n_vectors == len(features) or len(features) == len(self.diagonal):
            return features
        now, least = self.total(features), WORTHWHILE * len(features)
        rows = self.rows(features)
        outside = np.setdiff1d(np.arange(len(self.diagonal)), features)
        within = rows[:, features]
        vectors = eigh((within + within.T) / 2, subset_by_index=(len(features) - self.n_vectors, len(features) - 1))[1]
        for place in np.argsort(np.einsum("ij,ij->i", vectors, vectors), kind="stable"):
            stay = np.delete(np.arange(len(features)), place)
            within = rows[np.ix_(stay, features[stay])]
            values, vectors = eigh((within + within.T) / 2)
            self.work += len(features) ** 3
            squares = (vectors.T @ rows[stay][:, outside]) ** 2
            bounds = _bounds(values[::-1], squares[::-1], self.diagonal[outside], self.n_vectors)
            needed = now + least - values[-self.n_vectors :].sum()
            for new in np.argsort(-bounds, kind="stable")[:TRIED]:
                if bounds[new] <= needed:
                    break
                candidate = np.sort(np.append(features[stay], outside[new]))
                if self.total(candidate) > now + least:
                    return candidate
        return features

    def pairs(self, features):
        """Return the best exchange of two features that raises the sum, or the features as they are.

        Those with the smallest rows in the eigenvectors may leave, those with the largest gains may join: all, or as
        many as `PAIR_WORK` allows.  Where there are `FEW` sets in all, the best of them.
        """
        size, others = len(features), np.setdiff1d(np.arange(len(self.diagonal)), features)
        side = int((4 * PAIR_WORK / size**3) ** 0.25)  # so that side^4 / 4 pairs of pairs are looked at
        if self.n_vectors == size or not len(others):
            return features
        now = self.total(features) + WORTHWHILE * size
        if comb(len(self.diagonal), size) <= FEW:
            return self._best_of(np.array(list(combinations(range(len(self.diagonal)), size))), features, now)[0]
        if min(size, len(others), side) < 2:
            return features
        leaving, joining = self._promising(features)
        join = np.array(list(combinations(joining[: min(side, len(others))], 2)))
        best = features
        for leave in combinations(leaving[:side], 2):
            stay = np.broadcast_to(np.delete(features, leave), (len(join), size - 2))
            best, now = self._best_of(np.hstack([stay, join]), best, now)
        return best

    def _best_of(self, sets, best, now):
        """Return the set of the largest sum, and that sum, where it is above `now`."""
        used, place = np.unique(sets, return_inverse=True)
        self.work += sets.shape[0] * sets.shape[1] ** 3
        B, place = self.rows(used, used), place.reshape(sets.shape)
        totals = np.linalg.eigvalsh(((B + B.T) / 2)[place[:, :, None], place[:, None, :]])
        totals = totals[:, -self.n_vectors :].sum(axis=1)
        return (np.sort(sets[totals.argmax()]), totals.max()) if totals.max() > now else (best, now)


def _increase(values, squares, diagonal):
    """Return the rise of each eigenvalue alone when a feature joins: of [[v, z], [z, b]] the larger one, less v."""
    apart = values[:, None] - diagonal
    return (np.sqrt(apart**2 + 4 * squares) - apart) / 2


def _bounds(values, squares, diagonal, n_vectors):
    """Return upper bounds of the rise of the sum of the largest eigenvalues when a feature joins.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Eigenvalues, largest first.
    squares : ndarray of shape (k, n_outside)
        Squared components of the columns that join along the eigenvectors.
    diagonal : ndarray of shape (n_outside,)
    n_vectors : int

    Notes
    -----
    The l-th new eigenvalue t solves t - v_l = z_l^2 / (t - b - s(t)), s(t) the sum of z_p^2 / (t - v_p) over the
    others, and s falls with t: s(v_l) in its place gives a bound.  Nor does t pass v_{l-1}.
    """
    apart = values[:n_vectors, None] - values
    np.fill_diagonal(apart, np.inf)
    with np.errstate(divide="ignore"):
        inverse = np.where(apart == 0, 0.0, 1 / apart)  # for equal eigenvalues the limit below is 0
    others = inverse @ squares
    rises = _increase(values[:n_vectors], squares[:n_vectors], diagonal + others)
    limits = -np.diff(values[:n_vectors], prepend=np.inf)
    return np.minimum(rises, limits[:, None]).sum(axis=0)
