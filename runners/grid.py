"""From a configuration to the trials it asks for."""

import difflib
import functools
import hashlib
import importlib
import inspect
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

# What the runner sets itself, in one visible place; a configuration may not.
RESERVED = ("n_features_to_select", "n_clusters", "random_state")
# What a protocol may leave out, and is not stored where it does.
OPTIONAL = ("sizes_for", "grid_values", "coarse", "budget")


class ConfigError(ValueError):
    """A configuration that cannot be run, found before any work."""


@dataclass(frozen=True)
class Protocol:
    """How every method is scored: the same for all cells of a study.

    Attributes
    ----------
    name : str
    sizes : tuple of int
        Numbers of features kept.
    scaling : {"none", "minmax", "zscore", "unit_norm"}
    restarts : int
        K-means starts per feature set.
    seed : int
        Seed of the K-means starts and of the methods' own random starts.
    nmi : {"geometric", "max", "min", "arithmetic"}
        What mutual information is divided by.
    max_iter : int
        Lloyd steps at most.
    sizes_for : Mapping, optional
        Data set -> its own sizes, in place of `sizes`.
    grid_values : tuple of float, optional
        What every parameter in a method's grid is searched over, in place of the values of the method's file.
    coarse : bool, default=False
        Search a part of the grid: the default, and each parameter alone at the values a quarter and three quarters
        along its list.
    budget : int, default=0
        Above 0, every method gets at most so many points, its default always among them, and a parameter whose range
        leaves out some of `grid_values` keeps the values of its file.  Of a larger grid a fixed sample is searched.
    """

    name: str
    sizes: tuple[int, ...]
    scaling: str
    restarts: int
    seed: int
    nmi: str
    max_iter: int
    sizes_for: Mapping = field(default_factory=dict)
    grid_values: tuple[float, ...] = ()
    coarse: bool = False
    budget: int = 0

    def __post_init__(self):
        object.__setattr__(self, "sizes", _checked_sizes("sizes", self.sizes))
        own = {name: _checked_sizes(f"sizes_for.{name}", sizes) for name, sizes in (self.sizes_for or {}).items()}
        object.__setattr__(self, "sizes_for", own)
        object.__setattr__(self, "grid_values", tuple(self.grid_values or ()))
        if not isinstance(self.coarse, bool):
            raise ConfigError(f"protocol.coarse={self.coarse!r} must be true or false.")
        for name, low in (("restarts", 1), ("seed", 0), ("max_iter", 1), ("budget", 0)):
            if not _is_whole(getattr(self, name), low):
                raise ConfigError(f"protocol.{name}={getattr(self, name)!r} must be a whole number, {low} or more.")
        for name, options in (
            ("scaling", ("none", "minmax", "zscore", "unit_norm")),
            ("nmi", ("geometric", "max", "min", "arithmetic")),
        ):
            if getattr(self, name) not in options:
                raise ConfigError(f"protocol.{name}={getattr(self, name)!r} must be one of {', '.join(options)}.")

    def stored(self):
        """The fields as they are stored: the optional ones only where they are set."""
        return {name: value for name, value in vars(self).items() if name not in OPTIONAL or value}

    def sizes_on(self, dataset):
        """Numbers of features to keep on a data set."""
        return self.sizes_for.get(dataset, self.sizes)


@dataclass(frozen=True)
class Trial:
    """One fit and its scoring: all that a worker needs to know besides the data.

    Attributes
    ----------
    params : Mapping
        Constructor arguments, without the size and the seed.
    sizes : tuple of int
        Sizes to score; one only where the size is part of the model.
    is_default : bool
        Whether `params` are the method's defaults.
    """

    study: str
    dataset: str
    method: str
    target: str
    params: Mapping
    is_default: bool
    sizes: tuple[int, ...]
    protocol: Protocol
    data_sha: str

    @functools.cached_property
    def key(self):
        """Hash of data, parameters and protocol: a changed seed or file is never taken for done."""
        identity = asdict(self)
        del identity["study"], identity["is_default"]
        for name in OPTIONAL:  # they decide which trials there are, and are in `sizes` and `params`
            del identity["protocol"][name]
        return hashlib.sha256(to_json(identity).encode()).hexdigest()[:16]

    def selector(self):
        """The unfitted estimator, for the largest size."""
        cls = load_class(self.target)
        arguments = dict(self.params, n_features_to_select=max(self.sizes))
        if "random_state" in inspect.signature(cls).parameters:
            arguments["random_state"] = self.protocol.seed
        return cls(**arguments)


