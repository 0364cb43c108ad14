"""The command's side of a Dask cluster: a connection, workers in the place of `watched.Workers`, and turns.

Several cells are in flight: each is a thread of the command, and one of them has its turn at a time.  The others wait
for results.  Nothing else has to be safe for threads, and one process writes, as ever.  A job is sent as bytes that
`pickle.loads` turns into its result: a scheduler needs none of our modules.
"""

import atexit
import functools
import importlib.util
import logging
import pickle
import queue
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.progress import log
from ufs_bench.runners.store.identity import versions
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.dask.worker import STARTER, run_job
from ufs_bench.runners.workers.memory import check_cap, fit_mb
from ufs_bench.runners.workers.tasks import Task, n_stored
from ufs_bench.runners.workers.watched import WorkerDied

LOOPBACK = "127.0.0.1:0"  # of a local cluster: Dask itself would listen to the whole network, on 8787 and another port
CONNECT_S = 10  # seconds that a scheduler may take to answer
LONELY_S = 5  # seconds without a Dask worker after which it is said, as one may only be about to come
LOOK_S = 0.5  # between two looks at the cluster
LOST = "error: the Dask scheduler is gone; trials are stored: start one, and the same command goes on from there"

_turn = threading.Lock()
_here = threading.local()
_ending = threading.Event()


class Cluster:
    """A connection to a scheduler at an address; None stands for one inside this process, with threads as workers."""

    def __init__(self, address, n_jobs):
        if importlib.util.find_spec("distributed") is None:
            raise ConfigError("runner=dask needs Dask: run pip install -e '.[cluster]' in the checkout.")
        import dask
        from distributed import Client, Scheduler, SpecCluster, Worker

        for name in logging.root.manager.loggerDict:  # this module says in a line what matters of their messages
            if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        dask.config.set({"distributed.comm.timeouts.connect": CONNECT_S})
        self._address, self._local = address, None
        self._n_threads, self._looked, self._lonely_since, self._said = 0, 0.0, None, False
        if address is None:
            options = {"protocol": "inproc", "dashboard": False, "dashboard_address": LOOPBACK}
            self._local = SpecCluster(
                scheduler={"cls": Scheduler, "options": options},
                workers={0: {"cls": Worker, "options": {**options, "nthreads": n_jobs, "memory_limit": 0}}},
            )
        try:
            self.client = Client(self._local or address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"runner.address={address}: no Dask scheduler answers there. Start one with `dask scheduler`, which "
                "prints its address."
            ) from error

    def n_threads(self):
        """Return the number of tasks that the workers can run at a time, at least 1; SystemExit without a scheduler."""
        now = time.monotonic()
        if now - self._looked > LOOK_S:
            self._n_threads, self._looked = self._count(), now
            self._say(now)
        return max(self._n_threads, 1)

    def _count(self):
        if self.client.status == "running":
            with suppress(OSError, TimeoutError, AttributeError):  # the last where the connection is just being closed
                return sum(self.client.nthreads().values())
        raise SystemExit(LOST)

    def _say(self, now):
        if self._n_threads:
            if self._said:
                log.info("a Dask worker is connected again")
            self._lonely_since, self._said = None, False
            return
        self._lonely_since = self._lonely_since or now
        if not self._said and now - self._lonely_since > LONELY_S:
            self._said = True
            log.warning("no Dask worker is connected to %s: waiting for one (docs/cluster.md)", self._address)

    def close(self):
        """Give up what is under way; the workers end the fits of it within a moment."""
        signal.setitimer(signal.ITIMER_REAL, 0)  # `boundary.guard` need not tell the command again: this is its end
        for part in (self.client, self._local):
            if part is not None:
                with suppress(Exception):
                    part.close(timeout=2)


@functools.cache
def connect(address, n_jobs):
    """Return the cluster of this command."""
    cluster = Cluster(address, n_jobs)
    atexit.register(cluster.close)
    return cluster


def check(settings, trial, dataset):
    """Return the number of tasks that run at a time; a ConfigError says that the cluster or a cap cannot be meant."""
    X = dataset.X
    STARTER.submit(check_cap, settings.runner.caps, trial, X.shape, n_stored(X)).result()
    return cluster_of(settings.runner).n_threads()


def cluster_of(runner):
    """Return the cluster that a runner asks for."""
    return connect(runner.address, runner.n_jobs if runner.address is None else None)


