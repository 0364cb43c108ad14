"""The state of the cells of a study, from their committed rows: ``python -m scripts.status --help``."""

import functools
import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from ufs_bench.datasets import DataError
from ufs_bench.datasets.load import at_hand
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.metrics.study.frames import fits_of
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.notes import read_run
from ufs_bench.runners.experiment.plan import Times
from ufs_bench.runners.experiment.settings import read_config
from ufs_bench.runners.experiment.sweep import cells_of_sweep, cells_of_words
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import read_frame
from ufs_bench.runners.store.row import to_json
from ufs_bench.scripts.core.published import PAPERS

ABSENT = "its data set is not on this machine"
OF_SHIPPED = (*reference.OF_FITS, "n_selected", "clusterer", "error")


@dataclass(frozen=True)
class State:
    """The state of a cell."""

    study: str
    dataset: str
    method: str
    n_trials: int  # all that its last run was asked for, or will be, where no run has begun
    stored: int = 0
    running: int = 0  # workers of the current run, at most as many as there are trials left
    ends: dict = field(default_factory=dict)  # status of `UNSCORED` -> number of trials
    seconds: float = 0.0  # time of one worker for the stored trials
    # Seconds until the end, on the workers of the run; nan where no fit of the method is stored. Trials of another
    # study (`runners.store.elsewhere`) take none.
    left: float = 0.0
    failed: list = field(default_factory=list)  # rows of trials.csv
    # Why it has not begun and will not run, `ABSENT` or the error of its configuration; it has no trials then
    refused: str = ""

    @property
    def done(self):
        """The number of trials with scores."""
        return self.stored - sum(self.ends.values())

    @property
    def pending(self):
        """The number of trials that no worker has begun."""
        return self.n_trials - self.stored - self.running


def states(results_dir, study=None, experiment=None):
    """Return the state of every cell of all studies; of one and its last sweep; or of a file of conf/experiment.

    A study of a user who has none of its cells is the shipped one.
    """
    cells = {}
    if experiment is not None:
        found = cells_of_words(f"experiment={experiment}", f"results_dir={results_dir}")
        cells = {settings.folder: settings for settings in found}
    else:
        if study in reference.shipped_studies() and not any(Path(results_dir, study).glob("*/*/trials.csv")):
            return _shipped(study, results_dir)
        for folder in sorted(Path(results_dir).glob("*") if study is None else [Path(results_dir, study)]):
            path = folder / "multirun.yaml"
            if path.exists():
                cells |= _sweep_of(path, path.stat().st_mtime_ns)
            for path in sorted(folder.glob("*/*/trials.csv")):
                cells.setdefault(path.parent, None)
    times = functools.cache(functools.partial(Times, results_dir))  # a method has fits on several data sets
    here = functools.cache(at_hand)
    return [_state(folder, settings, times, here) for folder, settings in cells.items()]


def _shipped(name, results_dir):
    """Return the state of every cell of a shipped study, and of a paper's also of cells that were never begun."""
    lacking, found = reference.lacking(name), []
    times, here = functools.cache(functools.partial(Times, results_dir)), functools.cache(at_hand)
    asked = cells_of_words(f"experiment={name}") if name in PAPERS else []
    asked = {(settings.dataset["name"], settings.method.name): settings for settings in asked}
    fits = fits_of(reference.read(name, columns=OF_SHIPPED).sort_values(["params", "n_selected"], kind="stable"))
    fits["sizes"] = fits["sizes"].map(to_json)  # as they stand in trials.csv
    for cell, rows in fits.groupby(["dataset", "method"]):
        state, settings, n_left = _stored(name, *cell, rows), asked.pop(cell, None), lacking.get(cell, 0)
        left = _left(rows, n_left, settings, times) / (settings.runner.n_jobs if settings else 1)
        found.append(replace(state, n_trials=state.stored + n_left, left=left))
    return found + [replace(_not_begun(settings, times, here), study=name) for settings in asked.values()]


@functools.cache  # composing takes some tenths of a second a cell, and is repeated only for another sweep
def _sweep_of(path, _modified):
    """Return the cells of a study's last sweep; where the sweep had several studies, only those of this one."""
    return {
        path.parent.joinpath(*settings.folder.parts[-2:]): settings
        for settings in cells_of_sweep(path)
        if settings.study == path.parent.name
    }


def _state(folder, settings, times, here):
    study, dataset, method = folder.parts[-3:]
    trials = read_frame(folder / "trials.csv")
    keys, n_workers = read_run(folder)
    if keys is None and trials.empty and settings is not None:
        return _not_begun(settings, times, here)
    if keys is not None:
        trials = trials[trials["trial"].isin(keys)]
    n_trials = len(keys) if keys is not None else max(len(trials), len(_cell_of(settings).asked) if settings else 0)
    rest = n_trials - len(trials)
    if rest and settings is None:
        settings = _of_last_run(folder)
    return replace(
        _stored(study, dataset, method, trials),
        n_trials=n_trials,
        running=min(n_workers, rest),
        left=_left(trials, rest, settings, times) / (n_workers or (settings.runner.n_jobs if settings else 1)),
    )


def _of_last_run(folder):
    """Return the settings of a cell that was run by itself, which Hydra leaves beside it; None where it has not."""
    try:
        return read_config(OmegaConf.load(folder / ".hydra" / "config.yaml"))
    except (OSError, ConfigError, OmegaConfBaseException, YAMLError):
        return None


def _left(trials, rest, settings, times):
    """Return the seconds of one worker for the `rest` of a cell of which some trials are stored."""
    if not rest:
        return 0.0
    # By the points that are lacking: the cheap ones end first, so that the mean of what is stored says too little.
    run, each = set(trials["params"]), []
    if settings is not None:
        with suppress(ConfigError, DataError):
            lacking = [trial for trial in _cell_of(settings).asked if to_json(trial.params) not in run]
            each = [seconds for seconds in _seconds(settings, times, lacking) if not math.isnan(seconds)]
    return float(rest * (np.mean(each) if each else _spent(trials).mean()))


def _stored(study, dataset, method, trials):
    """Return the state of a cell of which no more is asked for than its stored trials."""
    unscored = trials[trials["status"].isin(UNSCORED)]
    return State(
        study, dataset, method, len(trials),
        stored=len(trials),
        ends=unscored["status"].value_counts().to_dict(),
        seconds=float(_spent(trials).sum()),
        failed=unscored.to_dict("records"),
    )  # fmt: skip


def _spent(trials):
    return trials["fit_s"].fillna(0.0) + trials["eval_s"].fillna(0.0)


def _not_begun(settings, times, here):
    if settings.missing_data == "skip" and not here(settings.dataset["name"], settings.data_dir):
        return State(settings.study, settings.dataset["name"], settings.method.name, 0, refused=ABSENT)
    cell = _cell_of(settings)
    try:
        trials = cell.asked
    except ConfigError as error:
        return State(settings.study, settings.dataset["name"], settings.method.name, 0, refused=str(error))
    left = sum(_seconds(settings, times, cell.not_elsewhere(trials))) / settings.runner.n_jobs
    return State(settings.study, settings.dataset["name"], settings.method.name, len(trials), left=left)


def _cell_of(settings):
    """Return a cell that has not ended; what it needs takes long to import, and stored cells have no need of it."""
    from ufs_bench.runners.experiment.cell import Cell

    return Cell(settings)


def _seconds(settings, times, trials):
    """Return the seconds of each of these trials by the stored fits of the method; nan where there are none."""
    return [seconds for seconds, _ in times(settings.method.name).each(settings.dataset, trials)]
