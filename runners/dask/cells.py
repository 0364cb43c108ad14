"""Keeps several cells in flight: each is a thread of the command, and one of them has its turn at a time.

The others wait for results.  So nothing else has to be safe for threads, and one process writes, as ever.
"""

import queue
import threading
from contextlib import contextmanager

from runners.progress import log

_turn = threading.Lock()
_here = threading.local()
_ending = threading.Event()


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
    """Run a function on each item, at most so many at once, and return the results in order.

    What one of them raises ends the others within a moment, and is raised here.
    """
    left, results, ended = queue.SimpleQueue(), {}, queue.SimpleQueue()
    for place, item in enumerate(items):
        left.put((place, item))

    def work():
        error = None
        try:
            while not _ending.is_set():
                place, item = left.get_nowait()
                with _turn:
                    _here.has_turn = True
                    results[place] = run(item)
        except queue.Empty:
            pass
        except BaseException as caught:
            error = caught
        ended.put(error)

    log.addFilter(_with_cell)
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(most, len(items)))]
    _ending.clear()
    try:
        for thread in threads:
            thread.start()
        for _ in threads:
            if (error := ended.get()) is not None:
                raise error
    finally:  # also after Ctrl-C, which reaches this thread alone
        _ending.set()
        for thread in threads:
            thread.join()
        _ending.clear()
        log.removeFilter(_with_cell)
    return [results[place] for place in range(len(items))]
