"""Take what a caller of `ufs_bench` gives: names of conf/, or data and methods of his own."""

import inspect
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from hydra.core.config_store import ConfigStore

from ufs_bench.datasets import Dataset, dataset_names, load_dataset
from ufs_bench.datasets.given import as_dataset
from ufs_bench.runners.cli.choices import offer_object
from ufs_bench.runners.experiment.kinds import has_several
from ufs_bench.runners.messages import ConfigError, counted, did_you_mean, shown
from ufs_bench.scripts.core.conf import known

COMMANDS = re.compile(r"[+~]*(runner\.plan|shard|missing_data|hydra)\b")  # what the command line alone looks at


def each(what, given, offer):
    """Return name -> data for what was given, one or several, after `offer` made each a choice of the configuration."""
    arrays = given[:1] if isinstance(given, tuple) else ()  # (X, y) is a single data set
    single = isinstance(given, str) or hasattr(given, "shape") or not isinstance(given, Iterable)
    single |= any(hasattr(one, "shape") or isinstance(one, list) for one in arrays)
    several = [given] if single else given
    pairs = list(several.items() if isinstance(several, Mapping) else ((None, one) for one in several))
    if not pairs or any(one is None for _, one in pairs):
        raise ConfigError(f"{what}={shown(given)} must be one or more {what}.")
    found = {}
    for name, one in pairs:
        name, data = offer(name, one)
        if name in found:
            raise ConfigError(f"two of the {what} are called {name!r}: give a mapping, {{'a_name': ..., ...}}.")
        found[name] = data
    return found


def offer_dataset(name, data):
    """Make data a choice of the configuration; return its name there, and the data where it is no file of conf/."""
    if isinstance(data, str):
        return _as_named("dataset", data, name, dataset_names(truth=True)), None
    if not isinstance(data, Dataset):
        data = _of_pair(data, name)
    ConfigStore.instance().store(name=data.name, node={"name": data.name}, group="dataset", provider="ufs_bench")
    return data.name, data


def offer_method(name, method, n_jobs):
    """Make a method a choice of the configuration; return its name there, and None."""
    if isinstance(method, str) and "." not in method:
        return _as_named("method", method, name), None
    return offer_object(method, name, n_jobs), None


def dataset_of(dataset, data_dir):
    """Return the `Dataset` of a name, a `Dataset`, or (X, y)."""
    if isinstance(dataset, str):
        return load_dataset(dataset, data_dir)
    return dataset if isinstance(dataset, Dataset) else _of_pair(dataset, None)


def _of_pair(data, name):
    """Return the `Dataset` of (X, y); a ConfigError says that this is not what was given."""
    if not isinstance(data, tuple) or len(data) != 2:
        raise ConfigError(
            f"data of type {type(data).__name__} must be a name of conf/dataset, a Dataset, or (X, y); without labels "
            "as_dataset(X, clusters=3)."
        )
    return as_dataset(*data, name=name)


def _as_named(group, name, given, options=None):
    """Return the name of a file, which is that of its results; a ConfigError says that a mapping has another for it."""
    if given not in (None, name):
        raise ConfigError(f"{name!r} of conf/{group} keeps its name: write {{{name!r}: {name!r}}}, not {given!r}.")
    return known(group, name, options)


def folder_of(results_dir):
    """Return a folder of results, which may not be there yet; a ConfigError says that what was given names none."""
    try:
        folder = Path(results_dir).resolve()
    except TypeError as error:
        raise ConfigError(f"results_dir={shown(results_dir)} must be a folder, such as 'results'.") from error
    if file := next(filter(os.path.isfile, (folder, *folder.parents)), None):
        raise ConfigError(f"results_dir={shown(str(results_dir))} must be a folder, and {file} is a file.")
    return folder


def checked_words(overrides):
    """Return words of a command line as a list; a ConfigError says that they are none, or what would be ignored."""
    several = [overrides] if isinstance(overrides, str) else () if overrides is None else overrides
    words = list(several) if isinstance(several, Iterable) and not isinstance(several, Mapping) else [several]
    if not all(isinstance(word, str) for word in words):
        raise ConfigError(f"overrides={shown(overrides)} must be a list of texts, such as ['protocol.sizes=[5,10]'].")
    for word in words:
        if COMMANDS.match(word) or word.startswith("-"):
            raise ConfigError(f"overrides={words}: {word} has no effect from Python: give it to `python run.py`.")
        if has_several(word):
            raise ConfigError(f"overrides={words}: {word} has several values: call run once for each.")
    return words


def check_options(what, function, options):
    """Raise a ValueError where a function of a study has other options than those given."""
    signature = inspect.signature(function)
    try:
        signature.bind(None, **options)
    except TypeError as error:
        raise ValueError(f"{what}: {error}. Its options are {', '.join([*signature.parameters][1:])}.") from error


def checked_ranking(ranking, n_features, names=None):
    """Return a ranking of columns, or of the `names` of features, as an array, after a check that all are distinct."""
    ranking = np.asarray(ranking)
    if names and ranking.ndim == 1 and ranking.dtype.kind in "UO":
        counts, places = Counter(names), {name: place for place, name in enumerate(names)}
        if wrong := [name for name in ranking.tolist() if counts[name] != 1]:
            number = counted(counts[wrong[0]], "feature")
            raise ValueError(f"ranking has {wrong[0]!r}, the name of {number}.{did_you_mean(wrong[0], names)}")
        ranking = np.array([places[name] for name in ranking.tolist()])
    if ranking.ndim != 1 or ranking.dtype.kind not in "iu" or not ranking.size:
        raise ValueError(f"ranking of shape {ranking.shape} and type {ranking.dtype} must be a list of column numbers.")
    wrong = ranking[(ranking < 0) | (ranking >= n_features)]
    if wrong.size:
        raise ValueError(f"ranking has {wrong[0]}, which must be in [0, n_features={n_features}): count from 0.")
    values, counts = np.unique(ranking, return_counts=True)
    if counts.max() > 1:
        raise ValueError(f"ranking has {values[counts.argmax()]} {counts.max()} times, and may have it once.")
    return ranking
