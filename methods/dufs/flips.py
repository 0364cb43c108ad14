"""DUFS: what the loss becomes when single gates open or close, for all gates at the cost of a few matrix products."""

import numpy as np

from ufs_bench.methods.dufs.gates import gate_moments, open_share
from ufs_bench.methods.dufs.walk_score import distances, mean_distance

LEADING = 10  # eigenvectors of YY' that a bound takes as they are; the rest of it is mostly below a hundredth
WORTHWHILE = 1e-6  # share of the loss by which a flip must lower it
# Exchanges: open gates that may close, fewer where entries of X times samples of a graph are so many that an evaluation
# takes a tenth of a second; and for each the closed ones that may open.
CLOSED, ENTRIES, TRIED = (15, 50), 2.5e10, 3
AT_ONCE = 16  # flips that are looked at before the best of them are made


def settle(problem, states, max_iter, moves):
    """Return more states of falling loss, until none of some moves lowers it; max_iter + 1 states at most.

    Parameters
    ----------
    problem : methods.dufs.paper.Problem
    states : list of State
        The last one is the start.
    max_iter : int
    moves : sequence of callables
        Those that cost least first; ``move(problem, state)`` is a lower state or None.

    Returns
    -------
    list of State
    """
    states = list(states)
    while len(states) <= max_iter:
        lower = (move(problem, states[-1]) for move in moves)
        new = next((state for state in lower if state is not None), None)
        if new is None:
            break
        states.append(new)
    return states


def _by_slope(problem, state):
    """Return a state with many flips at once, those that the score's slope says pay; None where no number of them does.

    The slope is that by the square of a gate, in which the score is smooth where mu is flat at the ends of the box.
    """
    features, targets = _moves(problem, state)
    expected = _expected(problem, state, features, targets)
    order = np.argsort(expected, kind="stable")
    return _flipped(problem, state, features[order], targets[order], np.count_nonzero(expected < state.value))


