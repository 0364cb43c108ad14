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
import shlex
import shutil
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
from runners.method import ConfigError, did_you_mean
from runners.own import offer_methods, offer_own
from runners.provenance import finished, note_of
from runners.settings import read_config, read_names, read_runner
from runners.sweep import Begun, Composer, OneCompose, jobs_of, may_name_truth, offer_truth

logging.raiseExceptions = False  # a closed pipe, as to `head`, must not fill the screen with tracebacks
log = logging.getLogger(__name__)
cells, problems, capped, plans = [], [], [], []
aside = []  # words of the cells of a sweep that other processes held when their turn came
part_sizes = []  # number of cells of the shard that this command runs
patient = [True]  # whether a cell that another process holds is waited for
swept, ran = {}, set()  # (results_dir, study) -> its cells as (data set, method); those studies in which one was run
missing, skipped = {}, {}  # data set -> why it is not available; data set -> number of cells left out


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config):
    """Run the cell that `config` describes; a cell that cannot run is reported, and a sweep goes on."""
    hydra = HydraConfig.get()
    place = _place(_sweep_size())
    run_cell(config, hydra.runtime.choices, hydra.overrides.task, place, hydra.launcher.get("_target_", ""))


def run_cell(config, choices, words, place, launcher):
    """Do what a composed configuration asks for.

    `choices` has the file of conf/ that was chosen for each group, `words` what was typed, `place` that of the cell in
    a sweep, such as "cell 2 of 4: ", and `launcher` the class that runs the jobs of a sweep.
    """
    study, results_dir, dataset, method = read_names(config)
    cells.append(f"{method['name']} on {dataset['name']}")
    if config.get("shard") is not None and not place:
        raise SystemExit("error: shard= is a part of a sweep: add -m or experiment=NAME.")
    swept.setdefault((results_dir, study), []).append((dataset["name"], method["name"]))
    note = _note_of(config) if place else None
    if line := finished(note):
        log.info("%s%s", place, line)
        return
    if method.get("grid") and not (results_dir / study / dataset["name"] / method["name"] / "trials.csv").exists():
        with contextlib.suppress(ConfigError):  # `read_config` says what is wrong
            start_workers(read_runner(_plain(config)["runner"]))
    # Imported here, as these take seconds, and --help, Tab and a sweep with nothing left to do need none of them.
    from datasets import DataError, DataMissing
    from runners.cell import Cell
    from runners.code import CodeChanged
    from runners.files import StoreError

    try:
        settings = read_config(config)
        check_choices(settings, choices, words, launcher)
        if dataset["name"] in missing:  # another attempt to download it would take as long and fail again
            raise DataMissing(missing[dataset["name"]])
        if settings.runner.plan:
            plans.append(Cell(settings).plan(_times))
            log.info("%s%s", place, plans[-1].line())
            return
        ran.add((results_dir, study))
        unscored = Cell(settings).run(place, note, None if patient[-1] else _put_aside)
        if failed := [row for row in unscored if row["status"] == FAILED]:
            problems.append(f"{cells[-1]}: {len(failed)} trials failed{_first(failed)}")
        if stopped := [row for row in unscored if row["status"] in CAPPED]:
            capped.append(f"{cells[-1]}: {len(stopped)} trials ended at a cap{_first(stopped)}")
    except Held:
        log.info("%s%s: another run holds it; it is looked at again at the end", place, cells.pop())
        aside.append(list(words))
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
    """Go through a sweep from its one composition: what is finished, or only planned, needs none of its own."""
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
    composed = [composer.job(words) for words in jobs]  # all of them first: a word that is wrong ends the sweep here
    if (shard := OmegaConf.select(config, "shard")) is not None:
        jobs, composed = _part_of(shard, jobs, composed)
        part_sizes.append(len(jobs))
        log.info("shard %s: %d cells", shard, len(jobs))
    if plan := OmegaConf.select(config, "runner.plan") is True:
        log.info("a plan of %d cells:", len(jobs))
    left = list(range(len(jobs)))
    patient[-1] = False
    while left:
        aside.clear()
        for number in left:
            part, choices = composed[number]
            if isinstance(part, dict) and (plan or finished(_note_of(part))):
                run_cell(part, choices, jobs[number], _place(len(jobs)), config.hydra.launcher._target_)
                continue
            (done,) = launcher.launch([jobs[number]], initial_job_idx=number)
            _log_to_screen(config.hydra)
            done.return_value  # noqa: B018  raises what ended the job
        held = [number for number in left if jobs[number] in aside]
        patient[-1] = held == left  # nothing else is left to do: wait for the first of them
        left = held


