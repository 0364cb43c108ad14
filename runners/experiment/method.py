"""A method as a configuration describes it, and whether it takes sparse data."""

import functools
import importlib
import inspect
import numbers
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from scipy.sparse import csr_array, issparse

from ufs_bench.datasets.scaling import KEEP_ZEROS, scale
from ufs_bench.metrics.protocol import same_values
from ufs_bench.runners.code import ROOT, note_edits, prepare_import
from ufs_bench.runners.experiment.kinds import ANY, FLAG, TEXT, Kind, check_fields
from ufs_bench.runners.messages import ConfigError, did_you_mean, exits_as_errors
from ufs_bench.runners.store.identity import blas, versions
from ufs_bench.runners.workers import outside

# Parameters that the runner sets itself, and from what; a configuration may not set them.
RESERVED = {
    "n_features_to_select": "protocol.sizes",
    "n_clusters": "protocol.clusters",
    "random_state": "protocol.seed and protocol.seeds",
}
PARAMETERS = Kind(
    "a mapping of parameters, such as {alpha: 1}", lambda value: value is None or isinstance(value, Mapping)
)
PARTS = {  # of a method's file
    "name": TEXT, "target": TEXT, "paper_name": ANY, "citation": ANY, "params": PARAMETERS, "grid": PARAMETERS,
    "repair": TEXT, "seedless": Kind("true or false", FLAG.holds),
}  # fmt: skip
KINDS = ((bool, "true or false"), (numbers.Real, "a number"), (str, "a text"))  # of a parameter's default, in words


@dataclass(frozen=True)
class Method:
    """The content of a file of conf/method."""

    name: str
    target: str  # dotted name of the class, such as ``methods.mcfs.MCFS``
    params: Mapping  # its parameters at the default point
    grid: Mapping  # parameter -> the values that are searched
    seedless: bool = False  # the class takes a seed, for another variant than this one

    @classmethod
    def read(cls, content):
        """Return the checked content of a file of conf/method; a ConfigError says what of it is wrong."""
        check_fields("the method", content, PARTS, ("name", "target", "params", "grid"), prefix="method.")
        params, grid = dict(content["params"] or {}), dict(content["grid"] or {})
        method = cls(content["name"], content["target"], params, grid, content.get("seedless", False))
        method.check_names("params")
        method.check_names("grid")
        method.check_given()
        for name, value in method.params.items():
            method.check_kind(f"method.params.{name}", name, value)
        for name, values in method.grid.items():
            if not isinstance(values, Sequence) or isinstance(values, str) or not values:
                raise ConfigError(f"method.grid.{name}={values!r} must be a list of values, such as [0.1, 1, 10].")
            for value in values:
                method.check_kind(f"method.grid.{name}", name, value)
            if twice := same_values(values):
                pair = " and ".join(f"{value!r:.80}" for value in twice)
                raise ConfigError(f"method.grid.{name} has {pair}, which are the same value: remove one.")
        return method

    @functools.cached_property
    def cls(self):
        """The class."""
        return load_class(self.target)

    def takes(self, name):
        """Return True where the class has a parameter of this name."""
        return name in parameters_of(self.cls)

    def check_names(self, group):
        """Refuse names in ``params`` or ``grid`` that are not parameters, or that the runner sets itself."""
        accepted = [name for name in parameters_of(self.cls) if name not in RESERVED]
        for name in getattr(self, group):
            if name in RESERVED:
                raise ConfigError(f"method.{group}.{name} is set by the runner: give {RESERVED[name]} instead.")
            if name not in accepted:
                options = ", ".join(accepted) or "none"
                raise ConfigError(
                    f"method.{group}.{name} is not a parameter of {self.cls.__name__}; it takes: {options}."
                    f"{did_you_mean(name, accepted)}"
                )

    def check_given(self):
        """Refuse a method that gives no value of a parameter that has no default."""
        any_number = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        for name, parameter in parameters_of(self.cls).items():
            needed = parameter.default is parameter.empty and parameter.kind not in any_number
            if needed and name not in {*RESERVED, *self.params, *self.grid}:
                raise ConfigError(f"method.params lacks {name}, for which {self.cls.__name__} has no default.")

    def check_kind(self, where, name, value):
        """Refuse a value of another kind than the parameter's default, as a word for a switch, a number for a word."""
        if hasattr(self.cls, "wrapped"):  # its authors promised nothing of the kind
            return
        default = parameters_of(self.cls)[name].default
        kind, words = next(((kind, words) for kind, words in KINDS if isinstance(default, kind)), (object, ""))
        if not isinstance(value, kind) or (kind is not object and isinstance(value, bool) != (kind is bool)):
            raise ConfigError(f"{where}={value!r} must be {words}.")

    def params_at(self, point, n_clusters):
        """Return the parameters at a point of the grid, with the number of clusters where the method takes one."""
        own = {"n_clusters": n_clusters} if self.takes("n_clusters") else {}
        return {**self.params, **point, **own}


