"""Checks the types of a whole configuration before anything is done with it; no other place does."""

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

from joblib import cpu_count
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from metrics.protocol import Protocol
from metrics.study import FAILED
from runners.method import ConfigError, Method, did_you_mean
from runners.runner import Runner, check_caps, read_retry

NAME = re.compile(r"\w(?:[\w .,+=@()~-]{0,98}[\w,+=@()~-])?")  # a folder's name in any system, without wildcards
MISSING_DATA = ("error", "skip")
POINTS = ("grid", "sample", "default")
CHANGED = ("redo", "keep")
MOST_JOBS = 1024
MOST_BITS = 1024  # of a number that is printed in full: Python refuses to print more than 4,300 digits


@dataclass(frozen=True)
class Settings:
    """A whole configuration, checked.

    Attributes
    ----------
    study : str
    results_dir : Path
    data_dir : str or None
    missing_data : {"error", "skip"}
    runner : Runner
    protocol : Protocol
    method : Method
    dataset : dict
        The content of a file of conf/dataset, which `datasets.spec.check_spec` checks.
    """

    study: str
    results_dir: Path
    data_dir: str | None
    missing_data: str
    runner: Runner
    protocol: Protocol
    method: Method
    dataset: Mapping

    @property
    def folder(self):
        """The folder with the results of the cell."""
        return self.results_dir / self.study / self.dataset["name"] / self.method.name


def read_config(config):
    """Check a configuration.

    Parameters
    ----------
    config : DictConfig
        What `run.py` composes from conf/.

    Returns
    -------
    Settings

    Raises
    ------
    ConfigError
        Naming the value and what it must be.
    """
    _check_parts(config)
    study, results_dir, dataset, method = read_names(config)
    data_dir, missing_data = _part(config, "data_dir", None), _part(config, "missing_data", "error")
    if data_dir is not None and not (isinstance(data_dir, str) and "\0" not in data_dir):
        raise ConfigError(f"data_dir={data_dir!r} must be a folder, or null.")
    if missing_data not in MISSING_DATA:
        raise ConfigError(f"missing_data={missing_data} must be error or skip.")
    return Settings(
        study=study,
        results_dir=results_dir,
        data_dir=data_dir,
        missing_data=missing_data,
        runner=read_runner(_mapping(config, "runner")),
        protocol=read_protocol(_mapping(config, "protocol")),
        method=Method.read(method),
        dataset=dataset,
    )


def read_names(config):
    """Check the names that make up the folder of a cell, before anything creates it.

    Parameters
    ----------
    config : DictConfig

    Returns
    -------
    study : str
    results_dir : Path
    dataset, method : dict

    Raises
    ------
    ConfigError
    """
    study, results_dir = _part(config, "study"), _part(config, "results_dir")
    check_name("study", study)
    if not isinstance(results_dir, str) or not results_dir.strip() or "\0" in results_dir:
        raise ConfigError(f"results_dir={results_dir!r} must be a folder.")
    dataset, method = _mapping(config, "dataset"), _mapping(config, "method")
    for group, content in (("dataset", dataset), ("method", method)):
        if "name" not in content:
            raise ConfigError(f"the file of the {group} lacks 'name': write that of the file.")
        check_name(f"{group}.name", content["name"])
    return study, Path(results_dir), dataset, method


def _check_parts(config):
    """Refuse names that are not parts of a configuration, as a mistyped one would have no effect."""
    parts = [item.name for item in fields(Settings)]
    for name in config:
        if name in ("cell", "experiment"):
            raise ConfigError(
                f"{name}={shown(config[name])} would have no effect: there is no such file of conf/{name}, or its "
                "first line is not `# @package _global_`."
            )
        if name not in (*parts, "hydra"):
            raise ConfigError(
                f"{shown(name)} is no part of a configuration; it has: {', '.join(parts)}.{did_you_mean(name, parts)}"
            )


def check_name(what, name):
    """Refuse a name that cannot be a folder of its own inside the results.

    Parameters
    ----------
    what : str
        Such as ``study``.
    name : object

    Raises
    ------
    ConfigError
    """
    if not isinstance(name, str):
        example = f"s{name}" if isinstance(name, int) else "mine"
        raise ConfigError(f"{what}={shown(name)} must be a text, such as {what}={example}.")
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{what}={shown(name)} must be a name of 1 to 100 letters, digits and -+_.,=@~() that begins with a letter "
            "or digit: it is a folder inside the results."
        )


def read_runner(content):
    """Check the part ``runner`` of a configuration.

    Parameters
    ----------
    content : Mapping

    Returns
    -------
    Runner

    Raises
    ------
    ConfigError
    """
    needed = {item.name: item.default is MISSING for item in fields(Runner)}
    _check_fields("runner", content, needed, "the runner's settings")
    n_jobs = content["n_jobs"]
    if type(n_jobs) is not int or n_jobs == 0 or not -1 <= n_jobs <= MOST_JOBS:
        raise ConfigError(f"runner.n_jobs={shown(n_jobs)} must be 1 to {MOST_JOBS}, or -1 for every core.")
    for name in ("redo", "cache", "plan"):
        if not isinstance(content.get(name, False), bool):
            raise ConfigError(f"runner.{name}={shown(content[name])} must be true or false.")
    if content["points"] not in POINTS:
        raise ConfigError(f"runner.points={shown(content['points'])} must be grid, sample or default.")
    if content.get("changed", "redo") not in CHANGED:
        raise ConfigError(f"runner.changed={shown(content['changed'])} must be redo or keep.")
    check_caps(content)
    n_jobs = cpu_count() if n_jobs == -1 else n_jobs
    return Runner(**{**content, "n_jobs": n_jobs, "retry": read_retry(content.get("retry", [FAILED]))})


def read_protocol(content):
    """Check the part ``protocol`` of a configuration.

    Parameters
    ----------
    content : Mapping

    Returns
    -------
    Protocol

    Raises
    ------
    ConfigError
    """
    needed = {item.name: item.default is item.default_factory is MISSING for item in fields(Protocol)}
    _check_fields("protocol", content, needed, "a protocol")
    check_name("protocol.name", content["name"])
    try:
        return Protocol(**content)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def check_values(where, value):
    """Refuse numbers that no computation or no JSON can take: nan, inf, and integers beyond 64 bits.

    Parameters
    ----------
    where : str
        Such as ``method.params``.
    value : object
        A value of a configuration, however nested.

    Raises
    ------
    ConfigError
    """
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


def shown(value):
    """Return a value as it is printed in an error: on one line, and shortened."""
    text = hex(value) if type(value) is int and value.bit_length() > MOST_BITS else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _check_fields(group, content, needed, what):
    """Refuse unknown names of fields, and missing fields that are needed."""
    for name in content:
        if name not in needed:
            options = ", ".join(needed)
            raise ConfigError(
                f"{group}.{name} is not a field of {what}; it has: {options}.{did_you_mean(name, needed)}"
            )
    if lacking := [name for name, must in needed.items() if must and name not in content]:
        raise ConfigError(f"the {group} lacks {', '.join(lacking)}.")


def _part(config, name, *default):
    """Return a part of the configuration as plain values, after `check_values`."""
    try:
        if default and name not in config:
            return default[0]
        value = config[name]
        value = OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
    except OmegaConfBaseException as error:
        raise ConfigError(f"{name} cannot be read: {str(error).splitlines()[0]}") from error
    check_values(name, value)
    return value


def _mapping(config, name):
    content = _part(config, name)
    if not isinstance(content, dict):
        raise ConfigError(f"{name}={shown(content)} must be a file of conf/{name}.")
    return content
