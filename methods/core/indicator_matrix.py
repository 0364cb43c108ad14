"""The matrix M of `methods.core.indicators` for indicators that are smooth on a graph and regressed on the data."""

from methods.core.one_entry import within
from methods.core.sparse_products import times


class IndicatorMatrix:
    """M = a L + b (I - X (X'X + D)^-1 X'): ``tr F'MF`` is the value of the two terms with the best W for F.

    Parameters
    ----------
    L : csr_array of shape (n_samples, n_samples)
        A Laplacian.
    system : FactoredRidge
        Of X and D.
    smooth, fit : float
        a and b, 0 or more.
    """

    def __init__(self, L, system, smooth, fit):
        self.L, self.system, self.smooth, self.fit = L, system, smooth, fit

    def times(self, F):
        """Return MF, for F of shape (n_samples, n_columns)."""
        return self.smooth * times(self.L, F) + self.fit * self.system.misfit(F)

    def within(self, labels, n_columns):
        """Return a map from v to (MV)_{i, labels_i}: row i of V holds v_i in column labels_i, zeros elsewhere."""
        L = within(self.L, labels)
        return lambda v: self.smooth * (L @ v) + self.fit * self.system.misfit_within(v, labels, n_columns)

    def diagonal(self, rows):
        """Return M_ii of these rows."""
        return self.smooth * self.L.diagonal()[rows] + self.fit * self.system.misfit_diagonal(rows)

    def diagonal_bound(self):
        """Return lower bounds of all M_ii, of shape (n_samples,), at the cost of a product."""
        return self.smooth * self.L.diagonal() + self.fit * self.system.misfit_diagonal_bound()