@dataclass(frozen=True)
class Job:
    """A task, and all that a worker elsewhere needs to know to run it; unpickled, it has been run."""

    task: Task
    source: tuple  # the arguments of `runners.workers.dask.worker.data_of`
    caps: Caps
    megabytes: float  # the most that one fit takes
    packages: dict  # their versions here

    def __reduce__(self):
        return run_job, (self.task, self.source, self.caps, self.megabytes, self.packages)


class DaskWorkers:
    """The workers of a cluster in the place of `runners.workers.watched.Workers`, for one cell."""

    def __init__(self, settings, dataset):
        runner = settings.runner
        self._cluster = cluster_of(runner)
        self._size, self._caps = (dataset.X.shape, n_stored(dataset.X)), runner.caps
        self._source = dict(settings.dataset), settings.data_dir, settings.protocol, settings.method.name, dataset.sha
        self._futures, self._done = {}, queue.SimpleQueue()
        self.n_jobs = self._cluster.n_threads()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for future in self._futures:
            with suppress(Exception):
                future.release()  # the workers notice, and end what they run of it

    @property
    def n_running(self):
        """Return the number of tasks that were submitted and have not come back."""
        return len(self._futures)

    def submit(self, task):
        """Send a task to the scheduler; evaluations go ahead of fits."""
        need = max(fit_mb(trial, *self._size) for trial in task.items) if task.is_fit else 0.0
        job = pickle.dumps(Job(task, self._source, self._caps, need, versions()))
        future = self._cluster.client.submit(pickle.loads, job, pure=False, priority=0 if task.is_fit else 1)
        self._futures[future] = task
        future.add_done_callback(self._done.put)

    def wait(self, seconds):
        """Return the tasks that have ended, after `seconds` at most, as (task, results), as `Workers.wait` does."""
        deadline, ended, results = time.monotonic() + seconds, [], []
        while self._futures and not ended and time.monotonic() < deadline:
            with others_turn():
                with suppress(queue.Empty):
                    ended.append(self._done.get(timeout=LOOK_S))
                self.n_jobs = self._cluster.n_threads()
                while not self._done.empty():
                    ended.append(self._done.get())
                results = [_result(future) for future in ended]
        return [(self._futures.pop(future), result) for future, result in zip(ended, results, strict=True)]


def _result(future):
    """Return the results of a task, or WorkerDied; raise what its worker raised."""
    from distributed.scheduler import KilledWorker

    if future.status in ("cancelled", "lost"):
        raise SystemExit(LOST)
    if future.status == "finished":
        raised, content = pickle.loads(future.result())
        if raised:
            raise content
        return content
    error = future.exception()
    if isinstance(error, KilledWorker):
        return WorkerDied(begun=True, how="with its Dask worker, as it did on others before")
    if isinstance(error, ImportError):
        raise ConfigError(
            f"a Dask worker cannot import what it needs ({error}): start it in the checkout, with the packages of this "
            "one: PYTHONPATH=. dask worker ADDRESS --no-nanny."
        ) from error
    raise error


class Ending(BaseException):
    """Ends a cell, as its command is about to end."""


@contextmanager
def others_turn():
    """Let other cells go on inside this block, and end the cell after it where the command ends."""
    mine = getattr(_here, "has_turn", False)
    if mine:
        _turn.release()
    try:
        yield
    finally:
        if mine:
            _turn.acquire()
    if mine and _ending.is_set():
        raise Ending


def _with_cell(record):
    """Put the cell before a line about it, as the lines of several cells alternate."""
    if record.threadName != threading.main_thread().name and record.msg.startswith("  "):
        record.msg = f"  {record.threadName.replace('%', '%%')}: {record.msg.lstrip()}"
    return True


def in_flight(run, items, most):
    """Run a function on each item, at most so many at once, in order; an error of one ends the others at once."""

    def work(item):
        with _turn:
            _here.has_turn = True
            return run(item)

    log.addFilter(_with_cell)
    _ending.clear()
    pool = ThreadPoolExecutor(most)
    try:
        futures = [pool.submit(work, item) for item in items]
        for future in as_completed(futures):
            future.result()  # raises what a cell has raised
        return [future.result() for future in futures]
    finally:  # also after Ctrl-C, which reaches this thread alone
        _ending.set()
        pool.shutdown(cancel_futures=True)
        _ending.clear()
        log.removeFilter(_with_cell)
