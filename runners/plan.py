"""What a command would do, before anything runs: ``runner.plan=true``."""

import math
from collections import Counter
from dataclasses import dataclass

from datasets import load_dataset
from runners.cell import wanted_trials
from runners.elsewhere import not_elsewhere
from runners.progress import counted
from runners.reading import read_frame
from runners.times import Times, duration


@dataclass(frozen=True)
class Plan:
    """What one cell would take.

    Attributes
    ----------
    cell : str
    n_trials, n_pending : int
        All that it asks for, and those that are not stored, here or in a study that has the same.
    seconds : float
        Of one worker, fits and evaluations; nan where no fit of the method is stored.
    source : str
        What the seconds were taken from.
    n_workers : int
    """

    cell: str
    n_trials: int
    n_pending: int
    seconds: float
    source: str
    n_workers: int

    def line(self):
        """The plan of a cell in a sentence."""
        text = f"{self.cell}: {self.n_pending} of {counted(self.n_trials, 'fit')} to do"
        if not self.n_pending:
            return text
        if math.isnan(self.seconds):
            return f"{text}, time unknown: no fit of the method is stored in results_dir"
        workers = counted(self.n_workers, "worker")
        return f"{text}, about {duration(self.seconds / self.n_workers)} on {workers} (from {self.source})"


def plan_cell(settings):
    """Count what a cell lacks, and estimate its time from stored fits; writes nothing and downloads nothing.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Plan
    """
    runner, method = settings.runner, settings.method
    dataset = load_dataset(settings.dataset, data_dir=settings.data_dir, download=False)
    trials = wanted_trials(settings.study, dataset, method, settings.protocol, runner.points)
    stored = read_frame(settings.folder / "trials.csv")
    done = set() if runner.redo else set(stored.loc[~stored["status"].isin(runner.retry), "trial"])
    pending = not_elsewhere(settings, [trial for trial in trials if trial.key not in done])
    most = math.inf if runner.max_seconds is None else runner.max_seconds
    times = Times(settings.results_dir, method.name, most)
    found = [times.of(dataset.name, dataset.X.shape, trial.params) for trial in pending]
    seconds = sum(value for value, _ in found)
    sources = Counter(source for _, source in found)
    source = sources.most_common(1)[0][0] if sources else ""
    return Plan(f"{method.name} on {dataset.name}", len(trials), len(pending), seconds, source, runner.n_jobs)


def total_line(plans):
    """The plans of a sweep in a sentence.

    Parameters
    ----------
    plans : list of Plan

    Returns
    -------
    str
    """
    known = [plan for plan in plans if not math.isnan(plan.seconds)]
    unknown = sum(plan.n_pending for plan in plans if math.isnan(plan.seconds))
    text = f"in all {counted(sum(plan.n_pending for plan in plans), 'fit')} in {counted(len(plans), 'cell')}"
    if known:
        seconds = sum(plan.seconds / plan.n_workers for plan in known)
        text += f", about {duration(seconds)} on {counted(known[0].n_workers, 'worker')}"
    return text + (f", and {counted(unknown, 'fit')} of unknown time" if unknown else "")
