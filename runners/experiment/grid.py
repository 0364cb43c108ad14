"""The trials that a configuration asks for, and what stands for data that are not loaded."""

import functools
import itertools
import json
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from ufs_bench.datasets import DataError, load_dataset
from ufs_bench.datasets.load import locate
from ufs_bench.datasets.spec import check_spec
from ufs_bench.runners.experiment.method import Method, parameters_of
from ufs_bench.runners.experiment.trial import Trial, hash_of
from ufs_bench.runners.messages import ConfigError, ProcessEnded, exits_as_errors
from ufs_bench.runners.store.row import from_json, to_json


def expand(study, dataset, method, protocol, defaults=False):
    """List the trials of one (data set, method) cell, in the order of the grid, and for other seeds once more.

    With `defaults` they are those at the default parameters alone, and other points are not looked at.

    The method is a `Method`, or the content of a file of conf/method: ``name, target, params, grid``.  A ConfigError is
    about an unknown parameter, an empty grid, a value that the method refuses, or sizes that are all too large.
    """
    method = method if isinstance(method, Method) else Method.read(method)
    n_samples, n_clusters = dataset.X.shape[0], protocol.clusters_of(dataset.n_classes)
    if n_clusters > n_samples:
        raise ConfigError(
            f"protocol.clusters={protocol.clusters} is {n_clusters} on {dataset.name}, which has {n_samples} samples: "
            "leave this data set out."
        )
    sizes = sizes_to_score(method, dataset.name, dataset.X.shape[1], protocol)
    from ufs_bench.methods.core.shared import constant  # here, as a command that only reads trials needs no method

    with constant(dataset.X):
        trials = [
            trial
            for point in _points(method, _lists(method, dataset, protocol), protocol)
            if not defaults or _is_default(point, method)
            for trial in _trials_at(point, study, dataset, method, protocol, sizes)
        ]
    return trials + [replace(trial, seed=seed) for seed in further_seeds(method, protocol) for trial in trials]


def further_seeds(method, protocol):
    """Return the seeds of a method besides the protocol's: none without a random part, or where its grid repeats it."""
    seeded = "random_state" in parameters_of(method.cls) and not method.seedless
    random = seeded and not set(method.grid) & set(method.cls.repeats)
    return range(protocol.seed + 1, protocol.seed + protocol.seeds) if random else ()


def first_points(trials, number):
    """Return the trials at so many points: the default and those with the first hashes; of draws the first."""
    points = {to_json(trial.params): not trial.is_default for trial in trials}
    in_order = list(points) if trials[0].cls.repeats else sorted(points, key=lambda own: (points[own], hash_of(own)))
    kept = set(in_order[:number])
    return [trial for trial in trials if to_json(trial.params) in kept]


def sizes_to_score(method, dataset, n_features, protocol):
    """Return the numbers of features to score on a data set of this name."""
    wanted = protocol.sizes_on(dataset)
    sizes = [n_features] if method.cls.keeps_all else [size for size in wanted if size <= n_features]
    if not sizes:
        raise ConfigError(
            f"protocol.sizes={list(wanted)} are all above n_features={n_features} of {dataset}: "
            f"set protocol.sizes=[...] and a study=NAME of its own."
        )
    return sizes


def _lists(method, dataset, protocol):
    """Return the values of each parameter: the protocol's, but for repeats and what refuses them under a budget."""
    values = list(protocol.grid_values)
    if not values:
        return {name: list(own) for name, own in method.grid.items()}
    keeps = {name for name in method.grid if protocol.budget and not _accepts(method, dataset, name, protocol)}
    keeps |= set(method.cls.repeats)
    return {name: list(own) if name in keeps else values for name, own in method.grid.items()}


def _accepts(method, dataset, name, protocol):
    """Return True where a method takes all the protocol's values for a parameter, the others being its defaults."""
    n_clusters = protocol.clusters_of(dataset.n_classes)
    try:
        for value in protocol.grid_values:
            method.cls(**method.params_at({name: value}, n_clusters)).check_parameters(dataset.X)
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
    if not protocol.budget:
        return points
    # The default and others that a hash draws, the same in every run, in the order of the grid.
    others = [point for point in points if point != centre]
    sample = sorted(others, key=lambda point: hash_of(to_json(point)))[: protocol.budget - 1]
    return [centre, *(point for point in others if point in sample)]


def _is_default(point, method):
    return {**method.params, **point} == method.params


def _trials_at(point, study, dataset, method, protocol, sizes):
    """Return the trials of one point: one for each size where the size is part of the model, else one for all sizes."""
    params = method.params_at(point, protocol.clusters_of(dataset.n_classes))
    each = method.cls(**params).size_in_objective
    trials = [
        Trial(
            study=study,
            dataset=dataset.name,
            method=method.name,
            target=method.target,
            params=params,
            is_default=_is_default(point, method),
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
    except (ValueError, TypeError, AttributeError, ProcessEnded) as error:
        where = " (its values are those of protocol.grid_values)" if values_of_protocol else ""
        raise ConfigError(f"{trial.method} on {dataset.name} with {to_json(trial.params)}{where}: {error}") from error


def stand_in(settings):
    """Return what stands for the data of a cell before they are loaded; None where their file does not state a shape.

    Its X has their shape, and everywhere their least value where that is below 0 and the method takes none such; data
    that are not on this machine are taken to have none.
    """
    spec = settings.dataset
    n_samples, n_features, n_classes = (spec.get(key) for key in ("samples", "features", "classes"))
    n_classes = spec.get("clusters") if n_classes is None else n_classes
    if None in (n_samples, n_features, n_classes):
        return None
    takes_any = getattr(settings.method.cls, "takes_negative", True)
    X = np.broadcast_to(0.0 if takes_any else least(spec, settings.data_dir), (n_samples, n_features))
    sha = spec.get("data_sha256") or ""
    return SimpleNamespace(name=spec["name"], X=X, n_features=n_features, n_classes=n_classes, sha=sha)


def check_at_hand(spec, folder):
    """Raise DataError for data that are not on this machine, or damaged."""
    _check_at_hand(json.dumps(spec), folder)


def least(spec, folder):
    """Return the least value of data, at most 0; 0 for what is not on this machine."""
    return _least(json.dumps(spec), folder)


@functools.cache  # its file is hashed
def _check_at_hand(spec, folder):
    locate(check_spec(from_json(spec)), folder, download=False)


@functools.cache
def _least(spec, folder):
    with suppress(DataError):
        return min(0.0, load_dataset(from_json(spec), data_dir=folder, download=False).X.min())
    return 0.0
