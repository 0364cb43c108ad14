"""Run methods on data sets: ``python run.py --help`` shows how."""

import os

from runners.boundary import guard, words_of

if __name__ == "__main__":  # before the slow imports, so that Ctrl-C is handled during them, too
    guard("interrupted: finished trials are stored; the same command goes on from there")
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # makes Hydra raise its errors, which become a line here
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one BLAS thread in this process and in every worker

import contextlib
import functools
import logging
import logging.config
import re
import sys
import tempfile
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from metrics.study import CAPPED, FAILED
from runners import processes
from runners.finished import finished, note_of
from runners.method import ConfigError, did_you_mean
from runners.settings import read_config, read_names, read_runner
from runners.sweep import Begun, Composer, OneCompose, jobs_of

logging.raiseExceptions = False  # a closed pipe, as to `head`, must not fill the screen with tracebacks
log = logging.getLogger(__name__)
cells, problems, capped, plans = [], [], [], []
missing, skipped = {}, {}  # data set -> why it is not available; data set -> number of cells left out


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config):
    """Run the cell that `config` describes; a cell that cannot run is reported, and a sweep goes on."""
    hydra = HydraConfig.get()
    place = _place(_sweep_size())
    run_cell(config, hydra.runtime.choices, hydra.overrides.task, place, hydra.launcher.get("_target_", ""))


def run_cell(config, choices, words, place, launcher):
    """Do what a configuration asks for.

    Parameters
    ----------
    config : DictConfig or dict
        Composed.
    choices : Mapping
        Group -> the file of conf/ that was chosen.
    words : sequence of str
        What was typed.
    place : str
        Of the cell in a sweep, such as "cell 2 of 4: ".
    launcher : str
        The class that runs the jobs of a sweep.
    """
    _, _, dataset, method = read_names(config)
    cells.append(f"{method['name']} on {dataset['name']}")
    note = _note_of(config) if place else None
    if line := finished(note):
        log.info("%s%s", place, line)
        return
    with contextlib.suppress(ConfigError):  # `read_config` says what is wrong
        start_workers(config)
    # Imported here, as these take seconds, and --help, Tab and a sweep with nothing left to do need none of them.
    from datasets import DataError, DataMissing
    from runners.cell import Cell
    from runners.code import CodeChanged
    from runners.plan import plan_cell
    from runners.store import StoreError

    try:
        settings = read_config(config)
        check_choices(settings, choices, words, launcher)
        if dataset["name"] in missing:  # another attempt to download it would take as long and fail again
            raise DataMissing(missing[dataset["name"]])
        if settings.runner.plan:
            plans.append(plan_cell(settings, _times))
            log.info("%s%s", place, plans[-1].line())
            return
        unscored = Cell(settings).run(place, note)
        if failed := [row for row in unscored if row["status"] == FAILED]:
            problems.append(f"{cells[-1]}: {len(failed)} trials failed{_first(failed)}")
        if stopped := [row for row in unscored if row["status"] in CAPPED]:
            capped.append(f"{cells[-1]}: {len(stopped)} trials ended at a cap{_first(stopped)}")
    except DataMissing as error:
        log.info("%s%s", place, cells[-1])
        note_missing(dataset["name"], str(error), skip=config["missing_data"] == "skip")
    except (ConfigError, DataError, StoreError, CodeChanged, OSError, MemoryError) as error:
        words = words_of(error)
        problems.append(f"{cells[-1]}: {words.splitlines()[0]}")
        if place:
            log.info("%s%s", place, cells[-1])
        log.error("error: %s", words)


def go_through(config, hydra):
    """Go through a sweep from one composition: what is finished, or only planned, needs none of its own.

    Parameters
    ----------
    config : DictConfig
        Of the sweep, composed.
    hydra : Hydra
    """
    GlobalHydra.instance().initialize(hydra)
    jobs, composer = jobs_of(config.hydra), Composer(hydra.config_loader, config)
    folder = Path(config.hydra.sweep.dir)
    folder.mkdir(parents=True, exist_ok=True)
    OmegaConf.save(config, folder / "multirun.yaml")
    context = HydraContext(config_loader=hydra.config_loader, callbacks=OneCompose())
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=context, task_function=main.__wrapped__, config=config
    )
    _log_to_screen(config.hydra)
    if plan := OmegaConf.select(config, "runner.plan") is True:
        log.info("a plan of %d cells:", len(jobs))
    composed = [composer.job(words) for words in jobs]  # all of them first: a word that is wrong ends the sweep here
    for number, (words, (part, choices)) in enumerate(zip(jobs, composed, strict=True)):
        if isinstance(part, dict) and (plan or finished(_note_of(part))):
            run_cell(part, choices, words, _place(len(jobs)), config.hydra.launcher._target_)
            continue
        (done,) = launcher.launch([words], initial_job_idx=number)
        _log_to_screen(config.hydra)
        done.return_value  # noqa: B018  raises what ended the job


def _log_to_screen(hydra):
    """Log as a job does, without the file of a job."""
    wanted = OmegaConf.to_container(hydra.job_logging)
    wanted.get("handlers", {}).pop("file", None)
    root = wanted.get("root") or {}
    root["handlers"] = [name for name in root.get("handlers", ()) if name != "file"]
    logging.config.dictConfig(wanted)