def expand(study, dataset, method, protocol):
    """List the trials of one (data set, method) cell.

    Parameters
    ----------
    study : str
    dataset : Dataset
    method : Mapping
        A file of conf/method: ``name, target, params, grid``.
    protocol : Protocol

    Returns
    -------
    list of Trial
        In the order of the grid.

    Raises
    ------
    ConfigError
        For an unknown parameter, an empty grid, a value that the method refuses, or sizes that are all too large.
    """
    for name in ("name", "target", "params", "grid"):
        if name not in method:
            raise ConfigError(
                f"the file of the method lacks {name!r}: write `{name}: {{}}` where there is nothing to say."
            )
    cls = load_class(method["target"])
    accepted = [name for name in inspect.signature(cls).parameters if name not in RESERVED]
    defaults, grid = dict(method["params"] or {}), dict(method["grid"] or {})
    for group, names in (("params", defaults), ("grid", grid)):
        for name in names:
            if name not in accepted:
                options = ", ".join(accepted) or "none"
                raise ConfigError(
                    f"method.{group}.{name} is not a parameter of {cls.__name__}; it takes: {options}."
                    f"{did_you_mean(name, accepted)}"
                )
    for name, values in grid.items():
        if not isinstance(values, Sequence) or isinstance(values, str) or not values:
            raise ConfigError(f"method.grid.{name}={values!r} must be a list of values, such as [0.1, 1, 10].")

    n_features, wanted = dataset.X.shape[1], protocol.sizes_on(dataset.name)
    if cls.keeps_all:
        sizes = [n_features]
    else:
        sizes = [size for size in wanted if size <= n_features]
    if not sizes:
        raise ConfigError(
            f"protocol.sizes={list(wanted)} are all above n_features={n_features} of {dataset.name}: "
            f"set protocol.sizes=[...] and a study=NAME of its own."
        )
    trials = []
    lists = {name: list(protocol.grid_values or values) for name, values in grid.items()}
    if protocol.budget:
        probe = functools.partial(_accepts, cls, defaults, dataset)
        lists = {name: values if probe(name, values) else list(grid[name]) for name, values in lists.items()}
    for point in _points(defaults, lists, protocol):
        params = {**defaults, **point}
        is_default = params == defaults
        if "n_clusters" in inspect.signature(cls).parameters:
            params["n_clusters"] = dataset.n_classes
        probe = cls(**params)
        for group in [(size,) for size in sizes] if probe.size_in_objective else [tuple(sizes)]:
            trial = Trial(
                study=study,
                dataset=dataset.name,
                method=method["name"],
                target=method["target"],
                params=params,
                is_default=is_default,
                sizes=group,
                protocol=protocol,
                data_sha=dataset.sha,
            )
            try:
                trial.selector().check_parameters(dataset.X)
            except (ValueError, TypeError) as error:
                where = " (its values are those of protocol.grid_values)" if protocol.grid_values and grid else ""
                raise ConfigError(
                    f"{method['name']} on {dataset.name} with {to_json(params)}{where}: {error}"
                ) from error
            trials.append(trial)
    keys = {}
    for trial in trials:
        if trial.key in keys:
            raise ConfigError(f"method.grid asks twice for {to_json(trial.params)}: remove the repeated value.")
        keys[trial.key] = trial
    return trials


def _points(defaults, lists, protocol):
    """Values of the grid's parameters at every point, in the order in which they are tried."""
    centre = {name: defaults[name] for name in lists if name in defaults}
    if not protocol.coarse:
        points = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
        if not protocol.budget:
            return points
        others = [point for point in points if point != centre]
        sample = sorted(others, key=lambda point: hashlib.sha256(to_json(point).encode()).digest())
        sample = sample[: protocol.budget - 1]
        return [centre, *(point for point in others if point in sample)]
    points = [centre]
    for name, values in lists.items():
        quarter = len(values) // 4
        points += [{**centre, name: value} for value in (values[quarter], values[-1 - quarter])]
    return [point for index, point in enumerate(points) if point not in points[:index]]


def _accepts(cls, defaults, dataset, name, values):
    """Whether a method takes all these values of a parameter, the others being its defaults."""
    params = dict(defaults)
    if "n_clusters" in inspect.signature(cls).parameters:
        params["n_clusters"] = dataset.n_classes
    try:
        for value in values:
            cls(**{**params, name: value}).check_parameters(dataset.X)
    except (ValueError, TypeError):
        return False
    return True


def load_class(target):
    """The class that a dotted name such as ``methods.mcfs.MCFS`` means."""
    module, _, name = target.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"method.target={target!r} cannot be imported: {error}") from error


def did_you_mean(name, known):
    """The nearest of the known names as a sentence after a space; nothing where none is near."""
    close = difflib.get_close_matches(str(name), list(known), 1)
    return f" Did you mean {close[0]}?" if close else ""


def to_json(value):
    """Compact JSON with sorted keys: the same text for the same value."""
    return json.dumps(value, sort_keys=True, separators=(", ", ": "), allow_nan=False)


def _checked_sizes(name, sizes):
    if not isinstance(sizes, Sequence) or not sizes or not all(_is_whole(size, 1) for size in sizes):
        raise ConfigError(f"protocol.{name}={sizes} must be a list of whole numbers, 1 or more, such as [50, 100].")
    return tuple(sorted(set(sizes)))


def _is_whole(value, low):
    return isinstance(value, int) and not isinstance(value, bool) and value >= low
