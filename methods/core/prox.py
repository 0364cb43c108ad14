"""Row norms, their reweighting, proximal operators and projections."""

import numpy as np

BLOCK = 2**16  # numbers projected at a time: they stay in the cache of one core


def row_norms(W):
    """Return Euclidean norms of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", W, W))


def unit_columns(F):
    """Return F with columns of unit norm; a column of zeros stays."""
    lengths = np.linalg.norm(F, axis=0)
    return F / np.where(lengths > 0, lengths, 1.0)


def smooth_l21(W, eps):
    """Return the smoothed l21 norm, ``sum_j sqrt(||w_j||^2 + eps)``."""
    return float(np.sqrt(np.einsum("ij,ij->i", W, W) + eps).sum())


def smoothing(W, eps):
    """Return how much `smooth_l21` exceeds the l21 norm: at most ``eps / (2 ||w_j||)`` and sqrt(eps) a row."""
    squares = np.einsum("ij,ij->i", W, W)
    return float((eps / (np.sqrt(squares + eps) + np.sqrt(squares))).sum())  # a difference of the roots would cancel


def row_weights(W, eps):
    """Return the weights ``1 / (2 sqrt(||w_j||^2 + eps))`` of the quadratic that touches `smooth_l21` from above at W.

    ``smooth_l21(V, eps) <= smooth_l21(W, eps) + sum_j weights_j (||v_j||^2 - ||w_j||^2)`` for all V, as the root is
    concave: lowering the right side lowers the left.
    """
    return 0.5 / np.sqrt(np.einsum("ij,ij->i", W, W) + eps)


def prox_l21(V, threshold):
    """Return the W that minimises ``threshold ||W||_21 + ||W - V||_F^2 / 2``: rows shortened by `threshold`, or zero.

    The threshold is a number, or one for each row.
    """
    norms = row_norms(V)
    kept = np.maximum(norms - threshold, 0.0)
    return V * np.divide(kept, norms, out=np.zeros_like(norms), where=norms > 0)[:, None]


def project_simplex(V):
    """Return the nearest point of the unit simplex to every row: entries of 0 or more that sum to 1.

    Exact: the projection of v is max(v - t, 0) with the t for which it sums to 1.  That sum is convex and piecewise
    linear in t, so that Newton's method from below finds the t after a few steps, sooner than sorting would.
    """
    result = np.empty(V.shape)
    height = max(1, BLOCK // V.shape[1])
    for start in range(0, len(V), height):
        rows = slice(start, start + height)
        _project_rows(V[rows], result[rows])
    return result


def _project_rows(V, result):
    V = V - V.max(axis=1, keepdims=True)  # moves t alone, and keeps the sums small
    t = np.maximum((V.sum(axis=1) - 1) / V.shape[1], -1.0)  # never above the solution
    fewest = np.full(len(V), V.shape[1] + 1)
    while True:
        np.maximum(V - t[:, None], 0.0, out=result)
        count = np.count_nonzero(result, axis=1)
        t += (result.sum(axis=1) - 1) / count
        # The counts fall from step to step.  Only entries within rounding of t may come and go for ever.
        if (count >= fewest).all():
            break
        fewest = np.minimum(count, fewest)
    np.maximum(V - t[:, None], 0.0, out=result)


def oblique(F):
    """Return ||F'F - I||_F^2."""
    away = F.T @ F
    away.flat[:: len(away) + 1] -= 1.0
    return np.vdot(away, away)
