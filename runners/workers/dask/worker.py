"""The side of a Dask worker: it loads the data itself, and drives one watched process with each of its threads.

Data that a scheduler had sent would die with their worker.  Caps and deaths are seen to by `workers.watched`, as on one
machine.
"""

import atexit
import math
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import current_process
from multiprocessing.connection import wait
from pathlib import Path

from ufs_bench.datasets import DataError, load_dataset
from ufs_bench.metrics.kmeans import load_engine
from ufs_bench.runners.code import CodeChanged
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.store.identity import changes, versions
from ufs_bench.runners.workers.caps import MB_PER_GB
from ufs_bench.runners.workers.family import free_mb
from ufs_bench.runners.workers.memory import LEFT_FREE, PROCESS_MB, gb
from ufs_bench.runners.workers.tasks import Data
from ufs_bench.runners.workers.watched import WATCH_S, Worker

KEPT = 4  # copies of scaled data that stay for later tasks
LOOK_S = 0.5  # between two looks at the memory
ENDED = ("closing", "closing_gracefully", "closed", "failed")  # states of a worker that lost its scheduler, or ends

STARTER = ThreadPoolExecutor(1)  # starts all processes, as the system ends a process with the thread that started it
_memory = threading.Condition()
_admitted, _before = {}, {}  # thread -> MB of the task that it runs; the MB that were free before the first of them
_loading = threading.RLock()
_copies, _users = {}, {}  # scaled data, and the number of tasks that use them, by where they are from


def run_job(task, source, caps, megabytes, packages):
    """Run a task in a process of this Dask worker; return, as bytes, True and an error or False and the results."""
    try:
        found = False, _run(task, source, caps, megabytes, packages)
    except Exception as error:
        found = True, error
    return pickle.dumps(found)


def _run(task, source, caps, megabytes, packages):
    from distributed import get_worker

    here = get_worker()
    key = here.get_current_task()
    if current_process().daemon:
        raise ConfigError(
            f"the Dask worker {here.address} is a daemon, which may start no process: start it with --no-nanny, or "
            "with DASK_DISTRIBUTED__WORKER__DAEMON=False."
        )
    if words := changes(versions(), packages):
        raise CodeChanged(
            f"the Dask worker {here.address} is not as this command: {words}. Give both the same packages and the same "
            "arithmetic (docs/cluster.md)."
        )

    def abandoned():  # Dask cannot end a thread: who asked for the task may be gone
        state = here.state.tasks.get(key)
        return state is None or state.state == "cancelled" or here.status.name in ENDED

    try:
        with data_of(*source, here.address) as folder, room(task, caps, megabytes, here, abandoned) as admitted:
            return _drive(task, folder, caps, abandoned, here.state.nthreads) if admitted else None
    except CodeChanged as error:
        raise CodeChanged(
            f"the Dask worker {here.address} runs other code than this command: give both the same checkout, start the "
            "worker again, and run the same command again. Nothing of other code was stored."
        ) from error


def _drive(task, folder, caps, abandoned, n_threads):
    """Return the results of a task from a watched process, or its WorkerDied or Stopped."""
    worker = STARTER.submit(Worker, caps).result()
    try:
        worker.submit(task, folder)
        while not worker.dead:
            if ended := worker.look(wait(worker.watched, WATCH_S)):
                return ended[0][1]
            if abandoned():
                worker.kill()
                return None
        return worker.lost()[0][1]
    finally:
        STARTER.submit(worker.leave, n_threads).result()


@contextmanager
def data_of(spec, data_dir, protocol, method, sha, address):
    """Open the data of a specification, scaled for a method; a DataError says that they are not here, or others."""
    name = repr((spec, data_dir, protocol, method, sha))
    with _loading:
        if name not in _copies:
            folders = data_dir.split(os.pathsep) if data_dir else []
            # A folder that is not on this machine gives way to the worker's own UFS_DATA_DIR.
            dataset = load_dataset(spec, data_dir if any(Path(folder).is_dir() for folder in folders) else None)
            if dataset.sha != sha:
                raise DataError(f"{spec['name']} on the Dask worker {address} has other values: give it the same file.")
            load_engine()  # so that its processes find it compiled
            _copies[name], _users[name] = Data.scaled(dataset, protocol, method), 0
        data = _copies[name]
        folder = data.source
        _users[name] += 1
    try:
        yield folder
    finally:
        with _loading:
            _users[name] -= 1
            free = [name for name, count in _users.items() if not count]
            for old in free[: max(len(_copies) - KEPT, 0)]:
                _forget(old)


@atexit.register
def close():
    """Remove the copies of data."""
    for name in list(_copies):
        _forget(name)


def _forget(name):
    del _users[name]
    _copies.pop(name).__exit__()


@contextmanager
def room(task, caps, megabytes, here, abandoned):
    """Wait until a fit goes into the memory of this worker beside those that run; False where it is given up first."""
    most = math.inf if caps.max_memory is None else MB_PER_GB * caps.max_memory
    need = min(megabytes, most)
    with _memory:
        while waits := not abandoned():
            taken, limit = sum(_admitted.values()), here.memory_manager.memory_limit
            free = math.inf if math.isnan(free_mb()) else LEFT_FREE * free_mb()
            if not _admitted:
                _before["free"] = free
            # Fits that run may not have taken all their memory yet, and other programs may have taken more since.
            room = min(free, _before["free"] - taken, limit / 2**20 - taken if limit else math.inf)
            if need <= room:
                break
            if not _admitted:
                raise ConfigError(
                    f"one fit of {task.items[0].method} on {task.items[0].dataset} needs about {gb(need)}, and the "
                    f"Dask worker {here.address} may use {gb(room)}: give it more, take another method or fewer "
                    "samples, or set runner.max_memory to try all the same."
                )
            _memory.wait(LOOK_S)
        if waits:  # and goes in now
            _admitted[threading.get_ident()] = need + PROCESS_MB
    try:
        yield waits
    finally:
        with _memory:
            _admitted.pop(threading.get_ident(), None)
            _memory.notify_all()
