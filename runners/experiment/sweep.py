"""The cells of a command: each of its methods on each of its data sets, composed by Hydra.

An experiment, or a command line with ``-m``, is one configuration with lists of ``methods`` and ``datasets``.  Hydra
composes it once for each method and each data set by itself; as a file of conf/dataset fills the part ``dataset`` and
no other one, a cell is the first with the second in its place.
"""

import re
from contextlib import suppress

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

import ufs_bench.runners.place  # noqa: F401  # what ${root:} stands for
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.experiment.kinds import has_several, names_of, quoted, read_back
from ufs_bench.runners.experiment.settings import read_settings
from ufs_bench.runners.messages import ConfigError, did_you_mean

LISTS = {"dataset": "datasets", "method": "methods"}  # group -> the option with a list of its names
SWEEP = ("-m", "--multirun")
NOTHING = ("experiment=null", "protocol=null", "runner=null")  # of which Hydra makes no error of its own
ALONE = ("-c", "--cfg", "-i", "--info", "-r", "--run")  # which Hydra takes without a sweep


def with_lists(words):
    """Return the words of a sweep with ``methods=`` and ``datasets=`` for what they choose of these groups.

    The first of each is chosen, so that its parameters can be set.  ``-m`` stays where another option has several
    values, which Hydra's own sweeper goes through.
    """
    is_sweep, found = any(word in SWEEP or word.startswith("experiment=") for word in words), []
    for word in (word for word in words if word not in SWEEP):
        if word in NOTHING or re.fullmatch(r"~\w+(=.*)?", word):
            raise ConfigError(f"{word} takes away a part of a run: leave this word out.")
        group, given, value = word.partition("=")
        if group not in LISTS or not given:  # such as the value of --package
            several = group in LISTS.values() and has_several(word)  # which Hydra would go through, each by itself
            found.append(f"{group}={quoted(value)}" if several else word)
            continue
        names = [] if "glob(" in value else names_of(word, ())
        if not is_sweep and len(names) != 1:
            raise ConfigError(f"{word} has several values: add -m for a sweep over them.")
        if is_sweep and not any(word.startswith(f"{LISTS[group]}=") for word in words):
            found.append(f"{LISTS[group]}={quoted(value)}")
        if names:
            found.append(f"{group}={read_back(names[0])}")
            if group == "dataset":
                offer_truth(names[0])
    several = [word for word in found if has_several(word)]
    if several and (alone := [word for word in found if word.startswith(ALONE)]):
        raise ConfigError(f"{several[0]} has several values, and {alone[0]} takes one: leave out the others.")
    if several and not is_sweep:
        raise ConfigError(f"{several[0]} has several values: add -m for a sweep over them.")
    return ["-m", *found] if several else found


def cells_of(config, hydra):
    """Return the `Settings` of each cell that a composed configuration asks for, one data set after the other.

    `hydra` is its part of that name.
    """
    words, chosen, names = typed_words(hydra), OmegaConf.to_container(hydra.runtime.choices), {}
    typed = {word.partition("=")[0] for word in words}
    for group, option in LISTS.items():
        of_hydra = [word for word in words if word.startswith("hydra.")]
        names[group] = _names(group, config.get(option), of_hydra) or [chosen[group]]
        if group in typed and chosen[group] not in names[group]:
            raise ConfigError(f"{group}={chosen[group]} is not among {option}=: leave one of the two out.")
    words = [hydra.job.config_name, *(word for word in words if word.partition("=")[0] not in LISTS)]
    parts = {group: _parts(group, names[group], chosen, config, words) for group in LISTS}
    found, whole = [], config.copy()  # which keeps one time of day for all cells
    for dataset, whole.dataset in parts["dataset"].items():
        for method, whole.method in parts["method"].items():
            settings = read_settings(whole)
            _check_names(settings, {"dataset": dataset, "method": method, "protocol": chosen.get("protocol")})
            found.append(settings)
    return found


def _parts(group, names, chosen, config, words):
    """Return the part of a configuration that each file of a group fills, by name.

    It is composed anew only where words or an experiment change this part, or the file asks for more than that.
    """
    repository, parts = GlobalHydra.instance().config_loader().repository, {}
    if group == "dataset":
        for name in names:
            offer_truth(name)

    def content(name):
        file = repository.load_config(f"{group}/{name}")
        own = file and not file.header.get("package") and "defaults" not in file.config
        return file.config if own else None

    experiment = chosen.get("experiment") and repository.load_config(f"experiment/{chosen['experiment']}")
    changed = any(word.lstrip("+~").startswith(f"{group}.") for word in words)
    changed |= bool(experiment and group in experiment.config) or content(chosen[group]) != config[group]
    for name in names:
        part = config[group] if name == chosen[group] else None if changed else content(name)
        if part is None:
            others = [f"{one}={read_back(name if one == group else chosen[one])}" for one in LISTS]
            whole = compose(words[0], [*words[1:], *others])
            if _without(group, whole) != _without(group, config):
                raise ConfigError(f"conf/{group}/{name}.yaml must fill the part {group}, and no other.")
            part = whole[group]
        parts[name] = part
    return parts


def _without(group, config):
    return {name: part for name, part in OmegaConf.to_container(config).items() if name not in (group, "hydra")}


def typed_words(hydra):
    """Return the words of a command line as they were typed, Hydra's own first."""
    words = OmegaConf.to_container(hydra.overrides)  # not resolved: "study=${method.name}" is of each cell
    return [*words["hydra"], *words["task"]]


def _names(group, given, words):
    """Return the names in a list, or a text such as ``a,b`` or ``glob(*)``; none where there is no list."""
    if given is None:
        return []
    known = known_names(group, words)
    names = names_of(f"{group}={given}", known) if isinstance(given, str) else [str(name) for name in given]
    if not names:
        raise ConfigError(f"{LISTS[group]}=[] names no {group}: leave it out, or name one.")
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or " python run.py --help lists all."
            raise ConfigError(f"{group}={name}: there is no {group} of this name.{hint}")
    return names


def known_names(group, words=()):
    """Return the names of the files of a group, with data sets of known truth and what a command line offers.

    `words` are those of Hydra, such as ``hydra.searchpath=[...]``.
    """
    names = GlobalHydra.instance().config_loader().get_group_options(group, config_name="config", overrides=list(words))
    if group == "dataset":
        from ufs_bench.datasets.truth import truth_names  # here, as few commands have lists of data

        names = [*names, *truth_names()]
    return dict.fromkeys(names)


def _check_names(settings, chosen):
    """Refuse a file of another name than the one inside, as results are stored under that one."""
    names = {"dataset": settings.dataset, "method": settings.method_file, "protocol": {"name": settings.protocol.name}}
    for group, content in names.items():
        choice = str(chosen[group]).rpartition("/")[2]
        if choice != content["name"]:
            raise ConfigError(f"conf/{group}/{choice}.yaml: name is {content['name']!r}, it must be that of the file.")


def offer_truth(name):
    """Give Hydra the specification of a data set of known truth; others are left alone."""
    if name.startswith("truth_"):
        from ufs_bench.datasets import DataError, read_spec

        with suppress(DataError):  # Hydra says that there is none
            ConfigStore.instance().store(name=name, node=read_spec(name), group="dataset", provider="conf/truth")


def cells_of_words(*words):
    """Return the settings of the cells that ``python run.py -m`` runs for these words."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        config = compose("config", with_lists(["-m", *words]), return_hydra_config=True)
        return tuple(cells_of(config, config.hydra))
