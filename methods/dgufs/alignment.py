"""Choosing features whose linear kernel is best aligned with a partition of the samples.

The columns x_j of X are centred.  With ``g_j = x_j'L x_j``, the alignment of the features s with L is

    <X_s X_s', L> / ||X_s X_s'||_F = sum_{j in s} g_j / sqrt(sum_{i, j in s} (x_i'x_j)^2).
"""

import numpy as np

from ufs_bench.methods.dgufs.kernels import gram_norm

CACHE = 2**24  # numbers that the rows kept for later use may hold together: 128 MB
TIE = 1e-12  # relative gain below which a swap is rounding
TINY = np.finfo(float).tiny


class SquaredProducts:
    """Rows of the (n_features, n_features) matrix of ``(x_i'x_j)^2``, computed when asked for and kept."""

    def __init__(self, centered):
        self.centered = centered
        self.diagonal = np.einsum("ij,ij->j", centered, centered) ** 2
        self._rows = {}

    def row(self, feature):
        """Return its squared products with all features, of shape (n_features,)."""
        row = self._rows.get(feature)
        if row is None:
            row = (self.centered[:, feature] @ self.centered) ** 2
            if (len(self._rows) + 1) * len(row) <= CACHE:
                self._rows[feature] = row
        return row


def alignment(centered, gains, subset):
    """Return the alignment of the features `subset`; 0 where none of them varies."""
    return gains[subset].sum() / max(gram_norm(centered[:, subset]), TINY)


def grow_subset(products, gains, size):
    """Add `size` features one by one, each time the one that leaves the largest alignment; ties by index."""
    subset = np.empty(size, dtype=int)
    barred = np.zeros(len(gains))  # -inf for what is chosen
    cross = np.zeros(len(gains))  # sum over the chosen i of (x_i'x_j)^2
    total = square = 0.0  # numerator, and square of the denominator
    for place in range(size):
        squares = square + 2 * cross + products.diagonal
        new = int(((total + gains) / np.sqrt(np.maximum(squares, TINY)) + barred).argmax())
        total, square = total + gains[new], squares[new]
        cross += products.row(new)
        barred[new] = -np.inf
        subset[place] = new
    return subset


def improve_subset(products, gains, subset):
    """Swap features until no swap of a chosen one for another increases the alignment.

    Each chosen feature in turn gives its place to the best one, if that is an improvement; the search ends after a
    round that did not raise the alignment.
    """
    subset = np.array(subset)
    diagonal = products.diagonal
    barred = np.zeros(len(gains))  # -inf for what is chosen
    barred[subset] = -np.inf
    best, best_value = subset, -np.inf
    while True:
        cross = np.zeros(len(gains))  # summed anew in every round, so that rounding does not pile up
        for feature in subset:
            cross += products.row(feature)
        total, square = gains[subset].sum(), cross[subset].sum()
        value = total / np.sqrt(max(square, TINY))
        if value <= best_value:
            return best
        best, best_value = subset.copy(), value
        for place, old in enumerate(best):
            rest = total - gains[old]
            squares = (square - 2 * cross[old] + diagonal[old]) + 2 * (cross - products.row(old)) + diagonal
            squares = np.maximum(np.maximum(squares, diagonal), TINY)  # for features of very different size
            values = (rest + gains) / np.sqrt(squares) + barred
            new = int(values.argmax())
            if values[new] <= total / np.sqrt(max(square, TINY)) * (1 + TIE):
                continue
            total, square = rest + gains[new], squares[new]
            cross += products.row(new) - products.row(old)
            barred[old], barred[new] = 0, -np.inf
            subset[place] = new
