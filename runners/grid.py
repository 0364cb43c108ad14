"""From a configuration to the trials it asks for."""

import functools
import hashlib
import inspect
import itertools
from collections.abc import Sequence

from runners.method import ConfigError, did_you_mean, load_class
from runners.trial import Trial, to_json

# What the runner sets itself, in one visible place; a configuration may not.
RESERVED = ("n_features_to_select", "n_clusters", "random_state")


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