def _part_of(shard, jobs, composed):
    """Return the jobs of one part of a sweep, and what they are composed to."""
    from runners.plan import shard_of
    from runners.reference import shipped_costs  # here, as it reads tables, and --help and Tab need none

    names = [read_names(part) for part, _ in composed]
    cells = [(dataset["name"], method["name"]) for _, _, dataset, method in names]
    places = shard_of(cells, shard, shipped_costs(names[0][0]))
    return [jobs[place] for place in places], [composed[place] for place in places]


class Held(Exception):
    """Another process holds a cell, and other cells can be done first."""


def _put_aside():
    raise Held


def _log_to_screen(hydra):
    """Log as a job does, without the file of a job."""
    wanted = OmegaConf.to_container(hydra.job_logging)
    wanted.get("handlers", {}).pop("file", None)
    root = wanted.get("root") or {}
    root["handlers"] = [name for name in root.get("handlers", ()) if name != "file"]
    logging.config.dictConfig(wanted)


def start_workers(runner):
    """Start workers, so that they import while this process does."""
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
    from runners.plan import Times

    return Times(*given)


def _place(n_cells):
    """The next cell's place in a sweep, such as "cell 2 of 4: "."""
    return f"cell {len(cells) + 1} of {n_cells}: " if n_cells else ""


@functools.cache
def _sweep_size():
    """Return the number of cells of this sweep; 0 where it is not a sweep."""
    if part_sizes:
        return part_sizes[-1]
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
    own, cell = f"{choices['dataset']}_{choices['method']}", choices.get("cell")
    if cell not in (None, "null", own) and cell not in _options("cell"):
        raise ConfigError(f"cell={cell} would have no effect: there is no such file of conf/cell.")
    for field, group in (("sizes_for", "dataset"), ("scaling_for", "method")):
        if mapping := getattr(protocol, field):
            _check_names(f"protocol.{field}", mapping, group, _options(group))


@functools.cache  # Hydra copies all that it knows for each answer
def _options(group):
    """Return the names of the files of a group."""
    return GlobalHydra.instance().config_loader().get_group_options(group)


def _check_names(where, mapping, group, known):
    for name in mapping:
        if name not in known:
            raise ConfigError(
                f"{where}.{name} would have no effect: {name} is no file of conf/{group}.{did_you_mean(name, known)}"
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


def print_table(results_dir, study, pairs):
    """Print the scores of the cells of a sweep, as far as they are stored."""
    # They take seconds to import.
    from runners.files import StoreError
    from scripts.core.study import Study
    from scripts.make_table import study_table
    from scripts.make_table.formats import to_markdown

    try:
        datasets, methods = (set(names) for names in zip(*pairs, strict=True))
        part = Study.open(results_dir, study).part(methods, datasets)
        if part.trials.empty:  # a line for each cell says why
            return
        stored = {group: set(part.trials[group]) for group in ("dataset", "method")}
        columns = [name for name in dict.fromkeys(name for name, _ in pairs) if name in stored["dataset"]]
        rows = [name for name in dict.fromkeys(name for _, name in pairs) if name in stored["method"]]
        table = study_table(part, rows=rows, columns=columns)
    except (ValueError, StoreError, OSError) as error:
        print(f"no table: {words_of(error)}")
        return
    words = ["python", "-m", "scripts.make_table", f"study={study}"]
    words += [] if results_dir == Path(__file__).resolve().parent / "results" else [f"results_dir={results_dir}"]
    print(f"\n{to_markdown(table, min(120, shutil.get_terminal_size((120, 24)).columns), notes='short')}")
    print(f"With all notes, as csv, latex or html: {shlex.join(words)}")


def report():
    """Print the table of a sweep, which cells were skipped and which have a problem; return the exit status."""
    if len(cells) > 1:
        for place in [place for place in swept if place in ran]:
            print_table(*place, swept[place])
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
    sys.path.append(os.getcwd())  # where a method of one's own may lie
    try:
        sys.argv[1:] = offer_methods(offer_own(sys.argv[1:]))
    except ValueError as error:
        sys.exit(f"error: {error}")
    if may_name_truth(sys.argv[1:]):
        offer_truth()
    try:
        main()
    except Begun as sweep:
        go_through(sweep.config, sweep.hydra)
    sys.exit(report())
