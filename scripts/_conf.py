"""What the scripts read of conf/ beside their own settings."""

from collections import Counter
from pathlib import Path

from omegaconf import OmegaConf

ROOT = Path(__file__).resolve().parents[1]
CONF = ROOT / "conf"
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


def read_table(name):
    """A file of conf/table, with what it takes from another one, as Hydra composes it."""
    content = read(CONF / "table" / f"{name}.yaml")
    for base in content.pop("defaults", []):
        if base != "_self_":
            content = {**read_table(base), **content}
    return content


def read(path):
    """One YAML file as plain containers."""
    return OmegaConf.to_container(OmegaConf.load(path))
