"""The cells of a command: a single one, or those of a sweep, one after the other."""

import functools
import logging
import logging.config
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import RunMode
from omegaconf import OmegaConf

from ufs_bench.runners.cli.boundary import lacks_room, words_of
from ufs_bench.runners.cli.choices import check_choices
from ufs_bench.runners.cli.report import MOST_CELLS, Report
from ufs_bench.runners.errors import ConfigError, StoreError
from ufs_bench.runners.experiment.settings import Names, read_names, read_settings
from ufs_bench.runners.experiment.sweep import Composer, jobs_of
from ufs_bench.runners.progress import end_cell, show_bar
from ufs_bench.runners.words import counted

log = logging.getLogger(__name__)
report = Report()  # notes how the cells of this command end
LAUNCHER = ".BasicLauncher"  # the classes of Hydra that run the jobs of a sweep in this process
SWEEPER = ".BasicSweeper"


class Asked(NamedTuple):
    """A cell as it was asked for."""

    config: object  # composed: a dict where all of it can be resolved, else a DictConfig
    choices: dict  # group -> the file of conf/ that was chosen
    words: list  # those of the command line for this cell
    names: Names


class Held(Exception):
    """Another process holds a cell, and other cells can be done first."""


def run_job(config):
    """Run the cell that Hydra has composed, which is all, or a job of a sweep that Hydra itself goes through."""
    hydra = HydraConfig.get()
    run_cell(Asked(config, hydra.runtime.choices, list(hydra.overrides.task), read_names(config)), _sweep_size())


@functools.cache
def _sweep_size():
    """Return the number of cells of a sweep that Hydra goes through; 0 where it is not a sweep."""
    config = HydraConfig.get()
    if config.mode != RunMode.MULTIRUN or not config.sweeper._target_.endswith(SWEEPER):
        return 0
    return len(jobs_of(OmegaConf.load(Path(config.sweep.dir, "multirun.yaml")).hydra))


def run_cell(asked, n_cells, wait=True):
    """Do what is asked for of a cell; one that cannot run is reported, and a sweep goes on, unless a disk is full.

    `n_cells` is 0 where this is no sweep.  With `wait=False` the cell is left alone where another process holds it; the
    result is True then.
    """
    if report.is_full:
        return False
    config, choices, words, names = asked
    place = report.begin(names.folder, n_cells)
    if config.get("shard") is not None and not place:
        raise SystemExit("error: shard= is a part of a sweep: add -m or experiment=NAME.")
    try:
        settings = read_settings(config, names)
    except ConfigError as error:
        report.failed(str(error), place)
        return False
    # Imported here, as these take seconds, and --help and Tab need none of them.
    from ufs_bench.datasets import DataError, DataMissing
    from ufs_bench.runners.code import CodeChanged
    from ufs_bench.runners.experiment.cell import Cell

    dataset = names.dataset["name"]
    try:
        check_choices(settings, choices, words)
        if dataset in report.missing:  # another attempt to download it would take as long and fail again
            raise DataMissing(report.missing[dataset])
        if settings.runner.plan:
            report.planned(place, Cell(settings).plan(_times))
        else:
            report.begun(settings.protocol.name)
            report.ended(Cell(settings).run(place, None if wait else _leave))
    except Held:
        report.put_aside(place)
        return True
    except DataMissing as error:
        report.left_out(dataset, str(error), place, skip=settings.missing_data == "skip")
    except (ConfigError, DataError, StoreError, CodeChanged, OSError, MemoryError) as error:
        report.is_full |= lacks_room(error)
        ends = " The sweep ends here: the same command goes on with it." if report.is_full and n_cells else ""
        report.failed(f"{words_of(error)}{ends}", place)
    return False


def _finished(asked):
    """Return the line about a cell in which nothing is left to do; None where `run_cell` has to look."""
    from ufs_bench.datasets import DataError
    from ufs_bench.runners.experiment.cell import Cell

    with suppress(ConfigError, DataError, StoreError, OSError, MemoryError):
        return Cell(read_settings(asked.config, asked.names)).finished()


def _leave():
    raise Held


@functools.cache
def _times(*given):
    """Return the seconds of stored fits, which a plan reads once a method."""
    from ufs_bench.runners.experiment.plan import Times

    return Times(*given)


