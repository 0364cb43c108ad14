"""Reads conf/ for the scripts, besides their own settings: as plain containers, every file once."""

import copy
import functools
import re
from collections import Counter
from math import prod
from pathlib import Path

import yaml

import ufs_bench.runners.place  # noqa: F401  # what ${root:} stands for
from ufs_bench.runners.messages import ConfigError, did_you_mean

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
REPEATS = ("draw",)  # parameters that only repeat a method, in the class attribute `repeats` of all methods


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A loader that reads YAML as OmegaConf does, ten times as fast."""


DATE, FLOAT = "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:float"
_Loader.yaml_implicit_resolvers = {
    letter: [(tag, form) for tag, form in pairs if tag != DATE]
    for letter, pairs in _Loader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(FLOAT, re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789"))  # 1e-6


def read(path):
    """Return one YAML file as plain containers, parsed once until it changes; a ValueError names the line at fault."""
    path = Path(path)
    return copy.deepcopy(_parsed(path, path.stat().st_mtime_ns))


@functools.cache
def _parsed(path, _modified):
    with open(path, encoding="utf-8") as file:
        try:
            return yaml.load(file, _Loader)
        except yaml.MarkedYAMLError as error:
            marks = ((error.context_mark, error.context), (error.problem_mark, error.problem))
            where = "; ".join(f"line {mark.line + 1}: {text}" for mark, text in marks if mark and text)
            raise ValueError(f"{path} is no YAML: {where}.") from error


def names(group):
    """Return the names of the files of a group, such as "method", in alphabetical order."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def find(group, name):
    """Return a file of a group, or a data set of known truth; None where conf/ has none of that name."""
    path = CONF / group / f"{name}.yaml"
    if path.exists():
        return read(path)
    if group != "dataset":
        return None
    from ufs_bench.datasets.truth import truth_names, truth_spec  # here, as most commands read no data

    return truth_spec(name) if name in truth_names() else None


def known(group, name, options=None):
    """Return a name of a file of a group, or one of `options`; a ConfigError says that there is none."""
    options = names(group) if options is None else options
    if name not in options:
        hint = did_you_mean(name, options) or f" There are: {', '.join(options)}."
        raise ConfigError(f"{group}={name!r} is no file of conf/{group}.{hint}")
    return name


def composed(group, name):
    """Return a file of a group with what it builds on, as Hydra composes them; {} where conf/ has no such file."""
    own = find(group, name)
    own = own if isinstance(own, dict) else {}
    for base in own.pop("defaults", []):
        own = own if base == "_self_" else composed(group, base) | own
    return own


def entry(group, name, key, default=None):
    """Return a text or a number of a file of a group, which is not copied for it; the default where there is none."""
    path = CONF / group / f"{name}.yaml"
    content = _parsed(path, path.stat().st_mtime_ns) if path.exists() else find(group, name)
    return (content or {}).get(key, default)


def read_group(group):
    """Return every file of a group, by its name."""
    return {name: find(group, name) for name in names(group)}


def printed(group, name):
    """Return the printed name of a file of "method" or "dataset"; the name itself where conf/ does not have it."""
    return entry(group, name, "paper_name") or name


def unique_names(group, names):
    """Return the printed names of some files of a group, followed by the name in conf/ where two would be the same."""
    texts = {name: printed(group, name) for name in names}
    counts = Counter(texts.values())
    return {name: f"{text} [{name}]" if counts[text] > 1 else text for name, text in texts.items()}


def check_names(group, wanted, stored=()):
    """Refuse a name that is neither in conf/ nor in the results, where a user's own `--config-dir` may have put it."""
    known = dict.fromkeys([*names(group), *stored])
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"{group}={name!r} is not in conf/{group}, and no results of it are stored."
                f"{did_you_mean(name, known)} There are: {', '.join(known)}."
            )


def rows_of(rows, methods, datasets):
    """Return the rows of a study that are of some methods and data sets, by default of all; refuse others by name."""
    for group, wanted in (("method", methods), ("dataset", datasets)):
        stored = rows[group].unique()
        for name in wanted or ():
            if name not in stored:
                known = ", ".join(sorted(stored))
                raise ValueError(f"the study has no {group}={name!r}.{did_you_mean(name, stored)} It has: {known}.")
        rows = rows if wanted is None else rows[rows[group].isin(wanted)]
    return rows


def family_of(dataset):
    """Return the family of a data set from its file; its own name where the file has none."""
    return entry("dataset", dataset, "family", dataset)


def printed_family(family):
    """Return the name of a family of data as it stands in print."""
    return family.replace("_", " ")


def whole_grid(method, protocol):
    """Return the number of points of a method's whole grid under a protocol, a dict; None where it is not known.

    The method has no file then, or the protocol a budget, so that the data decide which values it takes.  A coarse grid
    is a part of the whole one.  Parameters of `REPEATS` keep the values of the file, as the runs do.
    """
    grid, values = entry("method", method, "grid"), protocol.get("grid_values")
    if grid is None or protocol.get("budget"):
        return None
    return prod(len(own) if name in REPEATS or not values else len(values) for name, own in grid.items())
