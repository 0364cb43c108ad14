"""The trials that a configuration asks for."""

import hashlib
import itertools
import math

from methods.core.shared import constant
from runners.exits import ProcessEnded, exits_as_errors
from runners.method import ConfigError, Method
from runners.trial import Trial, to_json


def expand(study, dataset, method, protocol):
    """List the trials of one (data set, method) cell.

    Parameters
    ----------
    study : str
    dataset : Dataset
    method : Method or Mapping
        A mapping is the content of a file of conf/method: ``name, target, params, grid``.
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
    method = method if isinstance(method, Method) else Method.read(method)
    sizes = _sizes(method, dataset, protocol)
    with constant(dataset.X):
        return [
            trial
            for point in _points(method, _lists(method, dataset, protocol), protocol)
            for trial in _trials_at(point, study, dataset, method, protocol, sizes)
        ]


def diagonal(trials):
    """Return a small sample of a cell's trials in which every value of every parameter occurs, for a first look.

    Parameters
    ----------
    trials : list of Trial

    Returns
    -------
    list of Trial
        About as many as the longest list of values has, in the order of the grid; all trials where the grid is not a
        product of lists but already a part of one.
    """
    axes = {"sizes": sorted({trial.sizes for trial in trials})}
    for name in trials[0].params:
        axes[name] = sorted({trial.params[name] for trial in trials}, key=lambda value: (str(type(value)), value))
    axes = {name: values for name, values in axes.items() if len(values) > 1}
    if math.prod(map(len, axes.values())) != len(trials):
        return trials
    chosen = set()
    for index in range(max(map(len, axes.values()), default=1)):
        # Each list is gone through at its own pace, and each pace reaches all values of its list.
        paces = [
            next(pace for pace in itertools.count(place + 1) if math.gcd(pace, len(values)) == 1)
            for place, values in enumerate(axes.values())
        ]
        chosen.add(tuple(values[index * pace % len(values)] for pace, values in zip(paces, axes.values(), strict=True)))

    def point(trial):
        return tuple(trial.sizes if name == "sizes" else trial.params[name] for name in axes)

    return [trial for trial in trials if point(trial) in chosen]


def _sizes(method, dataset, protocol):
    """Return the numbers of features to score on a data set."""
    n_features, wanted = dataset.X.shape[1], protocol.sizes_on(dataset.name)
    sizes = [n_features] if method.cls.keeps_all else [size for size in wanted if size <= n_features]
    if not sizes:
        raise ConfigError(
            f"protocol.sizes={list(wanted)} are all above n_features={n_features} of {dataset.name}: "
            f"set protocol.sizes=[...] and a study=NAME of its own."
        )
    return sizes


def _lists(method, dataset, protocol):
    """Return the values to search of each parameter: the protocol's where it has some, else those of the method's file.

    A parameter that only repeats the method keeps the values of its file.  So does one, under a budget, where the
    method refuses one of the protocol's values.
    """
    values = list(protocol.grid_values)
    if not values:
        return {name: list(own) for name, own in method.grid.items()}
    keeps = {name for name in method.grid if protocol.budget and not _accepts(method, dataset, name, values)}
    keeps |= set(method.cls.repeats)
    return {name: list(own) if name in keeps else values for name, own in method.grid.items()}


def _accepts(method, dataset, name, values):
    """Return True where a method takes all these values of a parameter, the others being its defaults."""
    try:
        for value in values:
            method.cls(**method.params_at({name: value}, dataset.n_classes)).check_parameters(dataset.X)
    except (ValueError, TypeError):
        return False
    return True


def _points(method, lists, protocol):
    """List the values of the grid's parameters at every point, in the order in which they are tried."""
    centre = {name: method.params[name] for name in lists if name in method.params}
    if protocol.coarse and not set(lists) & set(method.cls.repeats):
        points = [centre]
        for name, values in lists.items():
            quarter = len(values) // 4
            points += [{**centre, name: value} for value in (values[quarter], values[-1 - quarter])]
        return [point for index, point in enumerate(points) if point not in points[:index]]
    points = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    return _sampled(points, centre, protocol.budget) if protocol.budget else points


def _sampled(points, centre, budget):
    """Return the default and other points drawn by a hash, the same in every run, in the order of the grid."""
    others = [point for point in points if point != centre]
    sample = sorted(others, key=lambda point: hashlib.sha256(to_json(point).encode()).digest())[: budget - 1]
    return [centre, *(point for point in others if point in sample)]


def _trials_at(point, study, dataset, method, protocol, sizes):
    """Return the trials of one point: one for each size where the size is part of the model, else one for all sizes."""
    params = method.params_at(point, dataset.n_classes)
    each = method.cls(**params).size_in_objective
    trials = [
        Trial(
            study=study,
            dataset=dataset.name,
            method=method.name,
            target=method.target,
            params=params,
            is_default={**method.params, **point} == method.params,
            sizes=group,
            protocol=protocol,
            data_sha=dataset.sha,
        )
        for group in ([(size,) for size in sizes] if each else [tuple(sizes)])
    ]
    for trial in trials:
        _check(trial, method.cls, dataset, values_of_protocol=bool(protocol.grid_values and method.grid))
    return trials


def _check(trial, cls, dataset, values_of_protocol):
    try:
        with exits_as_errors():
            trial.selector(cls).check_parameters(dataset.X)
    except (ValueError, TypeError, ProcessEnded) as error:
        where = " (its values are those of protocol.grid_values)" if values_of_protocol else ""
        raise ConfigError(f"{trial.method} on {dataset.name} with {to_json(trial.params)}{where}: {error}") from error
