"""The properties of every method: functions that assert, without pytest, each named as the sentence that it checks."""

import functools
import importlib
import inspect
import pickle
import re

import numpy as np
from sklearn.base import clone

from ufs_bench.runners.experiment.method import Method, load_class
from ufs_bench.runners.experiment.settings import check_values
from ufs_bench.runners.workers.outside import is_outside
from ufs_bench.scripts.check_method.contract import (
    assert_same_features,
    blobs,
    error_of,
    sections,
    where_it_rises,
    wide_blobs,
    without_negatives,
)

STATUSES = ("converged", "max_iter", "diverged", "collapsed")
SMOOTHING = 1e-4  # as a share of the objective; on such small samples it is about 1e-6 for each feature
GROUPS = CONFIGURATION, FIRST_FIT, SHAPES, DESCENT, EQUIVARIANCE, ERRORS, REPRODUCIBILITY = (
    "configuration", "first fit", "shapes and input", "descent", "equivariance", "errors", "reproducibility",
)  # fmt: skip
PROPERTIES = []  # each has the group that reports show it in


def property_of_every_method(group, *made):
    """Add a check to `PROPERTIES`: of a method, or of a method and samples, those that each of some functions makes."""

    def add(check):
        @functools.wraps(check)
        def on_samples(method):
            for make in made:
                check(method, without_negatives(make(), method))

        PROPERTIES.append(on_samples if made else check)
        PROPERTIES[-1].group = group
        return PROPERTIES[-1]

    return add


@property_of_every_method(CONFIGURATION)
def configuration_has_the_keys_that_are_read_and_no_other(method):
    wanted = ["name", "target", "paper_name", "citation", "params", "grid"]
    if method.is_plain:
        wanted = [key for key in wanted if key in method.config or key not in ("paper_name", "citation")]
    wanted += [key for key in ("repair", "seedless") if key in method.config]
    assert list(method.config) == wanted, f"it has {list(method.config)}, it must have {wanted}, in this order"
    assert method.config["name"] == method.name, f"name is {method.config['name']!r}, the file is {method.name}.yaml"


@property_of_every_method(CONFIGURATION)
def target_is_a_class_that_derives_from_base_selector(method):
    base = load_class("methods.core.base.BaseSelector")
    assert issubclass(method.cls, base), f"{method.config['target']} must derive from methods.core.base.BaseSelector"
    assert method.cls._solve is not base._solve, f"{method.config['target']} must define _solve(X, rng) -> Solution"


@property_of_every_method(CONFIGURATION)
def class_in_methods_can_be_imported_from_methods(method):
    package, name = importlib.import_module("ufs_bench.methods"), method.cls.__name__
    if not is_outside(method.config["target"]):
        listed = name in package.__all__ and getattr(package, name, None) is method.cls
        assert listed, f"{name} must have a line in methods/__init__.py"


@property_of_every_method(CONFIGURATION)
def size_comes_first_and_everything_else_is_keyword_only(method):
    first, *others = inspect.signature(method.cls).parameters.values()
    assert first.name == "n_features_to_select", f"the first parameter is {first.name}, not n_features_to_select"
    wrong = [parameter.name for parameter in others if parameter.kind is not parameter.KEYWORD_ONLY]
    assert not wrong, f"{', '.join(wrong)} must come after a * in the signature"


@property_of_every_method(CONFIGURATION)
def run_py_takes_the_configuration(method):
    check_values("method", method.config)
    Method.read(method.config)


@property_of_every_method(CONFIGURATION)
def default_is_a_point_of_the_grid(method):
    for name, values in method.config["grid"].items():
        default = method.config["params"].get(name)
        assert default in values, f"params.{name} is {default}, not in grid.{name}: {values}"


@property_of_every_method(FIRST_FIT, blobs, wide_blobs)
def small_data_can_be_fitted(method, X):
    method.fitted(X)


