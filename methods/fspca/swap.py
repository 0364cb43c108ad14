"""FSPCA by exchanges of single features, after the paper's ascent has come to its end."""

from collections import deque

import numpy as np

from methods.fspca import ipu

WORTHWHILE = 1e-6  # share of the value by which an exchange must raise it
BISECTIONS = 30  # they leave a billionth of a gap between eigenvalues


class Problem(ipu.Problem):
    """The sum of the m largest eigenvalues of B'B on h features, raised until no exchange of one raises it."""

    def sweep(self, state):
        """Take a step of the ascent; where it changes nothing, exchange features until no exchange is worthwhile."""
        better = super().sweep(state)
        if better is not state or self.m == self.h or len(state.features) == self.B.shape[1]:
            return better
        return self._settled(state)

    def _settled(self, state):
        features, value = state.features.tolist(), -state.value
        rows = self.B[:, features].T @ self.B
        queue = deque(np.array(features)[np.argsort(self.explained(state)[features], kind="stable")].tolist())
        in_vain = 0  # since the last exchange
        while in_vain < len(queue):
            old = queue.popleft()
            place = features.index(old)
            new, value_with_it = self._replacement(rows, features, place, value)
            if new is None:
                queue.append(old)
                in_vain += 1
                continue
            features[place], value = new, value_with_it
            rows[place] = self.B[:, new] @ self.B
            queue.append(new)
            in_vain = 0
        return state if features == state.features.tolist() else self.state_of(np.sort(features))

    def _replacement(self, rows, features, place, value):
        """Return a feature that raises the value when it takes this place, and the new value; None without one."""
        kept = np.delete(features, place)
        rows = np.delete(rows, place, axis=0)
        outside = np.setdiff1d(np.arange(self.B.shape[1]), features)
        A = rows[:, kept]
        A = (A + A.T) / 2
        enough = (1 + WORTHWHILE) * value
        bounds = highest(A, rows[:, outside], self.variances[outside], self.m, enough)
        for j in np.argsort(-bounds, kind="stable")[: np.count_nonzero(bounds > enough)].tolist():
            total = top_sum(bordered(A, rows[:, outside[j]], self.variances[outside[j]]), self.m)
            if total > enough:
                return int(outside[j]), total
        return None, value


def bordered(A, column, corner):
    """Return A with one more row and column."""
    return np.block([[A, column[:, None]], [column[None, :], np.array([[corner]])]])


def top_sum(A, m):
    """Return the sum of the m largest eigenvalues."""
    return float(np.linalg.eigvalsh(A)[-m:].sum())  # all of them take less time than some


def highest(A, columns, corners, m, enough=-np.inf):
    """Return a bound on the sum of the m largest eigenvalues of A bordered by each of some columns.

    Parameters
    ----------
    A : ndarray of shape (h - 1, h - 1)
        Positive semidefinite, m < h.
    columns : ndarray of shape (h - 1, n)
    corners : ndarray of shape (n,)
        With which A stays positive semidefinite.
    m : int
    enough : float, default=-inf
        A bound below it is not made any sharper.

    Returns
    -------
    ndarray of shape (n,)

    Notes
    -----
    A is the Gram matrix of columns C, the bordered one that of C and b.  With the eigenvalues mu_1 >= mu_2 >= ... of
    CC' and its eigenvectors u_l, CC' is nowhere larger than N, which has mu_{m+1} in place of all smaller ones.  Of
    N + bb' all but m + 1 eigenvalues are mu_{m+1}; those m + 1 sum up to mu_1 + ... + mu_{m+1} + ||b||^2, and the
    least is the root t in [mu_{m+1}, mu_m] of 1 + sum_{l<=m} (u_l'b)^2 / (mu_l - t) + beta / (mu_{m+1} - t), where beta
    is what is left of ||b||^2.  It is found by bisection, and every lower end of the interval gives a bound.
    """
    values, vectors = np.linalg.eigh(A)
    mu = np.zeros(m + 1)  # without a feature A may have no more than m
    mu[: len(A)] = np.maximum(values[::-1][: m + 1], 0.0)
    along = vectors[:, ::-1][:, :m].T @ columns
    squares = np.divide(along**2, mu[:m, None], out=np.zeros_like(along), where=mu[:m, None] > ipu.RANK * mu[0])
    rest = np.maximum(corners - squares.sum(axis=0), 0.0)
    most = mu.sum() + corners
    low, high = np.full(len(corners), mu[m]), np.full(len(corners), mu[m - 1])
    for _ in range(BISECTIONS if mu[m - 1] > mu[m] else 0):
        open_ = np.flatnonzero(most - low > enough)
        t = (low[open_] + high[open_]) / 2
        inside = (t > mu[m]) & (t < mu[m - 1])  # not an end, between neighbouring numbers
        open_, t = open_[inside], t[inside]
        if not len(open_):
            break
        above = 1 + (squares[:, open_] / (mu[:m, None] - t)).sum(axis=0) < rest[open_] / (t - mu[m])
        low[open_[above]], high[open_[~above]] = t[above], t[~above]
    return most - low
