"""Methods as they are: any class with ``fit(X)``, such as a selector of scikit-learn, and any function of the data.

A class tells which features are good by what it has after a fit, the first of these: `scores_`, `feature_importances_`
or `variances_` (larger is better); `ranking_`; `get_support()`.  A function returns a score for each feature.
"""

import functools
import inspect
import numbers
import re
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ufs_bench.methods.core.base import COMMON, BaseSelector, Solution
from ufs_bench.methods.core.loop import CONVERGED, MAX_ITER, STATUSES, Trace

SCORES = ("scores_", "feature_importances_", "variances_")
SIZE, LABELS, MASK = "n_features_to_select", "y", "get_support()"
SIZES = (SIZE, "k", "max_features")  # the others only beside `get_support`: elsewhere k may count neighbours
RESULT = "the result"  # the name of what a function returns
ABOUT_LABELS = re.compile(r"\by\b|NoneType|\blabels?\b|\btargets?\b")
NO_LABELS = "labels never reach a method"
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@functools.cache
def plain(found, target):
    """Return a class of methods that runs a class or a function as it is.

    Parameters
    ----------
    found : type or callable
        A class with ``fit(X)``, or a function of X with parameters that can be given by name.
    target : str
        Its dotted name.

    Raises
    ------
    TypeError
        For what is neither, or asks for labels.
    """
    if isinstance(found, type):
        if not callable(getattr(found, "fit", None)):
            raise TypeError("a class must have fit(X), and after it scores_, ranking_ or get_support()")
        given = list(inspect.signature(found).parameters.values())
        _, *others = inspect.signature(found.fit).parameters.values()  # without self
        _refuse_labels("fit", others[1:])
    else:
        if not callable(found) or not hasattr(found, "__name__"):
            raise TypeError("it must be a class with fit(X), or a function of X that returns a score for each feature")
        first, *given = [*inspect.signature(found).parameters.values(), None]
        if first is None or first.kind is first.KEYWORD_ONLY:
            raise TypeError("a function must take X first, and return a score for each feature")
        given = given[:-1]
        _refuse_labels(found.__name__, given)
    names = SIZES if hasattr(found, "get_support") else SIZES[:1]
    size_name = next((name for name in names if name in [one.name for one in given]), None)
    module, _, name = target.rpartition(".")
    own = [one for one in given if one.kind in BY_NAME and one.name not in (size_name, SIZE, LABELS)]
    first = inspect.Parameter(SIZE, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    parameters = [first, *(one.replace(kind=one.KEYWORD_ONLY, annotation=one.empty) for one in own)]
    about = {
        "__module__": module,
        "__doc__": f"`{target}` as a method, with its own parameters.",
        "__signature__": inspect.Signature(parameters),
        "wrapped": found if isinstance(found, type) else staticmethod(found),
        "size_name": size_name,
        # Its features of one size need not be among those of a larger one, unless it says so itself.
        "size_in_objective": bool(getattr(found, "size_in_objective", size_name is not None)),
    }
    return type(name, (Plain,), about)


class Plain(BaseSelector):
    """A class or a function that `plain` was given, as a method.

    Attributes
    ----------
    selector_ : object
        Only of a class: the fitted object itself.
    """

    tol = 0  # `BaseSelector` adds no warning: a fit that stops early has given its own

    def __init__(self, n_features_to_select=None, **parameters):
        bound = self.__signature__.bind(n_features_to_select, **parameters)
        bound.apply_defaults()
        super().__init__(n_features_to_select)
        self._parameters = {name: value for name, value in bound.arguments.items() if name != SIZE}

    def get_params(self, deep=True):
        """Return all parameters, by name."""
        return {SIZE: self.n_features_to_select, **self._parameters}

    def set_params(self, **parameters):
        """Set parameters by name."""
        self.__init__(**(self.get_params() | parameters))
        return self

    def __reduce__(self):
        return _unfilled, (self.wrapped, f"{type(self).__module__}.{type(self).__name__}"), self.__getstate__()

    def _check(self, X):
        for name, value in self._parameters.items():
            if inspect.isroutine(value):
                _refuse_labels(f"{name}={value.__name__}", list(inspect.signature(value).parameters.values())[1:])
        if isinstance(self.wrapped, type):
            selector = self._made(self.n_features_to_select)
            tags = selector.__sklearn_tags__() if hasattr(selector, "__sklearn_tags__") else None
            if tags is not None and tags.target_tags.required:
                raise ValueError(f"{type(self).__name__} asks for y, and {NO_LABELS}.")

    def _made(self, size):
        """Return an unfitted object of the class."""
        try:
            return self.wrapped(**self._given(size))
        except Exception as error:  # a user's class may raise anything
            raise ValueError(f"{type(self).__name__} cannot be made: {type(error).__name__}: {error}") from error

    def _given(self, size):
        return self._parameters | ({} if self.size_name is None or size is None else {self.size_name: size})

    def _solve(self, X, rng):
        size = self.n_features_to_select_
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, result = self._ask(np.array(X), size)  # a copy, as it may write into it
        for item in caught:
            warnings.warn(item.message, item.category, stacklevel=4)
        stopped = any(issubclass(item.category, ConvergenceWarning) for item in caught)
        trace = _trace(getattr(found, "trace_", ()))
        n_iter = len(trace) - 1 if len(trace) else getattr(found, "n_iter_", 0)
        status = getattr(found, "status_", MAX_ITER if stopped else CONVERGED)
        if status not in STATUSES:
            raise ValueError(f"status_={status!r} must be one of {', '.join(STATUSES)}.")
        return Solution(
            scores=self._scores(result, X.shape[1], size),
            trace=Trace(trace, status, int(n_iter) if isinstance(n_iter, numbers.Integral) else 0),
            labels=_labels(getattr(found, "labels_", None), len(X)),
            learned={} if found is None else {"selector_": found},
        )

    def _ask(self, X, size):
        """Return the fitted object, None for a function, and what it says of the features, by name."""
        try:
            if not isinstance(self.wrapped, type):
                result = _in_order(self.wrapped(X, **self._given(size)))
                return None, {MASK if result.dtype == bool else RESULT: result}
            found = self._made(size).fit(X)
        except Exception as error:
            if ABOUT_LABELS.search(str(error)):
                text = f"{type(error).__name__}: {error} ({type(self).__name__} was given no y: {NO_LABELS})"
                raise ValueError(text) from error
            raise
        names = [name for name in (*SCORES, "ranking_") if getattr(found, name, None) is not None][:1]
        said = {name: _in_order(getattr(found, name)) for name in names}
        if hasattr(found, "get_support"):
            said[MASK] = found.get_support()
        if not said:
            raise ValueError(
                f"{type(self).__name__} has none of {', '.join(SCORES)}, ranking_ and get_support() after its fit: it "
                "says of no feature how good it is."
            )
        return found, said

    def _scores(self, said, n_features, size):
        """Return a score for each feature, larger is better, from the values that were said."""
        support = said.pop(MASK, None)
        scores = None
        for name, values in said.items():
            chosen = name == RESULT and self.size_name and values.shape != (n_features,)
            is_order, what = chosen or name == "ranking_", f"{name} of {type(self).__name__}"
            scores = (_from_ranking if is_order else _from_values)(what, values, n_features, size)
        if support is None:
            return scores
        mask = _mask(support, n_features)
        best = np.argsort(-(mask if scores is None else scores).astype(float), kind="stable")
        if self.size_in_objective or scores is None:
            if mask.sum() != size:
                raise ValueError(
                    f"{type(self).__name__} selects {mask.sum()} features where {size} are asked for"
                    + (f": {self.size_name}={size} was given." if self.size_name else ", and takes no size.")
                )
            if scores is None or not mask[best[:size]].all():  # its selection counts, in the order of its scores
                order = np.lexsort((np.argsort(best, kind="stable"), ~mask))
                scores = np.empty(n_features)
                scores[order] = np.arange(n_features, 0, -1)
        elif mask.any() and not mask.all() and scores[mask].min() < scores[~mask].max():
            raise ValueError(
                f"{type(self).__name__} selects other features than those with the largest {next(iter(said))}; larger "
                "must be better. Give a function of X in its place, that returns them with the other sign."
            )
        return scores


class AnyValue:
    """Takes every value; the wrapped class has its own say."""

    @staticmethod
    def check(*_):
        """Refuse nothing."""


Plain.bounds = {name: AnyValue for name in COMMON if name != "n_clusters"}  # the runner sets n_clusters


def _unfilled(found, target):
    cls = plain(found, target)
    return cls.__new__(cls)


def _refuse_labels(what, parameters):
    """Refuse a function that cannot be called without labels."""
    for one in parameters:
        if one.name == LABELS and one.default is one.empty:
            raise TypeError(f"{what} asks for y, and {NO_LABELS}")


def _in_order(values):
    """Return values as an array; those of a pandas Series that was sorted are put back, by the numbers in its index."""
    index = getattr(values, "index", None)
    if hasattr(values, "to_numpy") and index is not None:
        places = np.asarray(index)
        if places.dtype.kind in "iu" and np.array_equal(np.sort(places), np.arange(len(places))):
            return values.to_numpy()[np.argsort(places, kind="stable")]
    return np.asarray(values)


def _labels(labels, n_samples):
    """Return the labels of a fitted object, if it has any, as whole numbers or as what names a cluster."""
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(f"labels_ has shape {labels.shape}; it must have one label for each sample.")
    if labels.dtype.kind == "f" and not (np.isfinite(labels).all() and (labels == np.rint(labels)).all()):
        raise ValueError("labels_ must be whole numbers, one for each sample; some are not.")
    return labels


def _trace(values):
    try:
        trace = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"trace_ must be the numbers of the objective, one after each sweep: {error}") from error
    if trace.ndim != 1 or not np.isfinite(trace).all():
        raise ValueError(f"trace_ of shape {trace.shape} must be one finite number of the objective after each sweep.")
    return trace