@property_of_every_method(FIRST_FIT, blobs)
def attributes_of_the_docstring_are_there_after_a_fit_and_of_the_shape_it_says(method, X):
    section = sections(inspect.cleandoc(method.cls.__doc__ or "")).get("Attributes", "")  # its own, not the inherited
    selector = method.fitted(X)
    sizes = {"n_samples": X.shape[0], "n_features": X.shape[1], "n_clusters": 3, "n_features_to_select_": 4}
    for entry, kind in re.findall(r"^(\w[\w, ]*?)(?: : ([^\n]*))?$(?!\n +Only )", section, re.MULTILINE):
        for name in entry.split(", "):
            assert hasattr(selector, name), f"{name} is not there; what is said of it may begin with Only"
            sides = re.findall(r"\w+", "".join(re.findall(r"of shape \(([^()]*)\)", kind)[:1]))
            if sides and set(sides) <= set(sizes):
                found, said = np.shape(getattr(selector, name)), tuple(sizes[side] for side in sides)
                assert found == said, f"{name} is of shape {found}, the docstring says {kind}"


@property_of_every_method(SHAPES, blobs, wide_blobs)
def ranking_is_the_stable_order_of_finite_scores(method, X):
    selector = method.fitted(X)
    assert selector.scores_.shape == (X.shape[1],)
    assert np.isfinite(selector.scores_).all()
    np.testing.assert_array_equal(selector.ranking_, np.argsort(-selector.scores_, kind="stable"))


@property_of_every_method(SHAPES, blobs, wide_blobs)
def transform_keeps_the_subset_of_the_size_asked_for(method, X):
    size = X.shape[1] if method.cls.keeps_all else 4
    selector = method.fitted(X, size)
    chosen = selector.subset(size)
    assert len(set(chosen)) == size
    assert selector.get_support().sum() == size
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(chosen))
    np.testing.assert_array_equal(selector.transform(X), X[:, np.sort(chosen)])


@property_of_every_method(SHAPES, blobs)
def smaller_size_is_served_from_the_same_fit_or_refused_by_name(method, X):
    if method.cls.keeps_all:
        return
    selector = method.make(6).fit(X)
    try:
        chosen = selector.subset(3)
    except ValueError as error:
        assert selector.size_in_objective
        assert "size=3" in str(error)
    else:
        assert len(set(chosen)) == 3


@property_of_every_method(SHAPES, blobs)
def all_features_can_be_asked_for(method, X):
    selector = method.make(X.shape[1]).fit(X)
    np.testing.assert_array_equal(np.sort(selector.subset(X.shape[1])), np.arange(X.shape[1]))


@property_of_every_method(DESCENT, blobs)
def status_and_trace_tell_how_the_fit_went(method, X):
    selector = method.fitted(X)
    assert selector.status_ in STATUSES
    if len(selector.trace_):
        length, sweeps = len(selector.trace_), selector.n_iter_
        assert length == sweeps + 1, f"{length} objective values for {sweeps} sweeps; the start counts too"
        smoothing = selector.trace_[-1] - selector.objective_  # a trace may include it
        assert 0 <= smoothing <= SMOOTHING * abs(selector.objective_), f"objective_ is {smoothing:g} below the trace"
        assert np.isfinite(selector.trace_).all()
    else:  # a closed form, or a path without one objective for all of its steps
        assert selector.n_iter_ >= 0
        assert np.isnan(selector.objective_)


@property_of_every_method(DESCENT, blobs, wide_blobs)
def objective_never_rises(method, X):
    rise = where_it_rises(method.fitted(X).trace_)
    assert not rise, rise


@property_of_every_method(SHAPES, blobs)
def labels_if_any_are_cluster_numbers(method, X):
    selector = method.fitted(X)
    if hasattr(selector, "labels_"):
        assert selector.labels_.shape == (len(X),)
        assert np.issubdtype(selector.labels_.dtype, np.integer)
        assert selector.labels_.min() >= 0
        assert selector.labels_.max() < 3


@property_of_every_method(SHAPES, blobs)
def read_only_data_are_accepted_and_nothing_is_written_to_them(method, X):
    writable, read_only = X.copy(), X.copy()  # a copy may be made of what is read-only alone
    read_only.setflags(write=False)
    for given in (writable, read_only):
        method.make(4).fit(given)
        assert given.tobytes() == X.tobytes()


@property_of_every_method(SHAPES, blobs)
def memory_layout_of_the_data_does_not_matter(method, X):
    expected = method.fitted(X).scores_
    padded = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    padded[::2, ::3] = X
    for same in (np.asfortranarray(X), padded[::2, ::3], X.tolist()):
        np.testing.assert_array_equal(method.make(4).fit(same).scores_, expected)


