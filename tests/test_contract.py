"""The contract, for every file of conf/method: nothing to edit here when a method is added."""

import importlib
import inspect
import pkgutil

import method_properties
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import methods
from methods.core.base import BaseSelector

METHODS = method_properties.load_methods()

# (method, property): why it does not hold.  An entry that holds after all fails the test.
EXCEPTIONS = {
    ("first_index", "permuting_the_features_permutes_the_selection"): "selects by position; that is what it is for",
    ("random_selection", "permuting_the_features_permutes_the_selection"): "draws positions from its seed",
    ("eufs_admm", "objective_never_rises"): "an ADMM: the objective at its infeasible iterates is free to rise",
    (
        "ufsol_released",
        "objective_never_rises",
    ): "takes every partition that K-means gives, and other weights for zeros",
    ("ufsol_released", "permuting_the_features_permutes_the_selection"): "starts from the first features",
    ("kmeans_ufs_admm", "objective_never_rises"): "an ADMM: the objective at its infeasible iterates is free to rise",
}

# (class, check of scikit-learn): why it does not hold.
SKLEARN_EXCEPTIONS = {
    ("KMeansUFS", "check_transformer_n_iter"): "solver='exact' is a closed form: n_iter_ is 0",
}


def _selector_classes():
    """Every concrete selector that the modules of `methods` define."""
    modules = [importlib.import_module(f"methods.{module.name}") for module in pkgutil.iter_modules(methods.__path__)]
    found = {cls for module in modules for cls in vars(module).values() if inspect.isclass(cls)}
    return {cls for cls in found if issubclass(cls, BaseSelector) and cls._solve is not BaseSelector._solve}


def _expected_failures(estimator):
    cases = {check: reason for (cls, check), reason in SKLEARN_EXCEPTIONS.items() if cls == type(estimator).__name__}
    return cases if getattr(estimator, "solver", "exact") == "exact" else {}


@pytest.mark.parametrize("check", method_properties.PROPERTIES, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method(request, name, check):
    reason = EXCEPTIONS.get((name, check.__name__))
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    check(METHODS[name])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [method.cls(**method.config["params"]) for method in METHODS.values()], expected_failed_checks=_expected_failures
)
def test_every_method_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", METHODS)
def test_configuration_has_the_keys_that_are_read_and_no_other(name):
    config = METHODS[name].config
    assert list(config) == ["name", "target", "paper_name", "citation", "params", "grid"]
    assert config["name"] == name


@pytest.mark.parametrize("name", METHODS)
def test_configured_parameters_are_arguments_of_the_class_and_none_that_the_runner_sets(name):
    method = METHODS[name]
    accepted = set(inspect.signature(method.cls).parameters) - set(method_properties.RESERVED)
    assert set(method.config["params"]) <= accepted
    assert set(method.config["grid"]) <= accepted


@pytest.mark.parametrize("name", METHODS)
def test_default_is_a_point_of_the_grid(name):
    config = METHODS[name].config
    for parameter, values in config["grid"].items():
        assert isinstance(values, list)
        assert config["params"][parameter] in values


@pytest.mark.parametrize("name", METHODS)
def test_size_comes_first_and_everything_else_is_keyword_only(name):
    first, *others = inspect.signature(METHODS[name].cls).parameters.values()
    assert first.name == "n_features_to_select"
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in others)


def test_every_class_has_a_configuration_and_every_configuration_a_class():
    assert {method.cls for method in METHODS.values()} == _selector_classes()


def test_every_class_can_be_imported_from_methods():
    assert {cls.__name__ for cls in _selector_classes()} == set(methods.__all__)
    assert all(getattr(methods, cls.__name__) is cls for cls in _selector_classes())


def test_every_exception_names_a_method_and_a_property():
    properties = {check.__name__ for check in method_properties.PROPERTIES}
    assert all(name in METHODS and check in properties for name, check in EXCEPTIONS)
    assert {cls for cls, _ in SKLEARN_EXCEPTIONS} <= set(methods.__all__)