@functools.cache
def parameters_of(cls):
    """Return the parameters of a class, by name."""
    return inspect.signature(cls).parameters


def _meant(module, name, error):
    """Return the module or class that a target may have been meant to name, as `did_you_mean` does."""
    if isinstance(error, ModuleNotFoundError) and error.name == module:
        return did_you_mean(module, [path.stem for path in Path.cwd().glob("*.py")])
    return did_you_mean(name, vars(sys.modules[module])) if isinstance(error, AttributeError) else ""


def load_class(target):
    """Return the class with a dotted name such as ``methods.mcfs.MCFS``."""
    module, _, name = target.rpartition(".")
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise ConfigError(f"method.target={target!r} is a part of Python, and no method: name one of your own.")
    outside.note(target)
    if not outside.is_outside(target):  # methods.NAME stands in configurations and in keys of trials
        module = f"ufs_bench.{module}"
    versions(), blas()  # before the import: a user's module may load another BLAS, which other methods do not use
    try:
        with exits_as_errors():
            prepare_import(module)
            found = getattr(importlib.import_module(module), name)
    except Exception as error:  # a user's module may raise anything
        words = f"method.target={target!r} cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(f"{words}{_meant(module, name, error)}") from error
    if not isinstance(found, type) or not hasattr(found, "check_parameters"):
        from ufs_bench.methods.core.plain import plain  # here, as it takes seconds, and --help and Tab need none of it

        try:
            found = plain(found, target)
        except (TypeError, ValueError) as error:  # a ValueError of `inspect`, for what has no signature
            raise ConfigError(f"method.target={target!r} is no selector: {error}.") from error
    note_edits(found)
    return found


def check_sparse(method, protocol, data, spec):
    """Refuse a method that needs dense samples, or a scaling that fills them with values, where X is to stay sparse.

    `data` is a data set, or what stands for it before it is loaded: ``name`` and an X of its shape.
    """
    loaded = issparse(data.X)
    if not loaded and not any(source.get("sparse") for source in spec.get("sources", ())):
        return
    shape = "{} x {}".format(*data.X.shape)
    if not getattr(method.cls, "takes_sparse", False):
        dense = 8 * data.X.shape[0] * data.X.shape[1] / 2**20
        file = ROOT / "conf" / "dataset" / f"{data.name}.yaml"
        where = f"take sparse: true out of conf/dataset/{file.name}" if file.exists() else "leave sparse=true out"
        raise ConfigError(
            f"{method.name} needs a dense X, and {data.name} ({shape}) is sparse; written out it would take "
            f"{dense:,.1f} MB. Nothing was started. These methods keep it sparse: "
            f"{', '.join(methods_that_take_sparse())}. For the others {where}."
        )
    for how in sorted({protocol.scaling, protocol.scaling_of(method.name)}):
        try:
            if loaded or how not in (*KEEP_ZEROS, "minmax"):
                scale(data.X if loaded else csr_array((1, 1)), how)
        except ValueError as error:
            raise ConfigError(f"{data.name} ({shape}): {error} It is protocol.scaling.") from error


def methods_that_take_sparse():
    """List the methods of conf/method that keep a sparse X sparse."""
    files = sorted((ROOT / "conf/method").glob("*.yaml"))
    targets = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["target"] for path in files}
    return [name for name, target in targets.items() if getattr(load_class(target), "takes_sparse", False)]
