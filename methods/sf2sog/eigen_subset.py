"""The h features whose principal submatrix has the smallest eigenvalues, by block swaps, until no single one helps."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from ufs_bench.methods.sf2sog.exchange import Exchange

ROUNDING = 1e-13  # share of the squared data to which a sum of eigenvalues is known
WORTHWHILE = 1e-6  # share by which a swap must lower the sum, so that rounding swaps nothing


@dataclass(frozen=True)
class Subset:
    """Features, increasing, and the c smallest eigenvalues and eigenvectors (h, c) of their principal submatrix.

    `floor` is the rounding error of the sum of the values: a sum below it counts as zero.
    """

    features: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    floor: float

    @property
    def total(self):
        """Sum of the eigenvalues; exactly 0 up to the floor."""
        total = float(np.maximum(self.values, 0.0).sum())
        return total if total > self.floor else 0.0


class Quadratic:
    """The matrix B = X'Q, of which only the parts asked for are computed; positive semidefinite, X'X - B as well."""

    def __init__(self, X, Q):
        self.X, self.Q = X, Q
        self.squares = np.einsum("ij,ij->j", X, X)
        self.diagonal = np.maximum(np.einsum("ij,ij->j", X, Q), 0.0)

    def rows(self, features):
        """Return the rows of B of these features, of shape (len(features), n_features)."""
        return self.X[:, features].T @ self.Q

    def subset(self, features, n_vectors, rows=None):
        """Return the `Subset` of these features; `rows` are theirs, in increasing order, where they are known."""
        features = np.sort(features)
        B = self.X[:, features].T @ self.Q[:, features] if rows is None else rows[:, features]
        values, vectors = eigh((B + B.T) / 2, subset_by_index=(0, n_vectors - 1))
        return Subset(features, values, vectors, ROUNDING * float(self.squares[features].sum()))

    def gains(self, subset):
        """Return, for every feature outside, the summed falls of the eigenvalues if it joined each eigenvector alone.

        The smaller eigenvalue of [[lambda_k, b], [b, B_jj]] is below lambda_k by (sqrt(D^2 + 4 b^2) - D) / 2 with
        D = B_jj - lambda_k and b = B_jS w_k.  Zero for the features of the subset.
        """
        b = self.X.T @ (self.Q[:, subset.features] @ subset.vectors)
        D = self.diagonal[:, None] - subset.values
        gains = ((np.sqrt(D**2 + 4 * b**2) - D) / 2).sum(axis=1)
        gains[subset.features] = 0.0
        return gains


def swapped(B, subset):
    """Swap features until no single swap lowers the sum of the smallest eigenvalues by a worthwhile share.

    First blocks: the p features with the smallest rows in the eigenvectors leave for the p outside with the largest
    `Quadratic.gains`; p begins at h / 4 and is halved when the block does not lower the total.  Then one feature at a
    time gives its place to another, if any is better (`exchange.Exchange`), until none of them can.
    """
    size = min(max(1, subset.vectors.shape[0] // 4), len(B.diagonal) - subset.vectors.shape[0])
    while size >= 1:
        better = _better_block(B, subset, size)
        if better is None:
            size //= 2
        else:
            subset = better
    return _settled(B, subset)


def _better_block(B, subset, size):
    """Return the swap of a block of this size, or None where it is not worthwhile."""
    weight = np.einsum("ij,ij->i", subset.vectors, subset.vectors)
    gains = B.gains(subset)
    gains[subset.features] = -1.0
    kept = subset.features[np.argsort(weight, kind="stable")[size:]]
    joining = np.argsort(-gains, kind="stable")[:size]
    candidate = B.subset(np.concatenate([kept, joining]), subset.vectors.shape[1])
    return candidate if candidate.total < (1 - WORTHWHILE) * subset.total else None


def _settled(B, subset):
    """Replace features until none of them can be, in turn from the one with the smallest row in the eigenvectors."""
    weight = np.einsum("ij,ij->i", subset.vectors, subset.vectors)
    queue = deque(subset.features[np.argsort(weight, kind="stable")].tolist())
    rows = B.rows(subset.features)
    exchange = None
    in_vain = 0  # since the last swap
    while in_vain < len(queue) and subset.total > 0:
        if exchange is None:
            exchange = Exchange(rows, subset.features, B.diagonal, subset.vectors.shape[1])
        old = queue.popleft()
        better = _replacement(B, exchange, subset, rows, old)
        if better is None:
            queue.append(old)
            in_vain += 1
            continue
        subset, rows, new = better
        queue.append(new)
        # The one that joined is the best of its block of columns, and a later block may have a better one.
        exchange, in_vain = None, 0
    return subset


def _replacement(B, exchange, subset, rows, old):
    """Return the subset with another feature in the place of `old`, the rows of B for it, and that feature.

    None where no other lowers the total worthwhile.
    """
    leaving = int(np.searchsorted(subset.features, old))
    kept, enough = np.delete(subset.features, leaving), (1 - WORTHWHILE) * subset.total
    for new in exchange.joining(leaving, enough):
        place = np.searchsorted(kept, new)
        others = np.insert(np.delete(rows, leaving, axis=0), place, B.rows([new]), axis=0)
        candidate = B.subset(np.insert(kept, place, new), subset.vectors.shape[1], others)
        if candidate.total < enough:
            return candidate, others, new
    return None
