"""The cells of a sweep, as Hydra will go through them."""

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import filter_overrides
from omegaconf import OmegaConf


def jobs_of(hydra):
    """What is set in each job of a sweep.

    Parameters
    ----------
    hydra : DictConfig
        The part "hydra" of a configuration: the sweep's parameters, and what was typed.

    Returns
    -------
    list of list of str
        Overrides, such as ``["dataset=umist", "method=mcfs"]``, in the order of the jobs.
    """
    params = hydra.sweeper.params or OmegaConf.create()  # null where all is typed
    words = [f"{name}={value}" for name, value in OmegaConf.to_container(params).items()] + list(hydra.overrides.task)
    # As the sweeper itself does it, so that globs and lists mean the same.
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    return [list(job) for batch in BasicSweeper.split_arguments(parser.parse_overrides(words), None) for job in batch]


def leave_out(is_done):
    """Let a sweep drop jobs before it composes them, which takes a good part of a second each.

    Parameters
    ----------
    is_done : callable
        Of the sweep's configuration, what is set in a job without what is Hydra's own, and the number of jobs.
    """
    # The class that Hydra has registered, which is another object than the one imported here; it takes no sweeper from
    # outside its own packages.
    registered = Plugins.instance().class_name_to_class[f"{BasicSweeper.__module__}.{BasicSweeper.__name__}"]
    take = registered.get_job_batch

    def get_job_batch(sweeper):
        jobs = take(sweeper)
        return [job for job in jobs if not is_done(sweeper.config, list(filter_overrides(job)), len(jobs))]

    registered.get_job_batch = get_job_batch
