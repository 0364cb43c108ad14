"""The residual of sparse data after projection on some of their columns, and the gains: nothing of X's shape is formed.

With an orthonormal basis Q of the columns that were taken and W = X'Q, the residual is E = X - Q W'.  Only Q, W and
two numbers for each column are kept.
"""

import numpy as np
from scipy import sparse

from ufs_bench.methods.core.column_subset import ROUNDING, SPANNED, UNSURE, ratio
from ufs_bench.methods.core.sparse_data import BLOCK


class SparseGains:
    """E and the gain of every column of a sparse X, as `methods.core.column_subset.Gains` has them for a dense one.

    It can grow, and cannot take a column out again.  With `center` the columns count as centred; they are never written
    out so.  With `parts`, a number for each column, the gains are for the sums of the columns of each part.  `sizes`,
    `left` and `numerators` hold ||x_j||^2, ||e_j||^2, and ||E'e_j||^2 or what the target has in its place.

    ||e_j||^2 is brought up to date by subtraction, which for a column that is nearly spanned leaves nothing but
    rounding.  Where that could decide, the columns in question are written out, and their two numbers are computed
    anew, a block at a time.
    """

    def __init__(self, X, center, parts=None):
        self.X, self.columns = X, sparse.csc_array(X)
        n_samples, n_features = X.shape
        constant = X.max(axis=0).toarray() == X.min(axis=0).toarray() if center else np.zeros(n_features, dtype=bool)
        self.means = X.mean(axis=0) if center else np.zeros(n_features)
        self.basis, self.along = np.empty((n_samples, 0)), np.empty((n_features, 0))
        self.target = None
        if parts is not None:
            members = sparse.csr_array((np.ones(n_features), (np.arange(n_features), parts)))
            self.target = (X @ members).toarray() - self.means @ members
        # The two numbers of each column, and what they were when they were last computed from the column itself.
        self.left, self.numerators, self._left, self._numerators = np.zeros((4, n_features))
        self.sizes = np.zeros(n_features)
        self._renew(np.flatnonzero(~constant))
        self.sizes = self.left.copy()

    @property
    def total(self):
        """F(S)."""
        return float(self.left.sum())

    def values(self):
        """Return the gains; 0 for a column that is spanned."""
        gains = ratio(self.numerators, self.left)
        unsure = self._unsure(gains)
        while len(unsure):
            self._renew(unsure)
            gains = ratio(self.numerators, self.left)
            unsure = np.setdiff1d(self._unsure(gains), unsure)  # to the others nothing can be added
        return gains

    def take(self, j):
        """Add a column with something left to the set."""
        unit = self._residual([j])[:, 0]
        unit -= self.basis @ (self.basis.T @ unit)
        unit /= np.linalg.norm(unit)
        along = self._products(unit)
        v, y = (along, self._combined(along)) if self.target is None else self._target_part(unit)
        self.numerators += along * ((v @ v) * along - 2 * (self._products(y) - self.along @ (self.basis.T @ y)))
        np.maximum(self.numerators, 0.0, out=self.numerators)
        self.left = np.maximum(self.left - along**2, 0.0)
        self.basis, self.along = np.column_stack([self.basis, unit]), np.column_stack([self.along, along])
        self.left[j] = 0.0

    def _unsure(self, gains):
        # Both numbers have an error of ROUNDING times what they were when they were computed.
        error = ROUNDING * (ratio(self._numerators, self.left) + gains * ratio(self._left, self.left))
        return np.flatnonzero(error > UNSURE * gains.max())

    def _renew(self, which):
        """Compute the two numbers of these columns from what is left of them."""
        width = max(1, BLOCK // max(self.X.shape))
        for block in np.split(which, range(width, len(which), width)):
            E = self._residual(block)
            left = np.einsum("ij,ij->j", E, E)
            spanned = left <= SPANNED * self.sizes[block]
            left[spanned], E[:, spanned] = 0.0, 0.0
            T = self._products(E) - self.along @ (self.basis.T @ E) if self.target is None else self.target.T @ E
            self.left[block] = self._left[block] = left
            self.numerators[block] = self._numerators[block] = np.einsum("ij,ij->j", T, T)

    def _residual(self, which):
        """Return columns of E, written out."""
        return self.columns[:, which].toarray() - self.means[which] - self.basis @ self.along[which].T

    def _products(self, Y):
        """Return X'Y for the centred X."""
        return self.X.T @ Y - np.multiply.outer(self.means, Y.sum(axis=0))

    def _combined(self, weights):
        """Return E @ weights."""
        return self.X @ weights - self.means @ weights - self.basis @ (self.along.T @ weights)

    def _target_part(self, unit):
        v = self.target.T @ unit
        y = self.target @ v
        self.target -= np.outer(unit, v)
        return v, y
