"""DGUFS as the released program computes it, with little more work than its result needs.

Arrays are (d, n) here, features by samples, as in the paper.  H = (I - 11'/n) / (n - 1) is applied by subtracting
means.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from ufs_bench.methods.core import checks
from ufs_bench.methods.dgufs.leading import Ceiling, Pool, eigenpairs_above, row_blocks

MU_START, MU_GROWTH, MU_LARGEST = 1e-6, 1.1, 1e10
L0_WEIGHT = 0.005  # gamma of the l0 penalty on M, section 4.3
TILE = 256  # rows and columns of the parts that `symmetrized` works on
FEATURE_ARRAYS, SAMPLE_ARRAYS = ("Y", "Z", "Lambda1"), ("L", "M", "Lambda2")


@dataclass(frozen=True)
class State:
    """All that a sweep hands to the next one.

    Attributes
    ----------
    rows : ndarray of shape (r,) of int
        The features for which Y, Z or Lambda1 is not zero, ascending.
    Y, Z, Lambda1 : ndarray of shape (r, n)
        Their rows `rows`; all others are zero.
    selected, dropped : ndarray of shape (m,) of int
        The features that the last steps of Y and of X - Z kept and dropped.
    values, vectors : ndarray of shape (q,) and (n, q)
        L = vectors diag(values) vectors'.
    M, Lambda2 : ndarray of shape (n, n)
        The diagonal of Lambda2 is kept at zero: it meets only the diagonal of M, which is always 1, and that of the
        matrix before the rank step, which is overwritten.
    mu : float
    value : float
        Eq. (5).
    residual : float
        Largest absolute entry of Z - Y and L - M.
    matrix : ndarray of shape (n, n) or None
        The matrix of the rank step, set while L is zero and nothing but mu changes: the next sweep has the same one.
    """

    rows: np.ndarray
    Y: np.ndarray
    Z: np.ndarray
    Lambda1: np.ndarray
    selected: np.ndarray
    dropped: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    M: np.ndarray
    Lambda2: np.ndarray
    mu: float
    value: float = np.nan
    residual: float = np.inf
    matrix: np.ndarray | None = None


def check_init(init, shape, n_clusters):
    """Raise a ValueError where `init` is not what `Problem.start` takes."""
    n, d = shape
    shapes = {**dict.fromkeys(FEATURE_ARRAYS, (n, d)), **dict.fromkeys(SAMPLE_ARRAYS, (n, n))}
    if not isinstance(init, Mapping) or set(init) - {*shapes, "mu"}:
        raise ValueError(f"init={init!r:.80} must be a dict with keys among {[*shapes, 'mu']}.")
    for name in shapes.keys() & init.keys():
        checks.check_init(init[name], shapes[name], name=f"init[{name!r}]")
    if "L" in init and not np.array_equal(init["L"], np.transpose(init["L"])):
        raise ValueError("init['L'] must be symmetric; pass (L + L.T) / 2.")
    checks.check_number("init['mu']", init.get("mu", MU_START), 0, open_low=True)


class Problem:
    """The program's sweeps: Z, Y, L, M, then the multipliers and mu; Y keeps `size` features."""

    def __init__(self, X, S, size, n_clusters, alpha, beta):
        self.X, self.S, self.size, self.n_clusters = np.ascontiguousarray(X.T), S, size, n_clusters
        self.alpha, self.beta = alpha, beta
        self.norms = np.linalg.norm(self.X, axis=1)
        self.similarity = beta * S.toarray()
        self.pool = Pool(*self.similarity.shape)
        self.ceiling = Ceiling(self.pool)

    def starts(self, n_starts, rng):
        """Return the program's one start, in which everything is zero."""
        return [{}]

    def start(self, init):
        """Return the state to start from, a dict of the arrays; what is missing is zero (mu: 1e-6).

        Y, Z, Lambda1 are (n_samples, n_features), L (symmetric), M, Lambda2 (n_samples, n_samples).
        """
        n = self.X.shape[1]
        by_feature = {name: np.asarray(init[name], dtype=float).T for name in FEATURE_ARRAYS if name in init}
        used = [array.any(axis=1) for array in by_feature.values()]
        rows = np.flatnonzero(np.any(used, axis=0)) if used else np.empty(0, dtype=int)
        parts = [by_feature[name][rows] if name in by_feature else np.zeros((len(rows), n)) for name in FEATURE_ARRAYS]
        M, Lambda2 = (np.array(init.get(name, np.zeros((n, n))), float) for name in ("M", "Lambda2"))
        np.fill_diagonal(Lambda2, 0)
        values, vectors = eigh(init["L"]) if "L" in init else (np.empty(0), np.empty((n, 0)))
        none = np.empty(0, dtype=int)
        state = State(rows, *parts, none, none, values, vectors, M, Lambda2, init.get("mu", MU_START))
        return replace(state, value=self.objective(state))

    @np.errstate(over="ignore", invalid="ignore")  # at an alpha far below the paper's; the status says so
    def sweep(self, state):
        """Update Z, Y, L, M, the multipliers and mu, in this order: the whole of Algorithm 2, as the program has it."""
        if state.matrix is not None:
            values, vectors = eigenpairs_above(state.matrix, self._threshold(state.mu))
            if not len(values):
                return replace(state, mu=_grown(state.mu))
        features = self._update_features(state)  # Z: (9), then Y: (8)
        coupling = self._rank_step_matrix(features)  # A of (12), whose large eigenvalues are those of L: Theorem 2
        values, vectors = eigenpairs_above(coupling, self._threshold(state.mu), len(state.values), self.ceiling)
        after = self._update_labels(features, values, vectors)  # M: section 4.3; multipliers and mu: (13) to (15)
        matrix = coupling if _only_mu_changed(state, after) else None
        return replace(after, matrix=matrix, value=self.objective(after))

    def residual(self, previous, state):
        """Return the largest distance of an entry of Y or L from its copy in Z or M."""
        return state.residual

    def learned(self, state):
        """Return scores of the features, labels of the samples, and the factor of L."""
        norms = np.zeros(len(self.X))
        # Scaled first: the squares may overflow.
        norms[state.rows] = np.linalg.norm(state.Y / max(np.abs(state.Y).max(initial=0.0), 1.0), axis=1)
        scores = np.zeros(len(self.X))
        scores[state.selected] = 1 + norms[state.selected] / max(norms.max(), np.finfo(float).tiny)
        return scores, labels_of(state, self.n_clusters), state.vectors * np.sqrt(np.maximum(state.values, 0))

    def objective(self, state):
        """Return ``-beta tr(SL) - (1-beta) tr(Y'Y HLH) + alpha rank(L)``, eq. (5)."""
        dependence = (np.einsum("ij,ij->j", state.vectors, self.S @ state.vectors) * state.values).sum()
        projected = state.Y @ _times_H(state.vectors.T).T
        explained = ((projected**2).sum(axis=0) * state.values).sum()
        rank = np.count_nonzero(state.values)
        return -self.beta * dependence - (1 - self.beta) * explained + self.alpha * rank

    def _threshold(self, mu):
        return np.sqrt(2 * self.alpha / mu)

    def _update_features(self, state):
        """Return the m rows that X - Z drops, eq. (9), and the m rows that Y keeps, eq. (8)."""
        n_features, mu = len(self.X), state.mu
        correction = (self._smoothed(state.Y, state) - state.Lambda1) / mu
        norms = self.norms.copy()
        target = self.X[state.rows] - state.Y - correction
        norms[state.rows] = np.linalg.norm(target, axis=1)
        dropped = np.argsort(norms, kind="stable")[: self.size]

        rows = np.union1d(state.rows, dropped)
        place = np.searchsorted(rows, state.rows)
        Z, Lambda1 = (np.zeros((len(rows), self.X.shape[1])) for _ in range(2))
        Z[place] = self.X[state.rows] - target  # rows that X - Z keeps
        Lambda1[place] = state.Lambda1
        Z[np.searchsorted(rows, dropped)] = self.X[dropped]

        target = Z + (self._smoothed(Z, state) + Lambda1) / mu
        norms = np.zeros(n_features)
        norms[rows] = np.linalg.norm(target, axis=1)
        # Zero rows tie: a feature that is zero throughout, but dropped from X - Z, goes before the ones that were not.
        not_dropped = np.ones(n_features)
        not_dropped[dropped] = 0
        selected = np.sort(np.lexsort((not_dropped, -norms))[: self.size])
        Y = np.where(np.isin(rows, selected)[:, None], target, 0)
        return replace(state, rows=rows, Y=Y, Z=Z, Lambda1=Lambda1, selected=selected, dropped=dropped)

    def _smoothed(self, A, state):
        """Return ``(1 - beta) A H L H`` through the factors of L."""
        P = _times_H(state.vectors.T).T
        return (1 - self.beta) * ((A @ P) * state.values) @ P.T

    def _rank_step_matrix(self, state):
        """Return mu times the matrix of eq. (12): the rescaling that follows takes the factor out."""
        both = state.Y.any(axis=1) & state.Z.any(axis=1)
        Y, Z = _times_H(state.Y[both]), _times_H(state.Z[both])
        A = np.matmul(Y.T, Y if np.array_equal(Y, Z) else Z, out=self.pool.empty())
        rescale_off_diagonal(A)
        for rows in row_blocks(A):
            part = A[rows]
            part *= 1 - self.beta
            part += self.similarity[rows]
            part += state.mu * state.M[rows]
            part -= state.Lambda2[rows]
        return symmetrized(rescale_off_diagonal(A))

    def _update_labels(self, state, values, vectors):
        """Apply section 4.3's rule for M and eqs. (13) to (15)."""
        mu = state.mu
        split, M, Lambda2 = state.Z - state.Y, self.pool.empty(), self.pool.empty()
        residual = np.abs(split).max(initial=0)
        for rows in row_blocks(M):
            L = (vectors[rows] * values) @ vectors.T
            M[rows] = l0_prox(L + state.Lambda2[rows] / mu, L0_WEIGHT / mu)
            np.fill_diagonal(M[rows, rows], 1)
            gap = L - M[rows]
            Lambda2[rows] = state.Lambda2[rows] + mu * gap
            np.fill_diagonal(Lambda2[rows, rows], 0)
            residual = max(residual, np.abs(gap).max())
        Lambda1 = state.Lambda1 + mu * split
        kept = state.Y.any(axis=1) | state.Z.any(axis=1) | Lambda1.any(axis=1)
        return replace(
            state,
            rows=state.rows[kept],
            Y=state.Y[kept],
            Z=state.Z[kept],
            Lambda1=Lambda1[kept],
            values=values,
            vectors=vectors,
            M=M,
            Lambda2=Lambda2,
            mu=_grown(mu),
            residual=residual,
        )


