"""A run that is ended at any moment loses nothing: gone on with, it has the rows of one that nothing disturbed."""

import os
import resource
import signal
import time

import numpy as np
import pytest
from fits import config

from ufs_bench.runners.cli import boundary
from ufs_bench.runners.experiment.cell import Cell

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGTERM, signal.SIGINT, signal.SIGINT]
FAULTS = [*SIGNALS, "full disk", "four at once"]  # nine, of which each has a moment of its own


def start(folder, largest_file=None):
    """Run the cell in a copy of this process, and return its number; no file of it grows beyond so many bytes."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
        boundary.guard()
        Cell(config(folder)).run()
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        status = 1
    finally:
        os._exit(status)


def lines(folder):
    return sorted((folder / "s/digits/laplacian_score/scores.csv").read_bytes().splitlines())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    Cell(config(folder)).run()  # the first run imports and compiles
    again = tmp_path_factory.mktemp("again")
    started = time.monotonic()
    os.waitpid(start(again), 0)
    assert lines(again) == lines(folder)
    return lines(folder), time.monotonic() - started


@pytest.mark.parametrize(  # a fault of each kind; the others are the same at another moment
    "number", [pytest.param(n, marks=pytest.mark.slow if FAULTS[n] in FAULTS[:n] else ()) for n in range(len(FAULTS))]
)
def test_a_run_disturbed_at_any_moment_goes_on_to_the_same_rows(undisturbed, tmp_path, number):
    expected, seconds = undisturbed
    fault, rng = FAULTS[number], np.random.default_rng(number)
    if fault == "full disk":
        os.waitpid(start(tmp_path, int(rng.integers(100, 3000))), 0)
    elif fault == "four at once":
        for pid in [start(tmp_path) for _ in range(4)]:
            assert os.waitpid(pid, 0)[1] == 0
    else:
        pid = start(tmp_path)
        time.sleep(rng.uniform(0, seconds))
        os.kill(pid, fault)
        os.waitpid(pid, 0)
    Cell(config(tmp_path)).run()
    assert lines(tmp_path) == expected
    assert not list(tmp_path.rglob("*.tmp"))
