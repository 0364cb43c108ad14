"""Run methods on data sets: ``python run.py --help`` shows how."""

import os
import sys

from runners import arithmetic
from runners.cli.boundary import boundary, guard, words_of

if __name__ == "__main__":  # before the slow imports, so that Ctrl-C is handled during them, too
    guard("interrupted: finished trials are stored; the same command goes on from there")
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # makes Hydra raise its errors, which become a line here
    arithmetic.start(sys.argv[1:])  # before numpy, for this process and every worker

import contextlib
import functools
import logging
import logging.config
import tempfile
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import OmegaConf

from runners.cli.choices import check_choices, offer
from runners.cli.help import narrow_help, refused
from runners.cli.report import Report
from runners.errors import ConfigError
from runners.experiment.notes import finished, note_of
from runners.experiment.settings import read_config, read_names, read_runner, resolved
from runners.experiment.sweep import Begun, Composer, OneCompose, jobs_of
from runners.place import home
from runners.progress import end_cell, hide_bar, show_bar
from runners.workers import processes

logging.raiseExceptions = False  # a closed pipe, as to `head`, must not fill the screen with tracebacks
log = logging.getLogger(__name__)
report = Report()  # notes how the cells of this command end


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config):
    """Run the cell that `config` describes, which is all, or a job of a sweep that Hydra itself goes through."""
    run_cell(config, *_typed(), _sweep_size())


def _typed():
    """Return the file of conf/ that was chosen for each group, and the words of the job that Hydra runs now."""
    config = HydraConfig.get()
    return config.runtime.choices, list(config.overrides.task)


def run_cell(config, choices, words, n_cells, wait=True):
    """Do what a composed configuration asks for; a cell that cannot run is reported, and a sweep goes on.

    `choices` and `words` are those of `_typed`, and `n_cells` is 0 where this is no sweep.  With `wait=False` the cell
    is left alone where another process holds it; the result is True then.
    """
    study, results_dir, dataset, method = read_names(config)
    content, folder = resolved(config), results_dir / study / dataset["name"] / method["name"]
    place = report.begin(folder, n_cells)
    if config.get("shard") is not None and not place:
        raise SystemExit("error: shard= is a part of a sweep: add -m or experiment=NAME.")
    note = note_of(content) if place and content else None
    if line := finished(note):
        log.info("%s%s", place, line)
        return False
    if content and method.get("grid") and not (folder / "trials.csv").exists():
        with contextlib.suppress(ConfigError):  # `read_config` says what is wrong
            runner = read_runner(content["runner"])
            if not runner.plan and runner.engine == "local" and (runner.n_jobs > 1 or runner.caps):
                processes.start(runner.n_jobs)  # they import while this process does
    # Imported here, as these take seconds, and --help, Tab and a sweep with nothing left to do need none of them.
    from datasets import DataError, DataMissing
    from runners.code import CodeChanged
    from runners.experiment.cell import Cell
    from runners.store.files import StoreError

    try:
        settings = read_config(config)
        check_choices(settings, choices, words)
        if dataset["name"] in report.missing:  # another attempt to download it would take as long and fail again
            raise DataMissing(report.missing[dataset["name"]])
        if settings.runner.plan:
            report.planned(place, Cell(settings).plan(_times))
        else:
            report.begun()
            report.ended(Cell(settings).run(place, note, None if wait else _leave))
    except Held:
        report.put_aside(place)
        return True
    except DataMissing as error:
        report.left_out(dataset["name"], str(error), place, skip=config["missing_data"] == "skip")
    except (ConfigError, DataError, StoreError, CodeChanged, OSError, MemoryError) as error:
        report.failed(words_of(error), place)
    return False


class Held(Exception):
    """Another process holds a cell, and other cells can be done first."""


def _leave():
    raise Held


@functools.cache
def _times(*given):
    """Return the seconds of stored fits, which a plan reads once a method."""
    from runners.experiment.plan import Times

    return Times(*given)


@functools.cache
def _sweep_size():
    """Return the number of cells of a sweep that Hydra goes through; 0 where it is not a sweep."""
    config = HydraConfig.get()
    if config.mode != RunMode.MULTIRUN or "BasicSweeper" not in config.sweeper._target_:
        return 0
    return len(jobs_of(OmegaConf.load(Path(config.sweep.dir, "multirun.yaml")).hydra))