def start_workers(config):
    """Start workers, so that they import while this process does; only for a cell with several fits and none stored."""
    study, results_dir, dataset, method = read_names(config)
    stored = results_dir / study / dataset["name"] / method["name"] / "trials.csv"
    if method.get("grid") and not stored.exists():
        runner = read_runner(_plain(config)["runner"])
        if not runner.plan and (runner.n_jobs > 1 or runner.caps):
            processes.start(runner.n_jobs)


def _note_of(config):
    """Return the path of the note that a cell is complete; None where the configuration is wrong, as `main` reports."""
    try:
        return note_of(_plain(config))
    except (OmegaConfBaseException, TypeError, KeyError):
        return None


def _plain(config):
    return OmegaConf.to_container(config, resolve=True) if OmegaConf.is_config(config) else config


def _first(rows, most=3):
    """Return the first rows of some trials, a line each."""
    lines = [f"  {row['params']} sizes {row['sizes']}: {row['error']}" for row in rows[:most]]
    lines += [f"  and {len(rows) - most} more: python -m scripts.status lists them"] if len(rows) > most else []
    return "\n".join(["", *lines])


@functools.cache
def _times(*given):
    """Seconds of stored fits, which a plan reads once a method."""
    from runners.times import Times

    return Times(*given)


def _place(n_cells):
    """The next cell's place in a sweep, such as "cell 2 of 4: "."""
    return f"cell {len(cells) + 1} of {n_cells}: " if n_cells else ""


@functools.cache
def _sweep_size():
    """Return the number of cells of this sweep; 0 where it is not a sweep."""
    config = HydraConfig.get()
    if config.mode != RunMode.MULTIRUN or "BasicSweeper" not in config.sweeper._target_:
        return 0
    return len(jobs_of(OmegaConf.load(Path(config.sweep.dir, "multirun.yaml")).hydra))


def check_choices(settings, choices, words, launcher):
    """Refuse choices that would be stored under another name, or that would have no effect."""
    names = {"dataset": settings.dataset["name"], "method": settings.method.name, "protocol": settings.protocol.name}
    for group, name in names.items():
        choice = Path(str(choices[group])).name
        if choice != name:
            raise ConfigError(f"conf/{group}/{choice}.yaml: name is {name!r}, it must be that of the file.")
    _check_files(choices, settings.protocol)
    method = settings.method
    given = [re.match(r"\+*method\.params\.(\w+)=", override) for override in words]
    for name in [match[1] for match in given if match] if settings.runner.points == "grid" else []:
        value = method.params[name]
        if name in method.grid and value not in method.grid[name]:
            raise ConfigError(
                f"method.params.{name}={value} would not be tried: method.grid.{name}={list(method.grid[name])} is. "
                f"Set 'method.grid.{name}=[{value}]', too."
            )


def _check_files(choices, protocol):
    """Refuse names of files of conf/ that do not exist, and sizes of their own for data sets that do not."""
    options = GlobalHydra.instance().config_loader().get_group_options
    own, cell = f"{choices['dataset']}_{choices['method']}", choices.get("cell")
    if cell not in (None, "null", own) and cell not in options("cell"):
        raise ConfigError(f"cell={cell} would have no effect: there is no such file of conf/cell.")
    for name in protocol.sizes_for:
        if name not in (known := options("dataset")):
            raise ConfigError(
                f"protocol.sizes_for.{name} would have no effect: {name} is no file of conf/dataset."
                f"{did_you_mean(name, known)}"
            )


def note_missing(dataset, why, skip):
    """Say once that a data set is not available, and count the cell as skipped or as one with a problem."""
    reason = why.splitlines()[0].rstrip(":")
    if dataset not in missing:
        log.info("skipped: %s", reason) if skip else log.error("error: %s", why)
    missing[dataset] = why
    if skip:
        skipped[dataset] = skipped.get(dataset, 0) + 1
    else:
        problems.append(f"{cells[-1]}: {reason}")


def report():
    """Print which cells were skipped and which have a problem; return the exit status."""
    for dataset, count in skipped.items():
        print(f"skipped: {missing[dataset].splitlines()[0].rstrip(':')}: {count} of {len(cells)} cells")
    if len(plans) > 1:
        from runners.plan import total_line

        print(total_line(plans))
    if len(cells) > 1 and capped:
        print("\n".join(capped))
    if len(cells) > 1 and problems:
        print("\n".join([f"\n{len(problems)} of {len(cells)} cells have a problem:", *problems]), file=sys.stderr)
    if cells and sum(skipped.values()) == len(cells):
        print("nothing was run: no data set of this sweep could be had", file=sys.stderr)
        return 1
    return int(bool(problems))


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


OmegaConf.register_new_resolver("root", lambda: str(Path(__file__).resolve().parent))
OmegaConf.register_new_resolver("cell_folder", _folder("cell"))
OmegaConf.register_new_resolver("study_folder", _folder("study"))
OmegaConf.register_new_resolver("inside_study", _folder("inside"))

if __name__ == "__main__":
    logging.getLogger("hydra._internal.core_plugins.basic_launcher").setLevel(logging.WARNING)  # `main` names the cells
    try:
        main()
    except Begun as sweep:
        go_through(sweep.config, sweep.hydra)
    sys.exit(report())
