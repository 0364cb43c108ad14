"""The smallest eigenvectors of a diagonal matrix plus X'KX, without that matrix where samples are fewer than features.

The step for W of every method that minimises ``tr W'X'KXW + sum_j weights_j ||w_j||^2`` over W'W = I.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, lu_solve, qr
from scipy.linalg.lapack import dgetrf
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ufs_bench.methods.core.linalg import GUARDS, POWERS, largest_eigenvectors

DENSE_FEATURES = 200  # up to here a dense eigendecomposition is as fast
FALLBACK_FEATURES = 8000  # up to here it takes over where the iteration has not converged, in 40 s and 1 GB at 7,129
TOL = 1e-7  # of the vectors; the minimised value is off by its square
WARM_RESTARTS, COLD_RESTARTS = 2, 10  # restarts of a block from the last vectors, and from those of Lanczos
SHIFT_SHARE = 0.1  # an eigenvalue above this share of the floor is found again from a smaller shift
SHIFT_RESTARTS, COLD_POWERS = 50, 4  # restarts of a block, and powers, on the way there
LANCZOS_RESTARTS = 300  # an end for a search that does not converge
TIE_BREAK = 1e-6  # weight of a second criterion that must not disturb the first
ACCURATE = 1e-10  # relative error above which the inverse is refined


class WideGram:
    """X'KX for fewer samples than features, kept as X and K; ``K(Y)`` is a symmetric matrix times Y (n_samples, m).

    `floor` is a lower bound, 0 or less, of the eigenvalues of X'KX.
    """

    def __init__(self, X, K, floor=0.0):
        self.X, self.K, self.floor = X, K, floor

    def form(self, W):
        """Return tr W'X'KXW."""
        XW = self.X @ W
        return float((XW * self.K(XW)).sum())

    def diagonal(self):
        """Return the diagonal of X'KX."""
        return np.einsum("ij,ij->j", self.X, self.K(self.X))

    def toarray(self):
        """Return X'KX, which is large."""
        product = self.X.T @ self.K(self.X)
        return (product + product.T) / 2

    def inverse(self, weights):
        """Return ``(diag(weights) + X'KX)^-1`` as a function of the (n_features, m) array that it multiplies.

        With E = diag(1 / weights), Woodbury's identity gives E - E X'(I + K X E X')^-1 K X E.  Here E^1/2 is taken
        outside on both sides: a row of the result is then accurate in proportion to its own weight, however large.
        Where X E X' is large, a number near 1 is subtracted from 1, and digits are lost; two trial vectors tell how
        many.  One step of refinement restores them.  Where too few digits are left for that, E^1/2 X' is factored as
        Q R, and the inverse is E^1/2 (I - Q (I - (I + R K R')^-1) Q') E^1/2.
        """
        root = 1 / np.sqrt(weights)[:, None]
        scaled = self.X.T * root
        product = self.K(scaled.T @ scaled)
        if not np.isfinite(product).all():
            raise np.linalg.LinAlgError("The system is not finite.")
        product.flat[:: len(product) + 1] += 1.0
        *factors, zero_pivot = dgetrf(product, overwrite_a=True)
        if zero_pivot:  # no digit is left
            inside = self._orthogonal(scaled)
            return lambda V: root * inside(root * V)

        def once(V):
            return V - scaled @ lu_solve(factors, self.K(scaled.T @ V), check_finite=False)

        def refined(V, solved):
            return solved + once(V - solved - scaled @ self.K(scaled.T @ solved))

        # A vector over all features, and one from the space that K acts on.
        rng = np.random.default_rng(0)
        probe = np.hstack([rng.standard_normal((len(weights), 1)), scaled @ rng.standard_normal((len(product), 1))])
        probe /= np.linalg.norm(probe, axis=0)
        first = once(probe)
        second = refined(probe, first)
        if np.linalg.norm(second - first) <= ACCURATE:
            inside = once
        elif np.linalg.norm(refined(probe, second) - second) <= ACCURATE:

            def inside(V):
                return refined(V, once(V))

        else:
            inside = self._orthogonal(scaled)
        return lambda V: root * inside(root * V)

    def _orthogonal(self, scaled):
        """Return ``(I + scaled K scaled')^-1`` by orthogonal factors."""
        Q, R = qr(scaled, mode="economic", check_finite=False)
        inner = R @ self.K(R.T)
        values, turn = eigh((inner + inner.T) / 2, check_finite=False)
        # Values within rounding become zero, as it is where K has a null space; 1 / (1 + value) must not see it.
        values[np.abs(values) <= len(values) * np.finfo(float).eps * np.abs(values).max()] = 0.0
        Q, lost = Q @ turn, (values / (1 + values))[:, None]
        return lambda V: V - Q @ (lost * (Q.T @ V))