def _from_values(what, values, n_features, _):
    if values.shape != (n_features,) or values.dtype.kind not in "biuf":
        raise ValueError(
            f"{what} has shape {values.shape} and type {values.dtype}; it must be one number for each of {n_features} "
            "features."
        )
    values = values.astype(float)
    if not np.isfinite(values).all():
        raise ValueError(f"{what} is not finite for {(~np.isfinite(values)).sum()} of {n_features} features.")
    return values


def _from_ranking(what, ranking, n_features, size):
    """Return scores from ranks of all features, 1 the best, or from the numbers of features, best first, from 0."""
    if ranking.dtype.kind == "f" and np.isfinite(ranking).all():  # as scipy.stats.rankdata gives them
        if len(np.unique(ranking)) < ranking.size:
            raise ValueError(f"{what} has ties, and a tie is no order: scipy.stats.rankdata has method='ordinal'.")
        ranking = ranking.astype(int) if (ranking == np.rint(ranking)).all() else ranking
    if ranking.ndim == 1 and ranking.dtype.kind in "iu" and len(ranking):
        numbers = np.unique(ranking)
        if len(ranking) == n_features and numbers[0] == 1:
            return (numbers[-1] + 1.0) - ranking
        if len(numbers) == len(ranking) >= size and numbers[0] >= 0 and numbers[-1] < n_features:
            scores = np.zeros(n_features)
            scores[ranking] = np.arange(len(ranking), 0, -1)
            return scores
    raise ValueError(
        f"{what} must have the rank of each of {n_features} features, 1 for the best, or the numbers of {size} "
        f"features or more, best first, from 0; it has shape {ranking.shape} and type {ranking.dtype}"
        + (f", from {ranking.min()} to {ranking.max()}." if ranking.size and ranking.dtype.kind in "iuf" else ".")
    )


def _mask(support, n_features):
    mask = np.asarray(support)
    if mask.shape != (n_features,) or mask.dtype != bool:
        raise ValueError(
            f"The mask of selected features has shape {mask.shape} and type {mask.dtype}; it must be true or false for "
            f"each of {n_features} features."
        )
    return mask
