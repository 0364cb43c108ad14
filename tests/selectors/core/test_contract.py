"""The contract, for every file of conf/method: nothing to edit here when a method is added."""

import importlib
import inspect
import itertools
import pkgutil

import pytest
from quick_methods import SLOW, TWINS, load_quick_methods, one_of_each_kind, shortened, with_few
from sklearn.utils.estimator_checks import parametrize_with_checks

from ufs_bench import methods
from ufs_bench.methods.core.base import BaseSelector
from ufs_bench.scripts.check_method.contract import EXCEPTIONS
from ufs_bench.scripts.check_method.properties import CONFIGURATION, PROPERTIES

METHODS = load_quick_methods()
FIRST = one_of_each_kind(METHODS)


def _selector_classes():
    """Return every concrete selector that the modules of `methods` define."""
    names = [f"ufs_bench.methods.{module.name}" for module in pkgutil.iter_modules(methods.__path__)]
    modules = map(importlib.import_module, names)
    found = {cls for module in modules for cls in vars(module).values() if inspect.isclass(cls)}
    return {cls for cls in found if issubclass(cls, BaseSelector) and cls._solve is not BaseSelector._solve}


def _cases():
    """Return every method with every property; of twins those of a fit are marked slow."""
    for name, check in itertools.product(METHODS, PROPERTIES):
        slow = [SLOW] if name in TWINS and check.group != CONFIGURATION else []
        yield pytest.param(name, check, marks=slow, id=f"{name}-{check.__name__}")


@pytest.mark.parametrize(("name", "check"), _cases())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method(request, name, check):
    reason = EXCEPTIONS.get((name, check.__name__))
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    check(METHODS[name] if request.config.getoption("--slow") else with_few(METHODS[name]))


def _short_fits(method):
    """Return an unfitted estimator with the configuration's parameters, and few sweeps and starts where it has any."""
    return shortened(method.cls(**method.config["params"]))


@parametrize_with_checks([_short_fits(method) for method in FIRST])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_class_of_every_kind_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow  # these checks look at an interface, which is the base class's
@parametrize_with_checks([_short_fits(method) for method in METHODS.values() if method not in FIRST])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_other_method_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def test_every_class_has_a_configuration_and_is_exported_and_nothing_else_is():
    assert {method.cls for method in METHODS.values()} == _selector_classes()
    assert {cls.__name__ for cls in _selector_classes()} == set(methods.__all__)


def test_every_exception_names_a_method_and_a_property():
    properties = {check.__name__ for check in PROPERTIES}
    assert all(name in METHODS for name, _ in EXCEPTIONS)
    checks = {check for _, check in EXCEPTIONS}
    assert checks and checks <= properties
