"""The estimator contract: what every method takes, learns and reports."""

import numbers
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ufs_bench.methods.core.checks import at_least, check_choice, check_number, check_range, n_samples, rng_of, whole
from ufs_bench.methods.core.graphs import BLOCK
from ufs_bench.methods.core.loop import DIVERGED, MAX_ITER, Trace
from ufs_bench.methods.core.shared import constant, shared
from ufs_bench.methods.core.sparse_data import read_only

# The range of a parameter of this name in every method that has it, unless the method's `bounds` say otherwise.
COMMON = {"n_clusters": whole(1, n_samples), "n_neighbors": whole(1), "max_iter": whole(0), "tol": at_least(0)}
ROOM = 1.3  # share of the arrays of a `methods.core.graphs.nearest_neighbors` that is counted
OR_ARRAY = {"affinity"}  # may be an array in place of one of the `choices`


@dataclass(frozen=True)
class Solution:
    """The result of a method's `_solve`.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Larger is better, finite.
    trace : Trace
    labels : ndarray of shape (n_samples,) of int, or None
        Learned cluster labels, where the model has cluster indicators.
    learned : mapping of str to object
        What else the fit learned, by the name of its attribute: ``{"coef_": W, "indicators_": F}``.  The class
        documents each under Attributes, with its shape.
    objective : float, or None
        The objective as printed, where the trace has another form of it that each sweep lowers.
    """

    scores: np.ndarray
    trace: Trace = field(default_factory=Trace)
    labels: np.ndarray | None = None
    learned: Mapping = field(default_factory=dict)
    objective: float | None = None


