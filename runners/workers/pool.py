"""Keep the workers busy: fits and evaluations are separate tasks, and a worker that dies fails its own task only.

A finished fit asks for the evaluation of its feature sets.  Each set is evaluated once, evaluations go ahead of fits
that have not begun, and short tasks travel in batches.  The parent process alone decides and keeps what comes back.
"""

import math
from collections import deque
from dataclasses import dataclass, field, replace

import numpy as np

from ufs_bench.metrics.study import FAILED
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import Outcome, feature_set_digest
from ufs_bench.runners.words import counted
from ufs_bench.runners.workers.caps import Stopped
from ufs_bench.runners.workers.fit import Fit, failure, score, stopped
from ufs_bench.runners.workers.tasks import Task
from ufs_bench.runners.workers.watched import WorkerDied, Workers

BATCH_S = 0.1  # seconds of work that a task should hold, so that sending it costs little
MOST_LOST = 3  # workers that may end before they begin a task; after them the task, or its imports, is to blame
TICK_S = 1.0  # seconds after which a run in which nothing ends still yields to its caller


@dataclass
class Usage:
    """The seconds that a run spent on fits and on evaluations, and the sets that it evaluated."""

    # Seconds of all workers together.
    fit_s: float = 0.0
    eval_s: float = 0.0
    n_sets: int = 0  # feature sets that the trials asked for
    n_evaluated: int = 0  # feature sets that K-means ran on

    def line(self, n_workers, seconds):
        """Return the shares of the workers' time, and how many feature sets were evaluated, as a text."""
        total = n_workers * seconds
        rest = max(total - self.fit_s - self.eval_s, 0.0)
        shares = ", ".join(
            f"{name} {part:.1f} s ({part / total:.0%})"
            for name, part in (("fits", self.fit_s), ("K-means", self.eval_s), ("waiting and overhead", rest))
        )
        return (
            f"{seconds:.1f} s on {counted(n_workers, 'worker')}: {shares}; "
            f"{self.n_evaluated} of {counted(self.n_sets, 'feature set')} evaluated, "
            f"{self.n_sets - self.n_evaluated} shared"
        )


def run_all(trials, data, n_jobs, evaluations=None, usage=None, caps=None, fits=(), workers=None):
    """Run trials of one data set and one protocol, and yield lists of their outcomes as they come.

    A list is empty now and then.  A trial whose worker dies comes back as failed, and the others go on.  Trials are not
    scored where the `Data` have no classes.  One job without caps runs in this process.  With `evaluations` None every
    trial evaluates its own sets.  `fits` has pairs (trial, fit) that are only scored.  `workers`, as `DaskWorkers` are,
    stand in the place of processes of this machine; their number may change.
    """
    queue = _Queue(trials, fits, data.y, n_jobs, evaluations, usage or Usage(), one_at_a_time=bool(caps))
    with data, workers or Workers(data, n_jobs, caps) as workers:
        while not queue.finished:
            queue.n_jobs = workers.n_jobs
            while task := queue.next_task(workers.n_running):
                workers.submit(task)
            for task, results in workers.wait(TICK_S):
                queue.take(task, results)
            yield queue.ended()


@dataclass
class _Open:
    """A trial whose fit is done and whose scores are coming in."""

    trial: object  # a `runners.experiment.trial.Trial`
    fit: Fit
    missing: dict = field(default_factory=dict)  # name of a feature set -> its size
    scores: dict = field(default_factory=dict)
    shared: list = field(default_factory=list)
    eval_s: float = 0.0


