"""The h features whose principal submatrix has the smallest eigenvalues, by block swaps, until no single one helps."""

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

ROUNDING = 1e-13  # of the squared data: what a sum of eigenvalues is computed to
WORTHWHILE = 1e-6  # share that a swap must lower the sum by
BISECTIONS = 30  # of a gap between eigenvalues
BLOCK = 2**18  # numbers in a temporary array: 2 MB


@dataclass(frozen=True)
class Subset:
    """Features and the smallest eigenvectors of their principal submatrix.

    Attributes
    ----------
    features : ndarray of shape (h,) of int
        Increasing.
    values : ndarray of shape (c,)
        The c smallest eigenvalues.
    vectors : ndarray of shape (h, c)
    floor : float
        What the sum of the values is computed to: below, it is zero.
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
    """The matrix B = X'Q, of which only the parts asked for are computed; positive semidefinite, X'X - B as well.

    Parameters
    ----------
    X, Q : ndarray of shape (n_samples, n_features)
    """

    def __init__(self, X, Q):
        self.X, self.Q = X, Q
        self.squares = np.einsum("ij,ij->j", X, X)
        self.diagonal = np.maximum(np.einsum("ij,ij->j", X, Q), 0.0)

    def rows(self, features):
        """The rows of B of these features, of shape (len(features), n_features)."""
        return self.X[:, features].T @ self.Q

    def subset(self, features, n_vectors):
        """The `Subset` of these features."""
        features = np.sort(features)
        B = self.X[:, features].T @ self.Q[:, features]
        values, vectors = eigh((B + B.T) / 2, subset_by_index=(0, n_vectors - 1))
        return Subset(features, values, vectors, ROUNDING * float(self.squares[features].sum()))

    def gains(self, subset):
        """By how much each feature outside would lower each eigenvalue if it joined with that vector alone, summed.

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

    Parameters
    ----------
    B : Quadratic
    subset : Subset
        The start.

    Returns
    -------
    Subset
        Its total is that of the start or less.

    Notes
    -----
    First blocks: the p features with the smallest rows in the eigenvectors leave for the p outside with the largest
    `Quadratic.gains`; p begins at h / 4 and is halved when the block does not lower the total.  Then one feature at a
    time gives its place to another, if any is better (`replacement`), until none of them can.
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
    """The swap of a block of this size, or None where it is not worthwhile."""
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
    rows = dict(zip(subset.features.tolist(), B.rows(subset.features), strict=True))
    in_vain = 0  # since the last swap
    while in_vain < len(queue) and subset.total > 0:
        old = queue.popleft()
        better = replacement(B, rows, subset, old)
        if better is None:
            queue.append(old)
            in_vain += 1
            continue
        (new,) = set(better.features.tolist()) - rows.keys()
        del rows[old]
        rows[new] = B.rows([new])[0]
        queue.append(new)
        subset, in_vain = better, 1
    return subset


def replacement(B, rows, subset, old):
    """The subset with another feature in the place of `old`, or None where no other lowers the total worthwhile.

    Parameters
    ----------
    B : Quadratic
    rows : dict of int to ndarray of shape (n_features,)
        The rows of B of the features of the subset.
    subset : Subset
    old : int

    Returns
    -------
    Subset or None

    Notes
    -----
    Let lambda_1 <= lambda_2 <= ... be the eigenvalues of B on the h - 1 features that stay, and z the column of another
    one in their eigenvectors.  What the c smallest lose when it joins is bounded for all of them at once (`_bounds`);
    those that may lose enough are evaluated, the most promising first.
    """
    stay = subset.features[subset.features != old]
    for new in _promising(B, rows, subset, stay):
        candidate = B.subset(np.append(stay, new), subset.vectors.shape[1])
        if candidate.total < (1 - WORTHWHILE) * subset.total:
            return candidate
    return None


def _promising(B, rows, subset, stay):
    """Features that seem to lower the total together with those that stay; none is left out that does."""
    outside = np.setdiff1d(np.arange(len(B.diagonal)), subset.features)
    n_vectors, diagonal = subset.vectors.shape[1], B.diagonal[outside]
    if n_vectors > len(stay):  # all eigenvalues are summed, and their sum is that of the diagonal
        yield from outside[np.argsort(diagonal, kind="stable")[:1]]
        return
    across = np.array([rows[feature] for feature in stay.tolist()])
    within = across[:, stay]
    values, vectors = eigh((within + within.T) / 2)
    needed = values[:n_vectors].sum() - (1 - WORTHWHILE) * subset.total
    if values[n_vectors - 1] <= needed:  # no eigenvalue falls below the one before
        return
    squares = (vectors.T @ across[:, outside]) ** 2
    bounds = _bounds(values, squares, diagonal, n_vectors)
    order = np.argsort(-bounds, kind="stable")[: np.count_nonzero(bounds > needed)]
    height = max(1, BLOCK // (n_vectors * len(stay)))
    for block in np.split(order, range(height, len(order), height)):
        falls = _falls(values, squares[:, block], diagonal[block], n_vectors)
        best = np.argsort(-falls, kind="stable")[: np.count_nonzero(falls > needed)]
        yield from outside[block[best]]


def _bounds(values, squares, diagonal, n_vectors):
    """How much less, at most, the n_vectors smallest eigenvalues sum to when a matrix is bordered by a column.

    Parameters
    ----------
    values : ndarray of shape (m,)
        lambda_1 <= lambda_2 <= ..., eigenvalues of a positive semidefinite matrix.
    squares : ndarray of shape (m, n_columns)
        z_k^2, the columns in its eigenvectors.
    diagonal : ndarray of shape (n_columns,)
        b, what the matrix then has at its new corner; it stays semidefinite.
    n_vectors : int
        In [1, m].

    Returns
    -------
    ndarray of shape (n_columns,)

    Notes
    -----
    The new eigenvalues mu_1 <= lambda_1 <= mu_2 <= lambda_2 ... solve ``b - mu = sum_l z_l^2 / (lambda_l - mu)``, or

        lambda_k - mu = z_k^2 / (b - mu - sum_{l != k} z_l^2 / (lambda_l - mu)).

    Between lambda_{k-1} and lambda_k the denominator falls with mu, so that with mu = lambda_k in it the right side is
    a bound of lambda_k - mu_k, exact to second order in z; lambda_k - lambda_{k-1} is another (lambda_0 = 0).
    """
    small = values[:n_vectors, None]
    apart = values - small
    apart[range(n_vectors), range(n_vectors)] = np.inf
    with np.errstate(divide="ignore", invalid="ignore"):  # equal eigenvalues: the other bound is 0
        denominators = diagonal - small - (1 / apart) @ squares
        falls = np.where(denominators > 0, squares[:n_vectors] / denominators, np.inf)
    return np.minimum(falls, np.diff(small, axis=0, prepend=0.0)).sum(axis=0)


def _falls(values, squares, diagonal, n_vectors):
    """What `_bounds` bounds, to rounding and never less: the roots are bisected, all at once."""
    high = np.repeat(values[:n_vectors, None], len(diagonal), axis=1)
    low = np.maximum(np.concatenate([np.zeros((1, len(diagonal))), high[:-1]]), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # at an eigenvalue; nan is not above 0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            rest = np.einsum("lj,klj->kj", squares, 1 / (values[:, None] - middle[:, None, :]))
            above = diagonal - middle > rest
            low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (values[:n_vectors, None] - low).sum(axis=0)
