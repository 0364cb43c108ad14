"""Checks the types of a whole configuration before anything is done with it; no other place does."""

import functools
import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from ufs_bench.metrics.protocol import Protocol, same_values
from ufs_bench.metrics.study import FAILED, UNSCORED
from ufs_bench.runners.experiment import kinds as typed
from ufs_bench.runners.experiment.kinds import check_fields, check_name
from ufs_bench.runners.experiment.method import Method
from ufs_bench.runners.messages import ConfigError, did_you_mean, shown
from ufs_bench.runners.place import PREFIX, is_checkout
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.machine import CAN_WATCH

PARTS = ("study", "results_dir", "data_dir", "missing_data", "runner", "protocol", "method", "dataset")
OF_COMMANDS = ("methods", "datasets", "shard", "hydra")  # parts that say which cells there are, and how Hydra logs
MISSING_DATA = ("error", "skip")
REUSE = NONE, OWN, SHIPPED = "none", "own", "shipped"


@dataclass(frozen=True)
class Runner:
    """The content of a file of conf/runner."""

    n_jobs: int  # number of worker processes, at least 1
    redo: bool  # compute what is stored again
    # "grid", the "default" parameters, or a number of points by `grid.first_points`.
    points: str | int
    # Caps of one fit, in CPU seconds and in GB above what its process holds before; a fit beyond them is ended.
    max_seconds: float | None = None
    max_memory: float | None = None
    retry: tuple = (FAILED,)  # statuses, of `UNSCORED`, with which a stored trial is run again
    plan: bool = False  # only say what would be run, and how long it would take
    reuse: str = OWN  # whose trials are taken: of none, of the user's other studies, or ("shipped") of shipped ones too

    @property
    def caps(self):
        """The caps of one fit."""
        return Caps(self.max_seconds, self.max_memory)


@dataclass(frozen=True)
class Settings:
    """The whole configuration of a cell, checked."""

    study: str
    results_dir: Path
    dataset: Mapping  # the content of a file of conf/dataset, which `datasets.spec.check_spec` checks
    method_file: Mapping  # the content of a file of conf/method, not checked but for its name
    data_dir: str | None
    missing_data: str  # "error" or "skip"
    runner: Runner
    protocol: Protocol

    @property
    def folder(self):
        """The folder with the results of the cell."""
        return self.results_dir / self.study / self.dataset["name"] / self.method_file["name"]

    @functools.cached_property
    def method(self):
        """The method, which is checked, and imported, when it is first asked for; a ConfigError says what is wrong."""
        return Method.read(self.method_file)

    def __str__(self):
        return f"{self.method_file['name']} on {self.dataset['name']}"


def read_settings(config):
    """Return the checked `Settings` of what `run.py` composes, whose method is checked when it is first asked for.

    A ConfigError names the value and what it must be.
    """
    try:
        parts = OmegaConf.to_container(config, resolve=True) if OmegaConf.is_config(config) else config
    except OmegaConfBaseException as error:
        raise ConfigError(f"the configuration cannot be read: {str(error).splitlines()[0]}") from error
    for name, value in parts.items():
        if name not in (*PARTS, *OF_COMMANDS):
            raise ConfigError(
                f"{shown(name)} is no part of a configuration; it has: {', '.join(PARTS)}.{did_you_mean(name, PARTS)} "
                "A file of conf/experiment begins with the line `# @package _global_`."
            )
        check_values(name, value)
    study, results_dir, data_dir = map(parts.get, ("study", "results_dir", "data_dir"))
    check_name("study", study)
    if f"{study}/" == PREFIX:
        raise ConfigError(f"study={study} is the folder of the shipped results: give another name.")
    for name, folder in (("results_dir", results_dir), ("data_dir", data_dir)):
        if not typed.PATH.holds(folder) and (name, folder) != ("data_dir", None):
            raise ConfigError(f"{name}={folder!r} must be a folder.")
    missing_data = parts.get("missing_data", "error")
    if missing_data not in MISSING_DATA:
        raise ConfigError(f"missing_data={missing_data} must be error or skip.")
    for group in ("dataset", "method", "protocol", "runner"):
        if not isinstance(parts.get(group), dict):
            raise ConfigError(f"{group}={shown(parts.get(group))} must be a file of conf/{group}.")
    dataset, method = parts["dataset"], parts["method"]
    for group, content in (("dataset", dataset), ("method", method)):
        if "name" not in content:
            raise ConfigError(f"the file of the {group} lacks 'name': write that of the file.")
        check_name(f"{group}.name", content["name"])
    runner, protocol = read_runner(parts["runner"]), read_protocol(parts["protocol"])
    return Settings(study, Path(results_dir), dataset, method, data_dir, missing_data, runner, protocol)