class _Queue:
    """The tasks that remain, and the feature sets that open trials wait for."""

    def __init__(self, trials, fits, y, n_jobs, evaluations, usage, one_at_a_time):
        self._one_at_a_time = one_at_a_time  # so that caps are watched for one fit at a time
        self._y, self.n_jobs, self._evaluations, self._usage = y, n_jobs, evaluations, usage
        self._unfitted = deque(trials)
        self._sets = {}  # name -> features of the sets that no task evaluates yet
        self._asking = {}  # name -> open trials that wait for the set; the first of them asked for it
        self._alone = deque()  # tasks that were under way when a worker died, to be run one at a time
        self._again = deque()  # tasks whose worker died before it had begun them
        self._ended = []
        self._in_flight = 0
        self._fit_s, self._eval_s = _Mean(), _Mean()
        for first in [*trials, *(trial for trial, _ in fits)][:1]:
            self._protocol, self._identity = first.protocol, Identity.of(first.cls)
        for trial, fit in fits:
            self._fitted(trial, fit)

    @property
    def finished(self):
        waiting = self._unfitted or self._asking or self._alone or self._again
        return not (waiting or self._in_flight or self._ended)

    def next_task(self, n_running):
        """Return the next task, or None; evaluations come first, so that a finished fit is soon on the disk."""
        if n_running == 0 and self._alone:
            task = self._alone.popleft()
        elif self._alone or n_running >= self.n_jobs + self._spare:
            return None
        elif self._again:
            task = self._again.popleft()
        elif self._sets:
            names = list(self._sets)[: self._eval_s.batch(len(self._sets), self.n_jobs)]
            task = Task(tuple((name, self._sets.pop(name)) for name in names), self._identity, self._protocol)
        elif self._unfitted:
            size = 1 if self._one_at_a_time else self._fit_s.batch(len(self._unfitted), self.n_jobs)
            task = Task(tuple(self._unfitted.popleft() for _ in range(size)), self._identity)
        else:
            return None
        self._in_flight += len(task.items)
        return task

    @property
    def _spare(self):
        """The number of tasks that may wait at a worker: one where all are short, else none, as a fit may be slow."""
        return int(self.n_jobs > 1 and not self._one_at_a_time and self._fit_s.short and self._eval_s.short)

    def take(self, task, results):
        """Note the results of a task, or that its worker died, or that a cap ended it."""
        self._in_flight -= len(task.items)
        if isinstance(results, WorkerDied):
            self._lost(task, results)
            return
        if isinstance(results, Stopped):
            self._usage.fit_s += results.fit_s
            self._ended.append(stopped(task.items[0], results))
            return
        if task.is_fit:
            for trial, (fit, seconds) in zip(task.items, results, strict=True):
                self._fit_s.add(seconds)
                self._usage.fit_s += seconds
                self._fitted(trial, fit)
            return
        found = {}
        for (name, _), (scores, seconds) in zip(task.items, results, strict=True):
            self._eval_s.add(seconds)
            self._usage.eval_s += seconds
            self._usage.n_evaluated += 1
            found[name] = scores
        if self._evaluations is not None:
            self._evaluations.add({name: scores for name, scores in found.items() if isinstance(scores, np.ndarray)})
        for (name, _), (scores, seconds) in zip(task.items, results, strict=True):
            for position, open_trial in enumerate(self._asking.pop(name)):
                self._scored(open_trial, name, scores, seconds if position == 0 else None)

    def ended(self):
        """Return the outcomes since the last call."""
        ended, self._ended = self._ended, []
        return ended

    def _lost(self, task, died):
        """Try a task again, alone, after its worker died; fail it if it was alone.  One not begun is queued again."""
        if not died.begun and task.lost < MOST_LOST:
            (self._alone if task.alone else self._again).append(replace(task, lost=task.lost + 1))
        elif task.alone:
            self._died(task, died)
        else:
            self._alone.extend(replace(task, items=(item,), alone=True) for item in task.items)

    def _fitted(self, trial, fit):
        if self._y is None or fit.row["status"] == FAILED:
            self._ended.append(Outcome(fit.row, log=fit.log))
            return
        open_trial = _Open(trial, fit)
        for size, features in fit.subsets.items():
            self._usage.n_sets += 1
            digest = feature_set_digest(features)
            known = self._evaluations.find(digest) if self._evaluations is not None else None
            if known is not None:
                open_trial.scores[size] = known
                open_trial.shared.append(size)
                continue
            name = digest if self._evaluations is not None else f"{trial.key} {size}"
            open_trial.missing[name] = size
            if name not in self._asking:
                self._sets[name] = features
            self._asking.setdefault(name, []).append(open_trial)
        self._finish(open_trial)

    def _scored(self, open_trial, name, scores, seconds):
        """Give an open trial the scores of one of its sets; `seconds` is None where another trial asked for them."""
        size = open_trial.missing.pop(name)
        open_trial.scores[size] = scores
        if seconds is None:
            open_trial.shared.append(size)
        open_trial.eval_s += seconds or 0.0
        self._finish(open_trial)

    def _finish(self, open_trial):
        if open_trial.missing:
            return
        errors = [scores for scores in open_trial.scores.values() if isinstance(scores, Exception)]
        if errors:
            self._ended.append(failure(open_trial.trial, errors[0], open_trial.fit.row))
            return
        done = open_trial
        self._ended.append(score(done.trial, done.fit, self._y, done.scores, done.eval_s, done.shared))

    def _died(self, task, died):
        when = "while it ran" if died.begun else "before it began"
        error = RuntimeError(f"the worker process died {when} this trial, {died.how or 'unseen'}")
        (item,) = task.items
        if task.is_fit:
            self._ended.append(failure(item, error))
            return
        for open_trial in self._asking.pop(item[0]):
            self._scored(open_trial, item[0], error, None)


class _Mean:
    """The mean seconds of the tasks done so far, and how many of the next to send at once."""

    def __init__(self):
        self._total, self._count = 0.0, 0

    @property
    def short(self):
        return self._count > 0 and self._total < BATCH_S * self._count

    def add(self, seconds):
        self._total += seconds
        self._count += 1

    def batch(self, n_waiting, n_jobs):
        if not self._count:
            return 1
        mean = max(self._total / self._count, 1e-6)
        return max(1, min(int(BATCH_S / mean), math.ceil(n_waiting / n_jobs)))
