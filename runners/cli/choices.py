"""The choices of a command line: files of conf/, data sets of known truth, and a file or class of the user's own.

`offer` makes them known to Hydra before it reads the words; `check_choices` checks the composed ones.
"""

import functools
import inspect
import numbers
import os
import re
import sys
from pathlib import Path

from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from ufs_bench.runners.code import ROOT
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.method import RESERVED, load_class, parameters_of
from ufs_bench.runners.experiment.sweep import offer_truth
from ufs_bench.runners.words import QUOTES, did_you_mean, shown

DATA, FOLDER, TARGET = "data", "data_dir", "method.target"
OWN_PROTOCOL = "fair"  # of data of the user's own: the others are those of papers
FEW_FEATURES = 50  # data with no more have one or two sizes of that protocol


def offer(words):
    """Give Hydra all that words may name besides files of conf/, and return them as Hydra reads them."""
    if several := next(filter(None, (re.fullmatch(r"(dataset|method)=\[(.*)\]", word) for word in words)), None):
        raise ConfigError(f"{several[0]} must be one name; for a run with each: -m {several[1]}={several[2]}")
    for group in ("method", "dataset", "protocol", "runner"):
        if none := next((word for word in words if word in (f"~{group}", f"{group}=null", f"{group}=")), None):
            raise ConfigError(f"{none} leaves a run without a {group}: leave this word out, or say {group}=NAME.")
    for _, name in (word.split("=", 1) for word in words if word.startswith("dataset=")):
        if Path(name).suffix not in ("", ".yaml") and Path(name).is_file():
            raise ConfigError(f"dataset={name} must be a name, not a file; for a table of your own: data={name}")
    words = offer_methods(suit(offer_own(words)) if any(word.startswith(f"{DATA}=") for word in words) else words)
    if any("truth" in word or "glob(" in word or word.startswith("experiment=") for word in words):
        offer_truth()
    return words


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
    options = {name: _value(f"{name}={value}") for name, value in given.items() if name != DATA}
    several = given[DATA].startswith("[") and not Path(given[DATA]).exists()
    spec, folder = own_spec(_value(f"{DATA}={given[DATA]}") if several else given[DATA], **options)
    typed = [word for word in words if word.startswith(f"{FOLDER}=")]
    folders = [str(_value(word)) for word in typed] or [os.environ.get("UFS_DATA_DIR", "")]
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


def suit(words):
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
    override = _override(given[-1])
    targets = list(override.sweep_string_iterator()) if override.is_sweep_override() else [override.value()]
    contents = [empty_method(str(target)) for target in targets]
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
    if not re.fullmatch(r"[^\W\d]\w{,99}", name, re.ASCII) or (ROOT / "conf/method" / f"{name}.yaml").exists():
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


def _override(word):
    try:
        return OverridesParser.create().parse_override(word)
    except HydraException as error:
        raise ConfigError(f"{word} cannot be read: {str(error).splitlines()[0]}. {QUOTES}") from error


def _value(word):
    """Return what a word of a command line sets, as Hydra reads it."""
    override = _override(word)
    if override.is_sweep_override():
        raise ConfigError(f"{word} has several values, and data= takes one file at a time.")
    return _plain(override.value())


def _plain(value):
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return value if value is None or isinstance(value, bool | int | float) else str(getattr(value, "text", value))


def quoted(text):
    """Return a text as Hydra reads it back, whatever is in it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def read_back(name):
    """Return a name as Hydra reads it back, in quotes where it would be a number or a word such as null."""
    return name if isinstance(_value(f"name={name}"), str) else quoted(name)


def check_choices(settings, choices, words):
    """Refuse choices, group -> file, and words typed for this cell, which would be stored otherwise or do nothing."""
    method, protocol = settings.method, settings.protocol
    names = {"dataset": settings.dataset["name"], "method": method.name, "protocol": protocol.name}
    for group, name in names.items():
        choice = Path(str(choices[group])).name
        if choice != name:
            raise ConfigError(f"conf/{group}/{choice}.yaml: name is {name!r}, it must be that of the file.")
    own, cell = f"{choices['dataset']}_{choices['method']}", choices.get("cell")
    if cell not in (None, "null", own) and cell not in _files("cell"):
        raise ConfigError(f"cell={cell} would have no effect: there is no such file of conf/cell.")
    for field, group in (("sizes_for", "dataset"), ("scaling_for", "method")):
        for name in getattr(protocol, field) or ():
            if name not in _files(group):
                raise ConfigError(
                    f"protocol.{field}.{name} would have no effect: {name} is no file of conf/{group}."
                    f"{did_you_mean(name, _files(group))}"
                )
    for word in (word for word in words if re.match(r"\+*method\.grid=\{", word)):
        if others := [name for name in method.grid if name not in _plain(_override(word).value())]:
            raise ConfigError(
                f"{word} would keep {', '.join(others)} in the grid: take each out, ~method.grid.{others[0]}, or say "
                "runner.points=default for the default parameters alone."
            )
    given = [re.match(r"\+*method\.params\.(\w+)=", word) for word in words]
    for name in [match[1] for match in given if match] if settings.runner.points == "grid" else []:
        value = method.params[name]
        if name in method.grid and value not in method.grid[name]:
            raise ConfigError(
                f"method.params.{name}={value} would not be tried: method.grid.{name}={list(method.grid[name])} is. "
                f"Set 'method.grid.{name}=[{value}]', too."
            )


@functools.cache  # Hydra copies all that it knows for each answer
def _files(group):
    """Return the names of the files of a group."""
    return GlobalHydra.instance().config_loader().get_group_options(group)
