"""The printed objective as a function of G: its value and gradient in one pass over the non-zero entries of G."""

import numpy as np

from methods.core.compiled import compiled


@compiled(fastmath={"reassoc", "contract"})
def value_and_slope(G, LG, XF, FF, XW, squares, nu, alpha, zeta, eps):
    """``sum_i ||x_i - g_i F|| + nu tr G'LG + alpha sum_i ||(XW - G)_i|| + zeta/4 ||G'G - I||^2``, norms smoothed.

    Parameters
    ----------
    G : ndarray of shape (n_samples, n_clusters)
        Its cost falls with the number of its non-zero entries.
    LG : ndarray of shape (n_samples, n_clusters)
        L is symmetric.
    XF, XW : ndarray of shape (n_samples, n_clusters)
        XF' and XW.
    FF : ndarray of shape (n_clusters, n_clusters)
        FF'.
    squares : ndarray of shape (n_samples,)
        ||x_i||^2.  The squares of the first norms are expanded, and taken as 0 where rounding makes them negative.
    nu, alpha, zeta, eps : float
        The smoothed norm is sqrt(||.||^2 + eps).

    Returns
    -------
    value : float
    slope : ndarray of shape (n_samples, n_clusters)
    """
    n_samples, n_clusters = G.shape
    columns, ends = np.empty(G.size, np.int64), np.zeros(n_samples + 1, np.int64)
    away = np.zeros((n_clusters, n_clusters))
    for i in range(n_samples):
        end = ends[i]
        for k in range(n_clusters):
            if G[i, k] != 0:
                columns[end] = k
                end += 1
        ends[i + 1] = end
        for a in columns[ends[i] : end]:
            for b in columns[ends[i] : end]:
                away[a, b] += G[i, a] * G[i, b]
    value = 0.0
    for k in range(n_clusters):
        away[k, k] -= 1
        for m in range(n_clusters):
            value += zeta / 4 * away[k, m] * away[k, m]
    slope, fitted = np.empty(G.shape), np.empty(n_clusters)
    for i in range(n_samples):
        kept = columns[ends[i] : ends[i + 1]]
        distance = eps
        for k in range(n_clusters):
            fitted[k] = -XF[i, k]  # of half the squared residual
            slope[i, k] = G[i, k] - XW[i, k]
            distance += slope[i, k] * slope[i, k]
        for a in kept:
            for k in range(n_clusters):
                fitted[k] += G[i, a] * FF[a, k]
        square = squares[i]
        for a in kept:
            square += G[i, a] * (fitted[a] - XF[i, a])
            value += nu * G[i, a] * LG[i, a]
        fit, distance = np.sqrt(max(square, 0.0) + eps), np.sqrt(distance)
        value += fit + alpha * distance
        for k in range(n_clusters):
            slope[i, k] = fitted[k] / fit + 2 * nu * LG[i, k] + alpha / distance * slope[i, k]
        for a in kept:
            for k in range(n_clusters):
                slope[i, k] += zeta * G[i, a] * away[a, k]
    return value, slope
