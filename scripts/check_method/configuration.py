"""The list of the properties, with its first group: those of a method's file in conf/ and of its signature."""

import functools
import importlib
import inspect

from ufs_bench.runners.experiment.method import Method, load_class
from ufs_bench.runners.experiment.settings import check_values
from ufs_bench.runners.workers.outside import is_outside
from ufs_bench.scripts.check_method.contract import without_negatives

GROUPS = CONFIGURATION, FIRST_FIT, SHAPES, DESCENT, EQUIVARIANCE, ERRORS, REPRODUCIBILITY = (
    "configuration", "first fit", "shapes and input", "descent", "equivariance", "errors", "reproducibility",
)  # fmt: skip
PROPERTIES = []


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