@property_of_every_method(SHAPES, blobs)
def single_precision_gives_what_its_values_give_in_double(method, X):
    X = X.astype(np.float32)
    single, double = method.make(4).fit(X), method.make(4).fit(X.astype(np.float64))
    assert single.scores_.dtype == np.float64
    np.testing.assert_array_equal(single.scores_, double.scores_)


@property_of_every_method(SHAPES, blobs)
def constant_and_duplicate_features_leave_everything_finite(method, X):
    X = np.column_stack([np.zeros(len(X)), X, X[:, 2], np.full(len(X), 0.1), X[:, 2], -X[:, 0], np.full(len(X), 1e6)])
    X = without_negatives(X, method)
    selector = method.make(4).fit(X)
    assert np.isfinite(selector.scores_).all()
    assert len(set(selector.subset(selector.n_features_to_select_))) == selector.n_features_to_select_


@property_of_every_method(SHAPES)
def constant_data_do_not_break_the_fit(method):
    selector = method.make(2).fit(np.full((8, 5), 0.1))
    assert np.isfinite(selector.scores_).all()
    assert selector.status_ in STATUSES


@property_of_every_method(SHAPES)
def duplicate_samples_do_not_break_the_fit(method):
    X = np.repeat(without_negatives(blobs(n_samples=6), method), 4, axis=0)
    assert np.isfinite(method.make(4).fit(X).scores_).all()


@property_of_every_method(SHAPES, blobs)
def one_feature_is_enough(method, X):
    selector = method.make(1, n_clusters=1).fit(X[:, :1])
    np.testing.assert_array_equal(selector.ranking_, [0])


@property_of_every_method(REPRODUCIBILITY, blobs)
def same_seed_gives_the_same_bytes(method, X):
    first, second = method.fitted(X), method.make(4, seed=1 if method.config.get("seedless") else 0).fit(X)
    assert first.scores_.tobytes() == second.scores_.tobytes()
    assert first.trace_.tobytes() == second.trace_.tobytes()
    if hasattr(first, "labels_"):
        assert first.labels_.tobytes() == second.labels_.tobytes()


@property_of_every_method(EQUIVARIANCE, blobs, wide_blobs)
def permuting_the_features_permutes_the_selection(method, X):
    order = np.random.default_rng(1).permutation(X.shape[1])
    assert_same_features(method.selected(X), order[method.selected(X[:, order])])


@property_of_every_method(EQUIVARIANCE, blobs, wide_blobs)
def permuting_the_samples_keeps_the_selection(method, X):
    order = np.random.default_rng(2).permutation(len(X))
    assert_same_features(method.selected(X), method.selected(X[order]))


@property_of_every_method(SHAPES, blobs)
def labels_given_to_fit_are_ignored(method, X):
    with_labels = method.make(4).fit(X, np.arange(len(X)))
    np.testing.assert_array_equal(with_labels.scores_, method.fitted(X).scores_)


@property_of_every_method(ERRORS)
def too_many_clusters_are_refused_with_value_and_bound(method):
    X = without_negatives(blobs(n_samples=8, n_features=20), method)
    if "n_clusters" not in inspect.signature(method.cls).parameters:
        return
    message = error_of(method.make(4, n_clusters=9), X)
    assert "n_clusters=9" in message
    assert "n_samples=8" in message


@property_of_every_method(ERRORS, blobs)
def too_many_features_are_refused_with_value_and_bound(method, X):
    message = error_of(method.cls(X.shape[1] + 1, **method.config["params"]), X)
    assert f"n_features_to_select={X.shape[1] + 1}" in message
    assert f"n_features={X.shape[1]}" in message


@property_of_every_method(ERRORS, blobs)
def missing_values_are_refused(method, X):
    X[3, 2] = np.nan
    assert "NaN" in error_of(method.make(4), X)


@property_of_every_method(REPRODUCIBILITY, blobs)
def copies_and_pickles_fit_and_select_alike(method, X):
    selector = method.make(4)
    copy = clone(selector)
    assert {name: repr(value) for name, value in copy.get_params().items()} == {
        name: repr(value) for name, value in selector.get_params().items()
    }
    fitted = method.fitted(X)
    thawed = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(thawed.transform(X), fitted.transform(X))
    np.testing.assert_array_equal(copy.fit(X).scores_, fitted.scores_)