def labels_of(state, n_clusters):
    """Return the leading eigenpair that weighs most at each sample, eq. (16) and below; the first where L is zero."""
    leading = np.argsort(-state.values, kind="stable")[:n_clusters]
    if not len(leading):
        return np.zeros(len(state.vectors), dtype=int)
    return (np.abs(state.vectors[:, leading]) * np.sqrt(np.maximum(state.values[leading], 0))).argmax(axis=1)


def rescale_off_diagonal(A):
    """Map the off-diagonal entries of A linearly to [0, 1], and the diagonal to 0; A is overwritten and returned.

    Entries that are all equal become 0.
    """
    if len(A) < 2:
        A[:] = 0
        return A
    np.fill_diagonal(A, A[0, 1])
    low, high = A.min(), A.max()
    for rows in row_blocks(A):
        part = A[rows]
        part -= low
        if high > low:
            part /= high - low
    np.fill_diagonal(A, 0)
    return A


def symmetrized(A):
    """Overwrite A with ``(A + A') / 2`` and return it."""
    starts = range(0, len(A), TILE)
    for rows, columns in ((slice(i, i + TILE), slice(j, j + TILE)) for i in starts for j in starts if j <= i):
        mean = (A[rows, columns] + A[columns, rows].T) / 2
        A[rows, columns], A[columns, rows] = mean, mean.T
    return A


def l0_prox(Q, gamma):
    """Return ``argmin_P ||P - Q||_F^2 / 2 + gamma ||P||_0`` over the matrices with entries in [0, 1]."""
    # P = min(Q, 1) pays where Q^2 - (Q - P)^2 > 2 gamma.
    limit = np.sqrt(2 * gamma) if 2 * gamma <= 1 else gamma + 0.5
    return np.where(limit < Q, np.minimum(Q, 1), 0.0)


def _only_mu_changed(before, after):
    """Return True where L is zero and the next sweep starts from the same arrays as this one did."""
    if len(before.values) or len(after.values):
        return False
    pairs = [(getattr(before, name), getattr(after, name)) for name in ("rows", "Y", "Z", "Lambda1", "M", "Lambda2")]
    # With multipliers other than zero the next sweep would depend on mu.
    return all(np.array_equal(a, b) for a, b in pairs) and not after.Lambda1.any() and not after.Lambda2.any()


def _times_H(A):
    """Return A H, for A of shape (r, n)."""
    n = A.shape[1]
    return (A - A.mean(axis=1, keepdims=True)) / max(n - 1, 1)


def _grown(mu):
    return min(MU_GROWTH * mu, MU_LARGEST)
