"""The lasso path by least angle regression, knot by knot, exact to rounding.

scikit-learn's `lars_path` ends at absolute tolerances (correlations of 1e-7, pivots of 1e-7), updates its correlations
instead of computing them anew, and takes a ridge only through the Gram matrix of all features; hence this one.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import qr, qr_delete
from scipy.linalg.lapack import dtrtrs

DEPENDENT = 1e-10  # a column nearer than this to the span of the active ones, relative to its norm, adds nothing
PARALLEL = 1e-9  # a correlation that falls nearly as fast as the penalty never meets it
LATE = 1e-3  # share of the first penalty below which a path that stands still has come to its end
UNSOUND = 1e-9  # violation of the optimality conditions, as a share of the first penalty, that is more than rounding
EQUAL = 1e-12  # features that would join within this share of the penalty join in the order of their index


@dataclass(frozen=True)
class Knot:
    """A point of a lasso path: lambda, the active features in the order in which they joined, their coefficients."""

    penalty: float
    support: np.ndarray
    coefficients: np.ndarray


@dataclass(frozen=True)
class Path:
    """One knot of a lasso path for every number of active features.

    Entry m - 1 of `knots` is where the active set first grows beyond m features; with `last`, it is the last knot with
    m of them on the way to `max_active`.  On a path that ends before, the last entry is the last of the knots with the
    most active features.  There is none where no feature correlates with y.  `nearness`, of shape (n_features,), is
    |x_j'r| / lambda at the last of these knots (r is the residual; the limit is taken where lambda = 0): for a feature
    outside the support at most 1, and 1 means that it is about to join.  `n_steps` counts joins and leaves, and the
    step to lambda = 0.
    """

    knots: list
    nearness: np.ndarray
    n_steps: int


def lasso_paths(X, Y, max_active, ridge=0.0, last=False):
    """Follow min_a 1/2 ||y - X a||^2 + ridge/2 ||a||^2 + lambda ||a||_1 from lambda = inf down, for each column y of Y.

    A path is left where its active set would grow beyond `max_active`, at lambda = 0, or at its last optimal knot where
    rounding keeps it from getting on (seen only late, with as many active features as samples).  Without `last` its
    knots do not depend on `max_active`, which only says how many of them there are.

    The state is a thin QR factorisation of the active columns (sqrt(ridge) in a row of its own under each), updated
    when a feature joins or leaves.  Coefficients and correlations are computed from it anew at every knot, so that
    errors do not add up.  A step costs O(min(n_samples, n_features) n_features).  With more samples than features the
    problem is first reduced to the triangular factor of X, which has the same X'X and X'Y; a sparse X stays as it is.

    A feature in the span of the active ones (a duplicate) correlates with the residual as they do, and is passed over:
    the lasso solution is then not unique, and this one keeps the feature that came first.

    Efron, Hastie, Johnstone & Tibshirani. Least angle regression. Annals of Statistics 32, 2004, sections 2 and 3.1.
    """
    if sparse.issparse(X):
        columns = sparse.csr_array(X.T)
    else:
        if len(X) > X.shape[1]:
            Q, X = qr(X, mode="economic", check_finite=False)
            Y = Q.T @ Y
        columns = np.ascontiguousarray(X.T)
    most = min(max_active, columns.shape[0])
    return [_follow(columns, y, most, ridge, last) for y in np.ascontiguousarray(Y.T)]


def _follow(columns, y, max_active, ridge, last):
    n_features = columns.shape[0]
    if sparse.issparse(columns):
        norms = np.sqrt(columns.multiply(columns).sum(axis=1))
    else:
        norms = np.sqrt(np.einsum("ij,ij->i", columns, columns))
    noise = 8 * len(y) * np.finfo(float).eps * norms.max() * np.linalg.norm(y)
    correlations = columns @ y
    penalty = np.abs(correlations).max()
    joiner = int(np.argmax(np.abs(correlations) >= (1 - EQUAL) * penalty))
    if penalty <= noise:
        return Path([], np.zeros(n_features), 0)
    factor = _ActiveFactor(y, max_active, ridge)
    factor.append(factor.split(_column(columns, joiner)))
    active, signs, coefficients = [joiner], np.sign(correlations[[joiner]]), np.zeros(1)
    passed_over, left = [], None  # dependent on the active features; the one that left last, with its sign
    knots, best, n_steps, n_stalled = [], None, 0, 0  # best: of those since the support was largest
    first_penalty = penalty
    while True:
        fitted = factor.Q.T @ factor.y
        weights = factor.solve(signs, transposed=True)
        equiangular = factor.Q[: len(y)] @ weights  # its correlation with every active feature is its sign
        rest = y - factor.Q[: len(y)] @ fitted
        correlations, rates = columns @ (rest + penalty * equiangular), columns @ equiangular
        # Where the active columns span all others, every feature meets the penalty at 0, up to rounding.
        end = (1 - PARALLEL) * penalty if penalty > noise else 0.0
        to_leave, leaver = _next_leave(coefficients * signs, factor.solve(weights) * signs)
        to_join = _steps_to_join(correlations, rates, penalty, active + passed_over, left)
        while True:
            next_join, joiner, sign = _first(to_join, penalty)
            leaves = to_leave < end and to_leave <= next_join
            joins = next_join < end and not leaves
            split = factor.split(_column(columns, joiner)) if joins else None
            if not joins or split is not None:
                break
            passed_over.append(joiner)
            to_join[:, joiner] = np.inf
        step = min(to_leave, next_join, penalty)
        n_stalled = 0 if step > EQUAL * penalty else n_stalled + 1
        if n_stalled > 10 * n_features:
            raise RuntimeError(
                f"The lasso path does not leave lambda={penalty:g}, where features joined and left {n_stalled} times: "
                "pass ridge > 0, or remove the duplicates among the features."
            )
        n_steps += 1
        penalty = penalty - step if joins or leaves else 0.0
        if step > 0:  # else what joined at this very penalty keeps its exact zeros
            coefficients = factor.solve(fitted - penalty * weights)
            coefficients[coefficients * signs < 0] = 0.0  # rounding, where one has just joined
        if leaves:
            left = active.pop(leaver), signs[leaver]
            factor.delete(leaver)
            signs, coefficients = np.delete(signs, leaver), np.delete(coefficients, leaver)
            passed_over = []
        dual = equiangular + (rest / penalty if penalty else 0.0)  # residual / penalty
        knot = Knot(penalty, np.array(active), coefficients)
        n_active = len(active) + int(leaves)  # on the way to this knot
        if last:
            knots[n_active - 1 : n_active] = [knot]
        elif joins and len(active) > len(knots):
            knots.append(knot)
            best = None
        elif best is None or len(active) >= len(best[0].support):
            best = knot, dual
        if not (joins or leaves or last):
            knot, dual = best
            knots.append(knot)
        if (joins and len(active) == max_active) or not (joins or leaves):
            return Path(knots, np.abs(columns @ dual), n_steps)
        if n_stalled > 2 * len(active) + 10 and penalty <= LATE * first_penalty:
            return _sound_path(columns, y, ridge, knots, n_steps)
        if joins:
            factor.append(split)
            active.append(joiner)
            signs, coefficients, left = np.append(signs, sign), np.append(coefficients, 0.0), None


def _column(columns, j):
    """Return the values of a feature as a dense vector."""
    return columns[[j]].toarray()[0] if sparse.issparse(columns) else columns[j]


def _sound_path(columns, y, ridge, knots, n_steps):
    """Return the path up to its last knot that is optimal; later ones are led by rounding."""
    while True:
        knot = knots[-1]
        residual = y - knot.coefficients @ columns[knot.support]
        correlations = columns @ residual
        ridged = correlations.copy()
        ridged[knot.support] -= ridge * knot.coefficients
        if np.abs(ridged).max() - knot.penalty <= UNSOUND * knots[0].penalty:
            return Path(knots, np.abs(correlations) / knot.penalty, n_steps)
        knots.pop()


def _steps_to_join(correlations, rates, penalty, barred, left):
    """Return the fall of the penalty after which each feature joins: with sign + in row 0, with sign - in row 1."""
    steps = np.full((2, len(rates)), np.inf)
    for row, sign in zip(steps, (1, -1), strict=True):
        slower = 1 - sign * rates  # by how much its correlation falls more slowly than the penalty
        np.divide(np.maximum(penalty - sign * correlations, 0), slower, out=row, where=slower > PARALLEL)
    steps[:, barred] = np.inf
    if left is not None:  # it moves away from the bound that it was at
        steps[0 if left[1] > 0 else 1, left[0]] = np.inf
    return steps


def _first(to_join, penalty):
    """Return the shortest step, the feature that it brings, and its sign."""
    shortest = to_join.min(axis=0)
    step = shortest.min()
    joiner = int(np.argmax(shortest <= step + EQUAL * penalty))
    return step, joiner, 1.0 if to_join[0, joiner] <= to_join[1, joiner] else -1.0


def _next_leave(sizes, growth):
    """Return the fall of the penalty after which the first coefficient is zero, and the place of that coefficient.

    Sizes and growth are those of the coefficients times their signs.
    """
    steps = np.full(len(sizes), np.inf)
    np.divide(np.maximum(sizes, 0), -growth, out=steps, where=growth < 0)
    leaver = int(steps.argmin())
    return steps[leaver], leaver


class _ActiveFactor:
    """Thin QR factorisation of the active columns, each extended by sqrt(ridge) in a row of its own."""

    def __init__(self, y, capacity, ridge):
        self.root = np.sqrt(ridge)
        self.rows = list(range(len(y), len(y) + capacity + 1 if ridge else len(y)))  # the free ones
        self.taken = []
        self.y = np.zeros(len(y) + len(self.rows))
        self.y[: len(y)] = y
        self.basis = np.zeros((len(self.y), capacity), order="F")
        self.triangle = np.zeros((capacity, capacity), order="F")

    @property
    def Q(self):
        return self.basis[:, : len(self.taken)]

    @property
    def R(self):
        return self.triangle[: len(self.taken), : len(self.taken)]

    def solve(self, rhs, transposed=False):
        return dtrtrs(self.R, rhs, trans=int(transposed))[0]

    def split(self, column):
        """Return a column's coordinates in the basis, its unit remainder and that norm; None where it depends."""
        column = np.concatenate([column, np.zeros(len(self.y) - len(column))])
        if self.rows:
            column[self.rows[-1]] = self.root
        coordinates = self.Q.T @ column
        remainder = column - self.Q @ coordinates
        correction = self.Q.T @ remainder  # once is not enough for a remainder that is mostly rounding
        remainder -= self.Q @ correction
        distance = np.linalg.norm(remainder)
        if distance <= DEPENDENT * np.linalg.norm(column):
            return None
        return coordinates + correction, remainder / distance, distance

    def append(self, split):
        m = len(self.taken)
        self.triangle[:m, m], self.basis[:, m], self.triangle[m, m] = split
        self.taken.append(self.rows.pop() if self.rows else None)

    def delete(self, position):
        Q, R = qr_delete(self.Q, self.R, position, which="col", check_finite=False)
        row = self.taken.pop(position)
        if row is not None:
            self.rows.append(row)
        m = len(self.taken)
        self.basis[:, :m], self.triangle[:m, :m] = Q[:, :m], R[:m]
