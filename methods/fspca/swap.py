"""FSPCA by exchanges of single features, after the paper's ascent has come to its end."""

from collections import deque

import numpy as np

from ufs_bench.methods.fspca import ipu

WORTHWHILE = 1e-6  # share of the value by which an exchange must raise it
BISECTIONS = 30  # they leave a billionth of a gap between eigenvalues
TRIED = 3  # features that may join in a first round, the most promising ones
MORE = 20  # eigenvectors after the first m that a bound takes as they are
SMALL = 1e-9  # squared singular values below this share of the largest have vectors that rounding has bent


class Problem(ipu.Problem):
    """The sum of the m largest eigenvalues of B'B on h features, raised until no exchange of one raises it."""

    def sweep(self, state):
        """Take a step of the ascent; where it changes nothing, exchange features until no exchange is worthwhile."""
        better = super().sweep(state)
        if better is not state or self.m == self.h or len(state.features) == self.B.shape[1]:
            return better
        return self._settled(state)

    def _settled(self, state):
        features, value = state.features[np.argsort(self.explained(state)[state.features], kind="stable")], -state.value
        for tried in (TRIED, self.B.shape[1]):
            features, value = self._exchanged(features, value, tried)
        return state if set(features) == set(state.features) else self.state_of(np.sort(features))

    def _exchanged(self, features, value, tried):
        """Return features of which no exchange for any of so many promising ones is worthwhile, and their value."""
        queue, in_vain = deque(features), 0  # since the last exchange
        bounds = Bounds(self.B, queue, self.m)
        while in_vain < len(queue):
            old = queue.popleft()
            new, value_with_it = self._replacement(bounds, old, list(queue), value, tried)
            if new is None:
                queue.append(old)
                in_vain += 1
                continue
            queue.append(new)
            value, in_vain = value_with_it, 0
            bounds = Bounds(self.B, queue, self.m)
        return list(queue), value

    def _replacement(self, bounds, old, kept, value, tried):
        """Return a feature that raises the value in place of another one, and the new value; None without one."""
        enough = (1 + WORTHWHILE) * value
        values, along, rest = bounds.without(old)
        rough = highest(values, along**2, rest, self.m, enough)
        rough[[*kept, old]] = -np.inf
        for j in np.argsort(-rough, kind="stable")[: min(tried, np.count_nonzero(rough > enough))]:
            # The bound again, with all eigenvalues that are known: the rest of the feature is a direction of its own.
            component = np.append(along[:, j], np.sqrt(rest[j]))
            if top_sum(np.diag(np.append(values, bounds.floor)) + np.outer(component, component), self.m) > enough:
                C = self.B[:, [*kept, j]]
                total = top_sum(C.T @ C if len(C) > len(C.T) else C @ C.T, self.m)
                if total > enough:
                    return j, total
        return None, value


class Bounds:
    """CC', C the columns of B of some features, with one smaller eigenvalue in place of those after the first.

    This matrix is nowhere below CC', so that what is found with it in place of CC' is a bound.

    Parameters
    ----------
    B : ndarray of shape (n_samples, n_features)
    features : iterable of int
    m : int
    """

    def __init__(self, B, features, m):
        C = B[:, list(features)]
        values, vectors = np.linalg.eigh(C.T @ C if len(C) > len(features) else C @ C.T)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        known = min(m + MORE, np.count_nonzero(values > SMALL * values[0]))
        self.values, left = values[:known], vectors[:, :known]
        self.floor = values[known] if known < len(values) else 0.0
        if len(C) > len(features):
            left = C @ (left / np.sqrt(self.values))
        self.along = left.T @ B
        self.left = B - left @ self.along

    def without(self, old):
        """Return the matrix without a feature: eigenvalues, and all features along its eigenvectors and elsewhere.

        Returns
        -------
        values : ndarray of shape (k,)
            Largest first; all others are `floor`.
        along : ndarray of shape (k, n_features)
        rest : ndarray of shape (n_features,)
            The squared length of a feature in all other directions.
        """
        remainder = self.left[:, old]
        size = np.linalg.norm(remainder)
        direction = remainder / size if size > 0 else remainder
        along = np.vstack([self.along, direction @ self.left])
        own = along[:, old]
        values, vectors = np.linalg.eigh(np.diag(np.append(self.values, self.floor)) - np.outer(own, own))
        rest = np.einsum("ij,ij->j", self.left, self.left) - along[-1] ** 2
        return values[::-1], (vectors.T @ along)[::-1], np.maximum(rest, 0.0)


def top_sum(A, m):
    """Return the sum of the m largest eigenvalues."""
    return float(np.linalg.eigvalsh(A)[-m:].sum())  # all of them take less time than some


def highest(values, squares, rest, m, enough=-np.inf):
    """Return a bound on the sum of the m largest eigenvalues of N + bb' for each of some vectors b.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Eigenvalues of N, largest first; with k > m the others are at most the (m + 1)-th, with fewer they are 0.
    squares : ndarray of shape (k, n)
        (u_l'b)^2 for the eigenvectors u_l.
    rest : ndarray of shape (n,)
        What is left of ||b||^2.
    m : int
    enough : float, default=-inf
        A bound below it is not made any sharper.

    Returns
    -------
    ndarray of shape (n,)

    Notes
    -----
    N is nowhere larger with mu_{m+1} in place of all smaller eigenvalues.  Then of N + bb' all but m + 1 eigenvalues
    are mu_{m+1}; those m + 1 sum up to mu_1 + ... + mu_{m+1} + ||b||^2, and the least is the root t in [mu_{m+1}, mu_m]
    of 1 + sum_{l<=m} (u_l'b)^2 / (mu_l - t) + beta / (mu_{m+1} - t), where beta is what is left of ||b||^2.  It is
    found by bisection, and every lower end of the interval gives a bound.
    """
    mu = np.zeros(m + 1)
    mu[: len(values)] = np.maximum(values[: m + 1], 0.0)
    squares, rest = squares[:m], rest + squares[m:].sum(axis=0)
    most = mu.sum() + squares.sum(axis=0) + rest
    low, high = np.full(len(rest), mu[m]), np.full(len(rest), mu[m - 1])
    for _ in range(BISECTIONS if mu[m - 1] > mu[m] else 0):
        open_ = np.flatnonzero(most - low > enough)
        t = (low[open_] + high[open_]) / 2
        inside = (t > mu[m]) & (t < mu[m - 1])  # not an end, between neighbouring numbers
        open_, t = open_[inside], t[inside]
        if not len(open_):
            break
        above = 1 + (squares[:, open_] / (mu[: len(squares), None] - t)).sum(axis=0) < rest[open_] / (t - mu[m])
        low[open_[above]], high[open_[~above]] = t[above], t[~above]
    return most - low
