"""The choices of a command line: files of conf/, data sets of known truth, and a file or class of the user's own.

`offer` makes them known to Hydra before it reads the words; `check_protocol` and `check_choices` check
what is composed.
"""

import inspect
import numbers
import os
import re
import sys
from pathlib import Path

from hydra.core.config_store import ConfigStore

from ufs_bench.runners.code import ROOT
from ufs_bench.runners.experiment.kinds import names_of, quoted, read_back, value_of
from ufs_bench.runners.experiment.method import RESERVED, load_class, parameters_of
from ufs_bench.runners.experiment.sweep import known_names
from ufs_bench.runners.messages import ConfigError, did_you_mean, shown

DATA, FOLDER, TARGET = "data", "data_dir", "method.target"
OWN_PROTOCOL = "fair"  # of data of the user's own: the others are those of papers
FEW_FEATURES = 50  # data with no more have one or two sizes of that protocol


def offer(words):
    """Give Hydra all that words may name besides files of conf/, and return them as Hydra reads them."""
    for _, name in (word.split("=", 1) for word in words if word.startswith("dataset=")):
        if Path(name).suffix not in ("", ".yaml") and Path(name).is_file():
            raise ConfigError(f"dataset={name} must be a name, not a file; for a table of your own: data={name}")
    if any(word.startswith(f"{DATA}=") for word in words):
        words = with_protocol(offer_own(words))
    return offer_methods(words)


def offer_own(words):
    """Give Hydra the data that words name by their file, and return the words with ``dataset=`` in the place of it."""
    given = dict(word.split("=", 1) for word in words if "=" in word)
    if DATA not in given:
        return words
    if "dataset" in given:
        raise ConfigError(f"data={given[DATA]} and dataset={given['dataset']} name two data sets: leave one out.")
    from ufs_bench.datasets import load_dataset
    from ufs_bench.datasets.own import complete, own_spec
    from ufs_bench.datasets.remarks import remarks

    given = {name: value for name, value in given.items() if name in inspect.signature(own_spec).parameters}
    options = {name: value_of(f"{name}={value}") for name, value in given.items() if name != DATA}
    several = given[DATA].startswith("[") and not Path(given[DATA]).exists()
    spec, folder = own_spec(value_of(f"{DATA}={given[DATA]}") if several else given[DATA], **options)
    typed = [word for word in words if word.startswith(f"{FOLDER}=")]
    folders = [str(value_of(word)) for word in typed] or [os.environ.get("UFS_DATA_DIR", "")]
    folders = os.pathsep.join([*([str(folder)] if folder else []), *filter(None, folders)])
    data = load_dataset(spec, folders)
    for line in remarks(data):
        print(line, file=sys.stderr)
    own = complete(spec, data)
    ConfigStore.instance().store(name=own["name"], node=own, group="dataset", provider="data=")
    made = [f"dataset={read_back(own['name'])}", *([f"{FOLDER}={quoted(folders)}"] if folders else [])]
    rest = []
    for word in words:
        if word.split("=")[0] == DATA:
            rest += made  # in its place, as Hydra takes no words on both sides of an option
        elif word.split("=")[0] not in given and word not in typed:
            rest.append(word)
    return rest


def with_protocol(words):
    """Add a protocol to words on own data without one, and sizes and a study's name if there are few features."""
    if any(word.startswith("experiment=") for word in words):
        return words
    protocol = [] if any(word.startswith("protocol=") for word in words) else [f"protocol={OWN_PROTOCOL}"]
    place = next(place for place, word in enumerate(words) if word.startswith("dataset="))
    name = words[place].partition("=")[2].strip("'")
    n_features = ConfigStore.instance().load(f"dataset/{name}.yaml").node.features
    sizes = sorted({round(n_features * part / 5) for part in range(1, 5)} - {0, n_features}) or [1]
    added = []
    if n_features <= FEW_FEATURES and not any(word.lstrip("+~").startswith("protocol") for word in words):
        study = [] if any(word.startswith("study=") for word in words) else [f"study={read_back(name)}"]
        added = [f"protocol.sizes={sizes}".replace(" ", ""), *study]
        why = f"{name} has {n_features} features, too few for the sizes of protocol={OWN_PROTOCOL}"
        print(f"{why}; this run takes {' '.join(added)}", file=sys.stderr)
    # There, as Hydra takes no words behind an option.
    return [*words[: place + 1], *protocol, *added, *words[place + 1 :]]