class DenseGram:
    """X'KX as an array, for no fewer samples than features; `floor` as in `WideGram`."""

    def __init__(self, M, floor=0.0):
        self.M, self.floor = M, floor

    def form(self, W):
        """Return tr W'MW."""
        return float((W * (self.M @ W)).sum())

    def diagonal(self):
        """Return the diagonal of M."""
        return self.M.diagonal()

    def toarray(self):
        """Return M."""
        return self.M

    def inverse(self, weights):
        """Return the function that `WideGram.inverse` returns, from one Cholesky factor."""
        system = self.M.copy()
        system.flat[:: len(system) + 1] += weights
        if not np.isfinite(system).all():
            raise np.linalg.LinAlgError("The system is not finite.")
        # The transpose is in the order that the factorisation works in.
        factor = cho_factor(system.T, lower=True, overwrite_a=True, check_finite=False)
        return lambda V: cho_solve(factor, V, check_finite=False)


def smallest_eigenvectors(gram, weights, n_vectors, guess=None):
    """Return the W that minimises ``tr W'(diag(weights) + X'KX)W`` over W'W = I, for positive weights.

    Orthonormal columns (n_features, p) come back, the first `n_vectors` of which are wanted, smallest eigenvalue first;
    they are a good `guess` for weights not far from these.  LinAlgError when they have not converged, or the matrix is
    not finite.

    They are the largest eigenvectors of the inverse: by blocks of vectors (`methods.core.linalg`) from the guess, or
    from what Lanczos finds where that is far; by a dense matrix up to `DENSE_FEATURES` features, and up to
    `FALLBACK_FEATURES` or for a `DenseGram` as a last resort.  Where K is indefinite, a `DenseGram` is solved densely,
    a `WideGram` by inverses of ``diag(weights - floor) + X'KX`` for a floor that rises to zero.
    """
    d, p = len(weights), n_vectors + GUARDS
    if d <= max(DENSE_FEATURES, (POWERS + 1) * p) or (gram.floor < 0 and isinstance(gram, DenseGram)):
        return _dense(gram, weights, n_vectors)
    if guess is not None and guess.shape[1] != p:
        guess = None
    try:
        if gram.floor < 0:
            try:
                return _by_rising_shifts(gram, weights, n_vectors, guess)
            except np.linalg.LinAlgError:
                pass  # many close to each other: Lanczos
        return _largest(gram.inverse(weights - gram.floor), d, n_vectors, guess)
    except (np.linalg.LinAlgError, ArpackError) as error:
        if d > FALLBACK_FEATURES and isinstance(gram, WideGram):
            raise np.linalg.LinAlgError(f"{n_vectors} eigenvectors have not converged: {error}") from error
        return _dense(gram, weights, n_vectors)


def _largest(inverse, d, n_vectors, guess):
    if guess is not None:
        try:
            return largest_eigenvectors(inverse, guess, n_vectors, TOL, WARM_RESTARTS)
        except np.linalg.LinAlgError:
            pass  # the guess was not so near
    start = _lanczos(inverse, d, n_vectors, n_vectors + GUARDS)
    return largest_eigenvectors(inverse, start, n_vectors, TOL, COLD_RESTARTS)