def go_through(config, hydra):
    """Go through a sweep from its one composition: what is finished, or only planned, needs none of its own."""
    GlobalHydra.instance().initialize(hydra)
    jobs, composer = jobs_of(config.hydra), Composer(hydra.config_loader, config)
    folder = Path(config.hydra.sweep.dir)
    folder.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(config, folder / "multirun.yaml")
    _log_to_screen(config.hydra)
    composed = [composer.job(words) for words in jobs]  # all of them first: a word that is wrong ends the sweep here
    if (shard := OmegaConf.select(config, "shard")) is not None:
        jobs, composed = _part_of(shard, jobs, composed)
        log.info("shard %s: %d cells", shard, len(jobs))
    if plan := OmegaConf.select(config, "runner.plan") is True:
        log.info("a plan of %d cells:", len(jobs))
    left, wait = list(range(len(jobs))), False
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=HydraContext(config_loader=hydra.config_loader, callbacks=OneCompose()),
        task_function=lambda part: run_cell(part, *_typed(), len(jobs), wait),
        config=config,
    )
    if OmegaConf.select(config, "runner.engine") == "dask" and not plan:
        left = _in_flight(config, composed, jobs)
    elif not plan and len(jobs) > 1:
        show_bar(len(jobs))
    while left:
        held = []
        for number in left:
            part, choices = composed[number]
            if isinstance(part, dict) and (plan or finished(note_of(part))):
                run_cell(part, choices, jobs[number], len(jobs))
                end_cell()
                continue
            (done,) = launcher.launch([jobs[number]], initial_job_idx=number)
            _log_to_screen(config.hydra)
            if done.return_value:  # it raises what ended the job
                held.append(number)
            else:
                end_cell()
        wait = held == left  # nothing else is left to do: wait for the first of them
        left = held


def _in_flight(config, composed, jobs):
    """Go through a sweep with several cells at once; return the places of those that another process holds."""
    from runners.workers.dask.cluster import cluster_of, in_flight

    with boundary():
        runner = read_runner(OmegaConf.to_container(config.runner, resolve=True))
        cluster_of(runner)  # where there is none, it is said once, and not of each cell

    def run(number):
        return run_cell(*composed[number], jobs[number], len(jobs), wait=False)

    return [number for number, held in enumerate(in_flight(run, range(len(jobs)), runner.cells)) if held]


def _part_of(shard, jobs, composed):
    """Return the jobs of one part of a sweep, and what they are composed to."""
    from runners.experiment.plan import shard_of
    from runners.store.reference import shipped_costs  # here, as it reads tables, and --help and Tab need none

    names = [read_names(part) for part, _ in composed]
    cells = [(dataset["name"], method["name"]) for _, _, dataset, method in names]
    places = shard_of(cells, shard, shipped_costs(names[0][0]))
    return [jobs[place] for place in places], [composed[place] for place in places]


def _log_to_screen(hydra):
    """Log as a job does, without the file of a job."""
    wanted = OmegaConf.to_container(hydra.job_logging)
    wanted.get("handlers", {}).pop("file", None)
    root = wanted.get("root") or {}
    root["handlers"] = [name for name in root.get("handlers", ()) if name != "file"]
    logging.config.dictConfig(wanted)


def end():
    """Print the tables of a sweep, and which cells were skipped or have a problem; return the exit status."""
    hide_bar()
    processes.remove_leftovers()  # also where nothing was left to do, as of a run that was killed at its end
    for folder, cells in report.studies().items():
        from scripts.make_table.of_sweep import print_table  # here, as it takes seconds

        print_table(folder, cells)
    return report.close()


@functools.cache
def _scratch():
    """Return a temporary folder for Hydra's own files under a plan, which leaves nothing behind."""
    return tempfile.TemporaryDirectory(prefix="plan-")


def _folder(part):
    """Return a resolver of Hydra's folders.  They are made before `main` runs: a wrong name ends the command here."""

    def resolve(*, _root_):
        try:
            study, results_dir, dataset, method = read_names(_root_)
        except ConfigError as error:
            sys.exit(f"error: {error}")
        if OmegaConf.select(_root_, "runner.plan") is True:
            results_dir = Path(_scratch().name)
        inside = Path(dataset["name"], method["name"])
        return str({"cell": results_dir / study / inside, "study": results_dir / study, "inside": inside}[part])

    return resolve


OmegaConf.register_new_resolver("root", lambda: str(home()))
OmegaConf.register_new_resolver("cell_folder", _folder("cell"))
OmegaConf.register_new_resolver("study_folder", _folder("study"))
OmegaConf.register_new_resolver("inside_study", _folder("inside"))

if __name__ == "__main__":
    logging.getLogger("hydra._internal.core_plugins.basic_launcher").setLevel(logging.WARNING)  # `main` names the cells
    sys.path.append(os.getcwd())  # where a method of one's own may lie
    try:
        sys.argv[1:] = offer(sys.argv[1:])
    except ValueError as error:
        sys.exit(f"error: {error}")
    if words := refused(sys.argv[1:]):
        sys.exit(f"error: {words}")
    try:
        with narrow_help(sys.argv[1:]):
            main()
    except Begun as sweep:
        go_through(sweep.config, sweep.hydra)
    sys.exit(end())