def read_runner(content):
    """Return the checked `Runner` of the part ``runner`` of a configuration."""
    needed = [item.name for item in fields(Runner) if item.default is MISSING]
    check_fields("the runner", content, RUNNER, needed, "runner.")
    if content.get("max_memory") is not None and not CAN_WATCH:
        raise ConfigError("runner.max_memory needs Linux, which says what a process holds: set it to null.")
    retry = content.get("retry", [FAILED])
    own = {
        "n_jobs": _cpu_count() if content["n_jobs"] == -1 else content["n_jobs"],
        "retry": (retry,) if isinstance(retry, str) else tuple(retry),
    }
    return Runner(**{**content, **own})


CAP = typed.optional(typed.number(0, math.inf))
STATUSES = typed.one_or_more(typed.one_of(*UNSCORED))
RUNNER = {
    "n_jobs": typed.JOBS,
    "redo": typed.FLAG,
    "plan": typed.FLAG,
    "points": typed.POINTS,
    "reuse": typed.Kind(
        "none, own, or in a checkout of the repository shipped",
        lambda value: value in (REUSE if is_checkout() else (NONE, OWN)),
    ),
    "max_seconds": typed.Kind("a number of CPU seconds above 0, or null for no cap", CAP.holds),
    "max_memory": typed.Kind("a number of GB above 0, or null for no cap", CAP.holds),
    "retry": typed.Kind(
        f"a list of {', '.join(UNSCORED)}, such as [timeout]", lambda value: value == [] or STATUSES.holds(value)
    ),
}  # the kind of each field of `Runner`


def read_protocol(content):
    """Return the checked `Protocol` of the part ``protocol`` of a configuration."""
    needed = [item.name for item in fields(Protocol) if item.default is item.default_factory is MISSING]
    check_fields("the protocol", content, {item.name: typed.ANY for item in fields(Protocol)}, needed)
    check_name("protocol.name", content["name"])
    lists = {"sizes": content["sizes"]}
    if isinstance(content.get("sizes_for"), Mapping):
        lists |= {f"sizes_for.{name}": sizes for name, sizes in content["sizes_for"].items()}
    for name, sizes in lists.items():
        if isinstance(sizes, list) and (twice := same_values(sizes)):
            raise ConfigError(f"protocol.{name}={shown(sizes)} has {shown(twice[0])} twice: remove one.")
    try:
        return Protocol(**content)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def check_values(where, value):
    """Refuse numbers that no computation or no JSON can take, however nested: nan, inf, and more than 64 bits."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not isinstance(name, str):
                raise ConfigError(f"{where}: the key {shown(name)} must be a text.")
            check_values(f"{where}.{name}", item)
    elif isinstance(value, list):
        for item in value:
            check_values(where, item)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{where}={value} must be finite.")
    elif type(value) is int and not -(2**63) <= value < 2**63:
        raise ConfigError(f"{where}={shown(value)} must be a number of at most 64 bits.")


def _cpu_count():
    from joblib import cpu_count  # here, as --help and Tab need none of it

    return cpu_count()