def _by_value(problem, state):
    """Return a state with those flips that lower the loss by themselves, or some of them; None where none does."""
    features, targets = _moves(problem, state)
    order = np.argsort(_expected(problem, state, features, targets), kind="stable")
    flips = Flips(problem, state)
    enough = state.value - WORTHWHILE * abs(state.value)
    for some in np.array_split(order, -(-len(order) // AT_ONCE)):
        values = np.array([flips.value(features[i], targets[i], enough) for i in some])
        better = some[np.argsort(values, kind="stable")[: np.count_nonzero(values < enough)]]
        if len(better):
            return _flipped(problem, state, features[better], targets[better], len(better))
    return None


def _by_exchange(problem, state):
    """Return a state with one open gate closed and another opened; None where this does not pay.

    Gates that cost least to close are closed first, and the `TRIED` that then promise most are opened.
    """
    opened = np.flatnonzero(state.mu > 0)
    shut = np.full(len(opened), -problem.bound)
    count = int(np.clip(ENTRIES / problem.entries, *CLOSED))
    order = np.argsort(_expected(problem, state, opened, shut), kind="stable")[:count]
    for feature in opened[order]:
        closed = problem.state(np.where(np.arange(len(state.mu)) == feature, -problem.bound, state.mu))
        others = np.flatnonzero((state.mu <= 0) & problem.varies)
        targets = np.full(len(others), problem.bound)
        for i in np.argsort(_expected(problem, closed, others, targets), kind="stable")[:TRIED]:
            new = _flipped(problem, closed, others[i : i + 1], targets[i : i + 1], 1, state.value)
            if new is not None:
                return new
    return None


def _moves(problem, state):
    """Return features and the ends of the box that their gates may go to: the other one, or both from between."""
    far = np.where(state.mu > 0, -problem.bound, problem.bound)
    between = np.flatnonzero(np.abs(state.mu) < problem.bound)
    return np.append(np.arange(len(far)), between), np.append(far, -far[between])


def _expected(problem, state, features, targets):
    """Return the loss after each flip by the slope of the score at hand, with the exact share of open gates."""
    before, after = (gate_moments(mu, problem.noise)[1] for mu in (state.mu[features], targets))
    score = problem.score_of(state) - state.gain[features] * (after - before)
    return problem.loss_of(score, _shares(problem, state, features, targets))


def _shares(problem, state, features, targets):
    share, _ = open_share(state.mu, problem.noise)
    return share + problem.open_chances(targets) - problem.open_chances(state.mu[features])


def _flipped(problem, state, features, targets, count, value=None):
    """Return the state after the first `count` flips, or half of them, ..., the first below `value`; or None."""
    value = state.value if value is None else value
    while count >= 1:
        mu = state.mu.copy()
        mu[features[:count]] = targets[:count]
        new = problem.state(mu)
        if new.value < value - WORTHWHILE * abs(value) / 2:  # half, as rounding differs
            return new
        count //= 2
    return None


MANY = (_by_slope,)
FLIPS = (*MANY, _by_value)
ALL = (*FLIPS, _by_exchange)


class Flips:
    """The loss after one flip, exact where it is low, from what all flips share.

    With P, P + E the walk before and after, K the Gram matrix before and K + aA after it,

        tr (P + E)^2 (K + aA) = tr P^2 K + tr E (PK + KP) + tr E^2 K + a tr (P + E)^2 A.

    All but the third term take O(n^2), as A = xx', plus a diagonal matrix where gates are those of entries.  The third
    takes a product of n x n matrices; but on the leading eigenvectors of K it takes O(n^2), and on the others it is at
    most their largest eigenvalue times ||E||^2.
    """

    def __init__(self, problem, state):
        self.problem, self.state = problem, state
        self.walks = [Walk(X, K, problem) for X, K in zip(problem.groups, problem.grams(state.mu), strict=True)]

    def value(self, feature, target, enough):
        """Return the loss with this gate at this mean; inf where a bound shows that it is not below `enough`."""
        problem = self.problem
        at = np.array([self.state.mu[feature], target])
        share = _shares(problem, self.state, [feature], at[1:])[0]
        pair, own = np.diff(problem.weights(at))[:, 0]
        parts = [walk.after(feature, pair, own - pair) for walk in self.walks]
        highest = sum(known + first + error for known, first, error, _ in parts)
        if not problem.loss_of(-highest / problem.size, share) < enough:
            return np.inf
        total = sum(known + np.vdot(E.T, E @ walk.K) for (known, _, _, E), walk in zip(parts, self.walks, strict=True))
        return problem.loss_of(-total / problem.size, share)


class Walk:
    """The walk of one group of samples, with what the flips of all gates need of it."""

    def __init__(self, X, K, problem):
        self.X, self.K = X, K
        self.scale_factor, self.n_neighbors = problem.scale_factor, min(problem.n_neighbors, len(K) - 1)
        self.D = distances(K)
        self.P = self._walk(self.D.copy())
        PK = self.P @ K
        self.value = np.vdot(self.P, PK.T)
        self.slopes = (PK + K @ self.P).T
        values, vectors = np.linalg.eigh(K)
        leading = slice(max(len(K) - LEADING, 0), None)
        self.leading, self.lengths = vectors[:, leading].copy(), values[leading]
        self.rest = max(values[-LEADING - 1], 0.0) if len(K) > LEADING else 0.0

    def _walk(self, D):
        s = mean_distance(D, self.n_neighbors)
        D /= -self.scale_factor * s
        np.exp(D, out=D)
        D /= D.sum(axis=1)[:, None]
        return D

    def after(self, feature, pair, own):
        """Return what is known of the value after a flip, the leading part of the rest, a bound on what is left, and E.

        `pair` times x_i x_k is added to the Gram matrix, and on its diagonal `own` times x_i^2 more.
        """
        x = self.X[:, feature]
        E = np.subtract.outer(x, x)
        E *= E
        E *= pair
        E += self.D
        if own:
            E += own * np.add.outer(x**2, x**2)
            np.fill_diagonal(E, 0.0)
        np.maximum(E, 0.0, out=E)
        P = E = self._walk(E)
        known = self.value + pair * ((x @ P) @ (P @ x))
        if own:
            known += own * np.einsum("ij,ji->i", P, P) @ x**2
        E -= self.P
        known += np.vdot(E, self.slopes)
        first = np.einsum("ij,ij->j", E.T @ self.leading, E @ self.leading) @ self.lengths
        return known, first, self.rest * np.vdot(E, E), E