class BaseSelector(SelectorMixin, BaseEstimator):
    """Base of every unsupervised feature selector.

    A method writes ``_solve(X, rng) -> Solution``; X is float64, C-ordered, finite, (n_samples, n_features), and
    read-only; with ``takes_sparse = True`` it may be a csr_array.  It declares the ranges of its parameters: ``bounds =
    {"alpha": above(0)}`` with the functions of `methods.core.checks`, ``choices = {"variant": ("paper", "released")}``.
    What these cannot say, such as the shape of a start, is for ``_check(X)``.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features `transform` keeps: a number in [1, n_features], a share in (0, 1], or None for half of them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better, finite.
    ranking_ : ndarray of shape (n_features,) of int
        Feature indices, best first; ties by index.
    objective_ : float
        Final value of the objective; nan where the method has none.
    trace_ : ndarray
        Objective at the start and after every sweep, maybe smoothed; empty for a closed form.
    n_iter_ : int
        Sweeps done.
    status_ : {"converged", "max_iter", "diverged", "collapsed"}
        How the fit ended.  "collapsed": it learned nothing.  All scores are zero, so that the ranking is file order, or
        what else the method says, such as one cluster for all samples.
    labels_ : ndarray of shape (n_samples,) of int
        Learned cluster labels; only where the model has cluster indicators.
    n_features_to_select_ : int
    """

    # True where the number of features is part of the model, so that every size needs a fit of its own.
    size_in_objective = False

    # Ranges and choices of parameters by name, checked before any work.
    bounds = {}  # type: ignore[var-annotated]
    choices = {}  # type: ignore[var-annotated]

    # True where nothing is selected: the runner then scores all features, whatever the protocol's sizes.
    keeps_all = False

    # True where a fit keeps a sparse X sparse.
    takes_sparse = False

    # False where the method is for counts or amounts, as they are before any scaling: negative values are refused.
    takes_negative = True

    # The largest number of float64 arrays that a fit holds at once, by shape: "nd" is that of X, "mm" is m x m with
    # m = min(n, d), and "ss" is s x s with s = min(n, `dense_samples`), for arrays that are sparse beyond that.
    arrays = {"nd": 3}
    dense_samples = float("inf")

    # Parameters that repeat the method and do not tune it: every value of its file is run, whatever protocols search.
    repeats = ()

    def __init__(self, n_features_to_select: int | float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y: object = None) -> "BaseSelector":
        """Learn the scores of the features of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_samples, n_features)
            Sparse only where the method has ``takes_sparse``.
        y : ignored
            Labels never reach a method.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            For a sparse X where the method needs a dense one.
        ValueError
            For X or a parameter out of its range.
        """
        accepted = "csr" if self.takes_sparse else False
        X = validate_data(self, X, accept_sparse=accepted, dtype=np.float64, order="C", ensure_min_samples=2)
        X = read_only(X)  # it may be the caller's own array
        with constant(X):
            self.check_parameters(X)
            self.n_features_to_select_ = _resolve_size(self.n_features_to_select, X.shape[1])
            try:
                solution = self._solve(X, rng_of(getattr(self, "random_state", None)))
            except np.linalg.LinAlgError as error:  # before the first sweep, or in a closed form; in a loop it diverges
                raise ValueError(
                    f"{type(self).__name__} met a system that it cannot solve ({error}): its parameters do not suit "
                    f"data as large as {np.abs(X).max():g}; scale the features, for example to [0, 1]."
                ) from error
        self._store(solution)
        return self

    def check_parameters(self, X: np.ndarray) -> None:
        """Raise ValueError for data out of range, or a parameter that does not fit them, without fitting anything.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            It names the parameter, its value and the bound; of data it says what to do.
        """
        shared(X, check_range)  # once for all points of a grid
        if not self.takes_negative and X.min() < 0:
            raise ValueError(
                f"Negative values in data: {X.min():g} is the least. {type(self).__name__} is for counts or amounts, 0 "
                "or more, and does not apply; data that are of that kind must come before any scaling "
                "(protocol.scaling_for)."
            )
        _resolve_size(self.n_features_to_select, X.shape[1])
        parameters = self.get_params(deep=False)
        for name, bound in {**COMMON, **self.bounds}.items():
            if name in parameters:
                bound.check(name, parameters[name], X)
        for name, options in self.choices.items():
            check_choice(name, parameters[name], options, or_array=name in OR_ARRAY)
        self._check(X)

    @property
    def builds_graph(self) -> bool:
        """True where a fit looks for the neighbours of all samples."""
        return hasattr(self, "n_neighbors")

    def memory(self, n_samples: int, n_features: int, n_stored: int | None = None) -> int:
        """Return an upper estimate of the memory of a fit beside X: the `arrays`, and the blocks of a graph's search.

        Parameters
        ----------
        n_samples, n_features : int
        n_stored : int, optional
            Entries that a sparse X stores; arrays of the shape of X have as many, with an index each.

        Returns
        -------
        int
            Bytes.
        """
        sides = {"n": n_samples, "d": n_features, "m": min(n_samples, n_features)}
        sides["s"] = min(n_samples, self.dense_samples)  # type: ignore[assignment]
        entries = {shape: sides[shape[0]] * sides[shape[1]] for shape in self.arrays}
        if n_stored is not None:
            entries = {"nd": 1.5 * n_stored + BLOCK}  # type: ignore[dict-item]  # other arrays are never formed
        numbers = sum(self.arrays[shape] * count for shape, count in entries.items() if shape in self.arrays)
        if self.builds_graph:  # before all else: its arrays are gone when the others come
            pairs = min(n_samples**2, BLOCK)  # of all samples, a block at a time, then of neighbours, with differences
            graph = max(3 * pairs, 2 * (pairs + min(n_samples * self.n_neighbors * n_features, BLOCK)))
            numbers = max(numbers, ROOM * graph + 2 * entries.get("nd", n_samples * n_features))
        return int(8 * numbers)

    def subset(self, size: int) -> np.ndarray:
        """Return the `size` features that this fit selects, best first.

        Parameters
        ----------
        size : int
            In [1, n_features].  Where the size is part of the model, only the fitted one has a meaning.

        Returns
        -------
        ndarray of shape (size,) of int
        """
        check_is_fitted(self, "ranking_")
        check_number("size", size, 1, len(self.ranking_), integer=True, high_name="n_features")
        if self.size_in_objective and size != self.n_features_to_select_:
            raise ValueError(
                f"size={size} must be n_features_to_select={self.n_features_to_select_}: "
                f"{type(self).__name__} needs one fit per size."
            )
        return self.ranking_[:size]

    def _check(self, X):
        """Raise ValueError for what `bounds` and `choices` cannot say, such as the shape of a start."""

    def _solve(self, X, rng):
        raise NotImplementedError(f"{type(self).__name__} must define _solve(X, rng) -> Solution.")

    def _store(self, solution):
        if not isinstance(solution, Solution):
            raise TypeError(
                f"{type(self).__name__}._solve returned {type(solution).__name__}; it must return Solution(scores=...)."
            )
        scores = np.asarray(solution.scores, dtype=float)
        if scores.shape != (self.n_features_in_,) or not np.isfinite(scores).all():
            raise ValueError(
                f"{type(self).__name__} gave scores of shape {scores.shape}, {np.isfinite(scores).sum()} finite; "
                f"they must be finite and of shape (n_features,) = ({self.n_features_in_},)."
            )
        trace = solution.trace
        self.scores_ = scores
        self.ranking_ = np.argsort(-scores, kind="stable")
        self.trace_ = trace.objective
        last = trace.objective[-1] if len(trace.objective) else np.nan
        self.objective_ = float(last if solution.objective is None else solution.objective)
        self.n_iter_ = trace.n_iter
        self.status_ = trace.collapsed_if(not scores.any() and trace.status != DIVERGED).status
        learned = dict(solution.learned)
        if solution.labels is not None:
            learned["labels_"] = np.asarray(solution.labels)
        for name in getattr(self, "_learned", ()):  # by an earlier fit, maybe with another variant
            delattr(self, name)
        self._learned = tuple(learned)
        for name, value in learned.items():
            setattr(self, name, value)
        # tol=0 asks for that many sweeps, and gets them.
        if self.status_ == MAX_ITER and getattr(self, "tol", np.inf) > 0:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={trace.n_iter} sweeps, not converged. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _get_support_mask(self):
        check_is_fitted(self, "ranking_")
        mask = np.zeros(len(self.ranking_), dtype=bool)
        mask[self.subset(self.n_features_to_select_)] = True
        return mask

    def __sklearn_is_fitted__(self):
        # By default any name with a trailing underscore counts as learned, and so would the parameter `lambda_`.
        return hasattr(self, "ranking_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.input_tags.sparse = self.takes_sparse
        tags.input_tags.positive_only = not self.takes_negative
        return tags


def _resolve_size(size, n_features):
    if size is None:
        return max(1, n_features // 2)
    if isinstance(size, numbers.Real) and not isinstance(size, numbers.Integral):
        check_number("n_features_to_select", size, 0, 1, open_low=True)
        return max(1, round(size * n_features))
    check_number("n_features_to_select", size, 1, n_features, integer=True, high_name="n_features")
    return int(size)
