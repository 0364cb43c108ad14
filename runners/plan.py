"""The plan of a command (``runner.plan=true``): what it would run, and how long that would take."""

import math
from collections import Counter
from dataclasses import dataclass

from runners.cell import Cell
from runners.elsewhere import not_elsewhere
from runners.progress import counted
from runners.times import Times, duration


@dataclass(frozen=True)
class Plan:
    """The trials that one cell lacks, and the time that they would take.

    Attributes
    ----------
    cell : str
    n_trials, n_pending : int
        All that the cell asks for, and those that are stored neither here nor in a study that has the same.
    seconds : float
        Time of one worker for fits and evaluations; nan where no fit of the method is stored.
    source : str
        The stored fits that the seconds were estimated from.
    n_workers : int
    again : str
        Which stored trials are done again, and why; "" where none is.
    """

    cell: str
    n_trials: int
    n_pending: int
    seconds: float
    source: str
    n_workers: int
    again: str = ""

    def line(self):
        """Return the plan of a cell in a sentence."""
        text = f"{self.cell}: {self.n_pending} of {counted(self.n_trials, 'fit')} to do"
        text += f", of them {self.again}" if self.again else ""
        if not self.n_pending:
            return text
        if math.isnan(self.seconds):
            return f"{text}, time unknown: no fit of the method is stored in results_dir"
        workers = counted(self.n_workers, "worker")
        return f"{text}, about {duration(self.seconds / self.n_workers)} on {workers} (from {self.source})"


def plan_cell(settings, times=Times):
    """Count what a cell lacks, and estimate its time from stored fits; writes nothing and downloads nothing.

    Parameters
    ----------
    settings : Settings
    times : callable, default=Times
        What reads the stored seconds of a method; for a sweep, one that reads them once.

    Returns
    -------
    Plan
    """
    runner, method, dataset, cell = settings.runner, settings.method, settings.dataset, Cell(settings)
    trials = cell.planned
    todo = cell.todo(cell.rows(), trials)
    pending = not_elsewhere(settings, todo.missing + todo.again)
    most = math.inf if runner.max_seconds is None else runner.max_seconds
    known = times(settings.results_dir, method.name, most)
    shape = dataset["samples"], dataset["features"]
    found = [known.of(dataset["name"], shape, trial.params) for trial in pending]
    seconds = sum(value for value, _ in found)
    sources = Counter(source for _, source in found)
    source = sources.most_common(1)[0][0] if sources else ""
    return Plan(str(cell), len(trials), len(pending), seconds, source, runner.n_jobs, todo.words())


def total_line(plans):
    """Return the plans of a sweep in a sentence.

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