def offer_methods(words):
    """Give Hydra a method for each class that ``method.target=`` alone names; return the words with ``method=NAME``."""
    given = [word for word in words if word.startswith(f"{TARGET}=")]
    if not given or any(word.startswith(("method=", "experiment=")) for word in words):
        return words
    contents = [empty_method(target) for target in names_of(given[-1], ())]
    names = [content["name"] for content in contents]
    for name in names:
        if names.count(name) > 1 or (ROOT / "conf/method" / f"{name}.yaml").exists():
            what = "two of the targets are" if names.count(name) > 1 else "a method of conf/method is"
            raise ConfigError(f"{given[-1]}: {what} called {name!r}. Rename it, or name it in a file of --config-dir.")
    for content in contents:
        ConfigStore.instance().store(name=content["name"], node=content, group="method", provider=TARGET)
    chosen = f"method={','.join(map(read_back, names))}"
    return [chosen if word == given[-1] else word for word in words if word == given[-1] or word not in given]


def empty_method(target):
    """Return the content of a file of conf/method for a class or function: its defaults, and no grid."""
    parameters = parameters_of(load_class(target)).items()
    own = {name: one.default for name, one in parameters if name not in RESERVED and one.default is not one.empty}
    params = {name: value for name, value in own.items() if isinstance(value, bool | int | float | str | None)}
    return {"name": target.rpartition(".")[2], "target": target, "params": params, "grid": {}}


def offer_object(method, name=None, n_jobs=1):
    """Give Hydra a method made of a Python object, and return its name, by default that of its class or function.

    The object is a dotted name, a class, a function, or an object of a class, whose parameters become the method's.
    More than one worker process cannot run what only the running session has: a ConfigError says so.
    """
    content = empty_method(method if isinstance(method, str) else _target_of(method, n_jobs))
    if not isinstance(method, str | type) and not inspect.isroutine(method):
        content["params"] = _plain_params(content["target"], method)
    content["name"] = name = name or content["name"]
    if not re.fullmatch(r"[^\W\d]\w{,99}", str(name), re.ASCII) or (ROOT / "conf/method" / f"{name}.yaml").exists():
        raise ConfigError(
            f"the name {shown(name)} must be letters of ASCII, digits and _, and no method of conf/method: give a "
            "mapping, {'a_name': ..., ...}."
        )
    ConfigStore.instance().store(name=name, node=content, group="method", provider="object")
    return name


def _target_of(method, n_jobs):
    """Return the dotted name of a function, a class, or the class of an estimator."""
    found = method if inspect.isroutine(method) or isinstance(method, type) else type(method)
    found = getattr(found, "wrapped", found)
    module, name = found.__module__, found.__qualname__
    if getattr(sys.modules.get(module), name, None) is not found:
        raise ConfigError(f"{module}.{name} cannot be imported by this name: define it at the top of a module or cell.")
    if module == "__main__" and n_jobs != 1:
        raise ConfigError(f"n_jobs={n_jobs} must be 1 for {name}, which other processes cannot import from a notebook.")
    return f"{module}.{name}".removeprefix("ufs_bench.")  # `load_class` finds methods.NAME


def _plain_params(target, method):
    """Return the parameters of an estimator, without those that the runner sets."""
    own = [name for name in parameters_of(load_class(target)) if name not in RESERVED]
    try:
        params = method.get_params(deep=False) if hasattr(method, "get_params") else vars(method)
        params = {name: params[name] for name in own}
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{method!r} does not say what its parameters are: it must have get_params().") from error
    for name, value in params.items():
        value = value.item() if isinstance(value, numbers.Number) and hasattr(value, "item") else value
        if not _is_storable(value):
            raise ConfigError(
                f"{name}={shown(value)} of {type(method).__name__} must be a number, a text, a list or None, as it is "
                "part of what results are stored under: write a class or function that makes it itself."
            )
        params[name] = value
    return params


def _is_storable(value):
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return isinstance(value, bool | int | float | str | None) if parts is None else all(map(_is_storable, parts))


def check_protocol(protocol):
    """Refuse names of data sets and methods in a protocol that would do nothing."""
    for field, group in (("sizes_for", "dataset"), ("scaling_for", "method")):
        names = getattr(protocol, field) or ()
        known = known_names(group) if names else ()
        for name in names:
            if name not in known:
                raise ConfigError(
                    f"protocol.{field}.{name} would have no effect: {name} is no file of conf/{group}."
                    f"{did_you_mean(name, known)}"
                )


def check_choices(settings, words):
    """Refuse words of a command line for a cell that would do nothing."""
    method = settings.method
    given = [re.match(r"\+*method\.params\.(\w+)=", word) for word in words]
    for name in [match[1] for match in given if match] if settings.runner.points == "grid" else []:
        value = method.params[name]
        if name in method.grid and value not in method.grid[name]:
            raise ConfigError(
                f"method.params.{name}={value} would not be tried: method.grid.{name}={list(method.grid[name])} is. "
                f"Set 'method.grid.{name}=[{value}]', too."
            )