class Cells(Sweeper):
    """Goes through a sweep in the place of Hydra's own sweeper, which composes every job twice.

    A cell that is finished, or only planned, is not launched.  A launcher of another kind, and the jobs of a sweep with
    callbacks or an environment of their own, get all cells at once.
    """

    def __init__(self, max_batch_size=None, params=None):
        self._most = max_batch_size

    def setup(self, *, hydra_context, task_function, config):
        """Keep what Hydra hands over."""
        self._context, self._main, self._config = hydra_context, task_function, config

    def sweep(self, arguments):
        """Run the cells; `arguments` are those in the configuration."""
        config = self._config
        jobs, composer = jobs_of(config.hydra), Composer(config)
        # All of them first: a word that is wrong ends the sweep here, and leaves nothing behind.
        composed = [(*composer.job(words), words) for words in jobs]
        cells = [Asked(*job, read_names(job[0])) for job in composed]
        keep_sweep(config, Path(config.hydra.sweep.dir))
        log_to_screen(config.hydra)
        if (shard := OmegaConf.select(config, "shard")) is not None:
            cells = _part_of(shard, cells)
            log.info("shard %s: %s", shard, counted(len(cells), "cell"))
        if self._is_plain():
            self._go_through(cells)
        else:
            launcher, most = self._launcher(self._main), self._most or len(cells)
            for first in range(0, len(cells), most):
                for done in launcher.launch([cell.words for cell in cells[first : first + most]], first):
                    assert done.return_value is None  # it raises what ended the job

    def _is_plain(self):
        """Return True where a sweep has no launcher, callbacks or environment of its own."""
        hydra = self._config.hydra
        special = hydra.job.env_set or hydra.job.env_copy or hydra.job.chdir or hydra.callbacks or self._most
        return hydra.launcher._target_.endswith(LAUNCHER) and not special

    def _launcher(self, function):
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=self._context, task_function=function, config=self._config
        )
        logging.getLogger(type(launcher).__module__).setLevel(logging.WARNING)  # `run_cell` names the cells
        return launcher

    def _go_through(self, cells):
        config, left, wait, turn = self._config, list(range(len(cells))), False, None
        launcher = self._launcher(lambda _: run_cell(turn, len(cells), wait))
        if plan := OmegaConf.select(config, "runner.plan") is True:
            log.info("a plan of %d cells:", len(cells))
            report.is_summed = len(cells) > MOST_CELLS
        elif len(cells) > 1:
            show_bar(len(cells))
        while left:
            held = []
            for number in left:
                turn = cells[number]
                if not plan and (line := _finished(turn)):
                    log.info("%s%s", report.begin(turn.names.folder, len(cells)), line)
                    is_held = False
                elif plan and isinstance(turn.config, dict):
                    is_held = run_cell(turn, len(cells))
                else:
                    (done,) = launcher.launch([turn.words], initial_job_idx=number)
                    log_to_screen(config.hydra)
                    is_held = done.return_value  # it raises what ended the job
                if report.is_full:
                    return
                if is_held:
                    held.append(number)
                else:
                    end_cell()
            wait = held == left  # nothing else is left to do: wait for the first of them
            left = held


def keep_sweep(config, folder):
    """Write ``multirun.yaml``, which says what was asked for, whole or not at all: `scripts.status` reads it."""
    from ufs_bench.runners.store.files import replace_file  # here, as it reads tables, and --help and Tab need none

    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / "multirun.yaml", OmegaConf.to_yaml(config).encode())


def register():
    """Let `Cells` take the place of Hydra's own sweeper; ``hydra/sweeper=...`` chooses others, as ever."""
    classes = Plugins.instance().class_name_to_class
    classes[next(name for name in classes if name.endswith(SWEEPER))] = Cells


def _part_of(shard, cells):
    """Return the cells of one part of a sweep."""
    from ufs_bench.runners.experiment.plan import shard_of
    from ufs_bench.runners.store.reference import (
        shipped_costs,  # here, as it reads tables, and --help and Tab need none
    )

    names = [(cell.names.dataset["name"], cell.names.method["name"]) for cell in cells]
    return [cells[place] for place in shard_of(names, shard, shipped_costs(cells[0].names.study))]


def log_to_screen(hydra):
    """Log as a job does, without the file of a job."""
    wanted = OmegaConf.to_container(hydra.job_logging)
    wanted.get("handlers", {}).pop("file", None)
    root = wanted.get("root") or {}
    root["handlers"] = [name for name in root.get("handlers", ()) if name != "file"]
    logging.config.dictConfig(wanted)
