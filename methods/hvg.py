"""Highly variable genes: two controls for counts and expression, each a closed form of one feature at a time."""

import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import whole
from ufs_bench.methods.core.sparse_data import column_blocks

FEWEST = 3  # features of a bin: two are always at the same distance from their mean, in units of their deviation
ROUNDING = 1e-12  # share of the largest below which a deviation is none


class HighlyVariableGenes(BaseSelector):
    """Rank features that are counted by how much more they vary than their mean lets expect.

    "dispersion": log(variance_j / mean_j), standardised within bins of equal width of log(1 + mean_j).  "deviance": the
    binomial deviance of the feature from a constant share of the counts of each sample,

        D_j = 2 sum_i (x_ij log(x_ij / (n_i p_j)) + (n_i - x_ij) log((n_i - x_ij) / (n_i (1 - p_j)))),

    n_i the sum of sample i, and p_j = sum_i x_ij / sum_i n_i.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        As in `BaseSelector`.
    flavor : {"dispersion", "deviance"}, default="dispersion"
    n_bins : int, default=20
        Of "dispersion", 1 or more.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        "dispersion": the standardised one; features of a bin with fewer than three are compared with all; what is
        constant has one less than the least of the others.  "deviance": D_j, 0 for a constant share.

    Raises
    ------
    ValueError
        For a parameter out of its range, and for data with negative values: the method does not apply to them.

    Notes
    -----
    Closed forms; a sparse X stays sparse.  They need the data as counted or measured, 0 or more, before any scaling: a
    protocol with another scaling names them under `scaling_for`, as ``fair`` does.  Data scaled to [0, 1] cannot be
    told from such, and would be ranked by what the scaling has left.  "deviance" needs no whole numbers.

    *Differs from the papers*: "dispersion" takes the values as they are; single-cell programs first divide by the size
    of each sample, and differ in what a bin with one feature gets.  "deviance" is the exact one, not its approximation
    by a normalisation.

    *Known pathologies*: they look at one feature at a time, so that copies of a good feature all rank high.
    "dispersion" ends with few features in the bins of large means, where each is compared with few others.  "deviance"
    grows with the mean of a feature, and with noise that is wider than the binomial's.

    References
    ----------
    Satija, Farrell, Gennert, Schier & Regev. Spatial reconstruction of single-cell gene expression data. Nature
    Biotechnology 33, 2015.
    Townes, Hicks, Aryee & Irizarry. Feature selection and dimension reduction for single-cell RNA-Seq based on a
    multinomial model. Genome Biology 20, 2019.
    """

    takes_sparse = True
    takes_negative = False
    arrays = {"nd": 4}
    bounds = {"n_bins": whole(1)}
    choices = {"flavor": ("dispersion", "deviance")}

    def __init__(self, n_features_to_select=None, *, flavor="dispersion", n_bins=20):
        super().__init__(n_features_to_select)
        self.flavor = flavor
        self.n_bins = n_bins

    def _solve(self, X, rng):
        return Solution(deviances(X) if self.flavor == "deviance" else dispersions(X, self.n_bins))


def dispersions(X, n_bins):
    """Return log(variance / mean) of every feature, standardised within bins of equal width of log(1 + mean).

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        0 or more.
    n_bins : int

    Returns
    -------
    ndarray of shape (n_features,)
        For a constant feature one less than the least of the others.
    """
    parts = [
        (part.mean(axis=0), np.where(np.ptp(part, axis=0) > 0, part.var(axis=0), 0.0)) for part in column_blocks(X)
    ]
    mean, variance = (np.concatenate(values) for values in zip(*parts, strict=True))
    varying = np.flatnonzero(variance > 0)
    scores = np.zeros(X.shape[1])
    if not len(varying):
        return scores
    place, ratio = np.log1p(mean[varying]), np.log(variance[varying] / mean[varying])
    width = np.ptp(place) / n_bins
    bins = (
        np.minimum((place - place.min()) // width, n_bins - 1).astype(int) if width > 0 else np.zeros(len(place), int)
    )
    sizes = np.bincount(bins, minlength=n_bins)
    bins[(sizes < FEWEST)[bins]] = n_bins  # what has no bin of its own is compared with all
    members = [ratio[bins == index] for index in range(n_bins)] + [ratio]
    centre = np.array([part.mean() if len(part) else 0.0 for part in members])
    spread = np.array([part.std(ddof=1) if len(part) > 1 else 0.0 for part in members])
    spread[spread <= ROUNDING * np.abs(ratio).max()] = np.inf
    scores[varying] = (ratio - centre[bins]) / spread[bins]
    scores[variance == 0] = scores[varying].min() - 1
    return scores


def deviances(X):
    """Return the binomial deviance of every feature from a constant share of each sample's sum.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        0 or more.

    Returns
    -------
    ndarray of shape (n_features,)
        0 or more.
    """
    totals = np.asarray(X.sum(axis=1), dtype=float)
    counted = totals > 0
    X, totals = X[counted], totals[counted]
    if not len(totals):
        return np.zeros(X.shape[1])
    return np.concatenate([_deviances(part, totals) for part in column_blocks(X)])


def _deviances(X, totals):
    p = X.sum(axis=0) / totals.sum()
    totals = totals[:, None]
    return np.maximum(2 * (_terms(X, totals * p) + _terms(totals - X, totals * (1 - p))), 0.0)


def _terms(observed, expected):
    """Return, by feature, the sum of observed log(observed / expected), in the fewest arrays."""
    # Where nothing is observed the term is zero, also where nothing is expected.
    ratio = np.divide(observed, expected, out=np.ones_like(expected), where=(observed > 0) & (expected > 0))
    np.log(ratio, out=ratio)
    return np.multiply(ratio, observed, out=ratio).sum(axis=0)