def _by_rising_shifts(gram, weights, n_vectors, guess):
    """Return the smallest eigenvectors where some eigenvalues are far below zero, and others differ by weights alone.

    The inverse of the matrix less its floor cannot tell those others apart.  So the vectors far below zero are kept,
    the others found again on their orthogonal complement with a smaller shift, until it is as small as the weights.
    """
    d, floor = len(weights), gram.floor
    kept = np.empty((d, 0))
    while True:
        inverse, missing = gram.inverse(weights - floor), n_vectors - kept.shape[1]

        def project(V, kept=kept):
            return V - kept @ (kept.T @ V)

        def outside(V, inverse=inverse, project=project):
            return project(inverse(project(V)))

        if -floor <= weights.min():
            return np.hstack([kept, project(_largest(outside, d, missing, guess))])
        if guess is None:  # what is below zero has its part in the rows of X
            guess = gram.X.T @ np.random.default_rng(0).standard_normal((len(gram.X), missing + GUARDS))
            for _ in range(COLD_POWERS):
                guess = outside(qr(guess, mode="economic")[0])
        # The inverse of the eigenvalue SHIFT_SHARE * floor, above which there is no need to know.
        above = 1 / ((SHIFT_SHARE - 1) * floor)
        found = project(largest_eigenvectors(outside, project(guess), missing, TOL, SHIFT_RESTARTS, above))
        wanted = found[:, :missing]
        values = np.einsum("ij,ij->j", wanted, weights[:, None] * wanted + gram.X.T @ gram.K(gram.X @ wanted))
        below = values < SHIFT_SHARE * floor
        if below.all():
            return np.hstack([kept, found])
        kept = np.hstack([kept, wanted[:, below]])
        guess = np.hstack([wanted[:, ~below], found[:, missing:]])
        floor *= 2 * SHIFT_SHARE  # all eigenvalues still wanted are above half of this


def varying_centered(X):
    """Return the features that vary, and X with these alone, less their means.

    A constant feature costs nothing where X'KX ignores means, and would be taken first; and without means the sums have
    less rounding.
    """
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    return varying, X[:, varying] - X[:, varying].mean(axis=0)


def tie_breaking_weights(gram, X):
    """Return weights so small that they only decide among vectors that X'KX does not tell apart.

    In proportion to 1 / std_j, and 1e-6 of the diagonal of X'KX on average; no feature of X is constant.
    """
    spread = X.std(axis=0)
    level = max(np.abs(gram.diagonal()).mean(), np.finfo(float).tiny ** 0.5)
    return TIE_BREAK * level * spread.mean() / spread


def _dense(gram, weights, n_vectors):
    system = np.array(gram.toarray())
    system.flat[:: len(system) + 1] += weights
    if not np.isfinite(system).all():
        raise np.linalg.LinAlgError("The system is not finite.")
    last = min(len(system), n_vectors + GUARDS) - 1
    return eigh(system, subset_by_index=(0, last), overwrite_a=True, check_finite=False)[1]


def _lanczos(inverse, d, n_vectors, p):
    """Return the wanted vectors as Lanczos finds them, and others up to p, so that a block finds what it missed."""
    operator = LinearOperator((d, d), matvec=lambda v: inverse(v.reshape(-1, 1)).ravel(), dtype=float)
    start = np.random.default_rng(0).standard_normal((d, p - n_vectors))  # any will do
    n_kept = min(d - 1, max(3 * n_vectors, 40))
    vectors = eigsh(operator, n_vectors, which="LA", v0=start[:, 0], ncv=n_kept, tol=TOL, maxiter=LANCZOS_RESTARTS)[1]
    return np.hstack([vectors, start])
