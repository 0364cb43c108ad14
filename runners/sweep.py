"""The cells of a sweep, in the order in which Hydra runs them."""

import functools
from contextlib import contextmanager

from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from runners.code import ROOT
from runners.settings import read_config


def jobs_of(hydra):
    """List the overrides of each job of a sweep.

    Parameters
    ----------
    hydra : DictConfig
        The part "hydra" of a configuration, with the sweep's parameters and the overrides that were typed.

    Returns
    -------
    list of list of str
        Overrides, such as ``["dataset=umist", "method=mcfs"]``, in the order of the jobs.
    """
    params = hydra.sweeper.params or OmegaConf.create()  # null where all overrides are typed
    words = [f"{name}={value}" for name, value in OmegaConf.to_container(params).items()] + list(hydra.overrides.task)
    # The sweeper itself does the same, so that globs and lists have the same meaning.
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    return [list(job) for batch in BasicSweeper.split_arguments(parser.parse_overrides(words), None) for job in batch]


@functools.cache
def cells_of_experiment(name, *words):
    """Return the settings of all cells of an experiment.

    Parameters
    ----------
    name : str
        A file of conf/experiment.
    *words : str
        Overrides, such as ``"results_dir=there"``.

    Returns
    -------
    tuple of Settings
    """
    with _whole_conf():
        return _cells(compose("config", [f"experiment={name}", *words], return_hydra_config=True).hydra)


def cells_of_sweep(path):
    """Return the settings of all cells of a sweep that was run; `path` is its multirun.yaml."""
    with _whole_conf():
        return _cells(OmegaConf.load(path).hydra)


def _cells(hydra):
    return tuple(read_config(compose("config", job)) for job in jobs_of(hydra))


@contextmanager
def _whole_conf():
    """Compose from conf/ itself, also inside a command whose own configuration is from a subfolder of it."""
    there = GlobalHydra.instance()
    before = there.hydra
    there.clear()
    try:
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            yield
    finally:
        if before is not None:
            GlobalHydra.instance().initialize(before)
