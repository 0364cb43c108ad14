"""What the scripts read of conf/ beside their own settings."""

from collections import Counter
from pathlib import Path

import yaml
from omegaconf import OmegaConf

from runners.method import did_you_mean
from scripts.core.published import PAPERS

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
TABLE = "name title paper published_table metric study protocol rows columns published_as".split()
TABLE_OPTIONS = {"metric": ("acc", "nmi", "seconds", "shape"), "paper": (*PAPERS, None)}
OmegaConf.register_new_resolver("root", lambda: str(ROOT), replace=True)


def names_in_print(group):
    """Name in conf/ -> name in print, of every file of a group.

    Parameters
    ----------
    group : {"method", "dataset"}

    Returns
    -------
    dict
    """
    found = {path.stem: read(path) for path in sorted((CONF / group).glob("*.yaml"))}
    return {name: content.get("paper_name") or name for name, content in found.items()}


def unique_names(group, names):
    """Names in print of some files of a group, with the name in conf/ behind where two would read the same.

    Parameters
    ----------
    group : {"method", "dataset"}
    names : iterable of str

    Returns
    -------
    dict
    """
    known = names_in_print(group)
    printed = {name: known.get(name, name) for name in names}
    counts = Counter(printed.values())
    return {name: f"{text} [{name}]" if counts[text] > 1 else text for name, text in printed.items()}


def check_names(group, names, stored=()):
    """Refuse names that neither conf/ has nor the results: a file of them may lie in a folder of the user's own.

    Parameters
    ----------
    group : {"method", "dataset"}
    names, stored : iterable of str

    Raises
    ------
    ValueError
    """
    known = dict.fromkeys([*names_in_print(group), *stored])
    for name in names:
        if name not in known:
            raise ValueError(
                f"{group}={name!r} is not in conf/{group}, and no results of it are stored."
                f"{did_you_mean(name, known)} There are: {', '.join(known)}."
            )


def read_table(name):
    """A file of conf/table, with what it takes from another one, as Hydra composes it; checked."""
    content = read(CONF / "table" / f"{name}.yaml")
    for base in content.pop("defaults", []) if isinstance(content, dict) else []:
        if base != "_self_":
            content = {**read_table(base), **content}
    return check_table(content, name)


def check_table(spec, name):
    """The content of a file of conf/table, where it can be used.

    Parameters
    ----------
    spec : object
    name : str
        Of the file.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
    """
    spec = spec if isinstance(spec, dict) else {}
    keys = f"Its keys are {', '.join(TABLE)}."
    for key in spec:
        if key not in TABLE:
            raise ValueError(f"table={name}: {key!r} is no key of a table.{did_you_mean(key, TABLE)} {keys}")
    if lacking := [key for key in TABLE if key not in spec]:
        raise ValueError(f"table={name}: its file lacks {', '.join(lacking)}. {keys}")
    for key, options in TABLE_OPTIONS.items():
        if spec[key] not in options:
            allowed = ", ".join("null" if option is None else option for option in options)
            raise ValueError(f"table={name}: {key}={spec[key]!r} must be one of {allowed}.")
    for key in ("name", "title", "study", "protocol"):
        if not isinstance(spec[key], str):
            raise ValueError(f"table={name}: {key}={spec[key]!r} must be a text.")
    for key in ("rows", "columns"):
        if not isinstance(spec[key], list) or not spec[key]:
            raise ValueError(f"table={name}: {key}={spec[key]!r} must be a list of names, such as [mcfs, rufs].")
    if not isinstance(spec["published_as"], dict):
        raise ValueError(f"table={name}: published_as={spec['published_as']!r} must be {{}} or as {{a_variant: mcfs}}.")
    return spec


def read(path):
    """One YAML file as plain containers.

    Raises
    ------
    ValueError
        For what is no YAML, with its line.
    """
    try:
        return OmegaConf.to_container(OmegaConf.load(path))
    except yaml.MarkedYAMLError as error:
        marks = ((error.context_mark, error.context), (error.problem_mark, error.problem))
        where = "; ".join(f"line {mark.line + 1}: {text}" for mark, text in marks if mark and text)
        raise ValueError(f"{path} is no YAML: {where}.") from error
