"""A sweep in parts for several machines, and two processes on one sweep."""

import time

import forked
import pytest
from frames import load_all
from small_data import TRUTH

from ufs_bench.runners.cli.cells import part_of
from ufs_bench.runners.messages import ConfigError
from ufs_bench.runners.store.fits import Store
from ufs_bench.scripts.core.conf import ROOT

CELLS = list(range(35))
SWEEP = ["-m", "method=max_variance,min_norm", f"dataset={TRUTH}", "protocol=smoke", "study=s", "runner.n_jobs=1"]


@pytest.mark.parametrize("n_parts", [1, 2, 3, 50])
def test_the_parts_of_a_sweep_hold_every_cell_once_in_order(n_parts):
    parts = [part_of(f"{part}/{n_parts}", CELLS) for part in range(1, n_parts + 1)]
    assert sorted(cell for part in parts for cell in part) == CELLS
    assert all(part == sorted(part) for part in parts)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", 2, "1/0", ""])
def test_a_shard_that_is_none_is_refused(shard):
    with pytest.raises(ConfigError, match="must be K/N with 1 <= K <= N"):
        part_of(shard, CELLS)


def test_a_part_of_a_sweep_runs_its_own_cells_and_counts_them(tmp_path):
    for part in (1, 2):
        words = ["run.py", *SWEEP, f"shard={part}/2", f"results_dir={tmp_path}"]
        assert f"shard {part}/2: " in forked.printed(words, ROOT)
    assert sorted(load_all(tmp_path).trials["method"]) == ["max_variance", "min_norm"]


def test_a_shard_of_a_single_cell_is_refused(tmp_path):
    done = forked.run(["run.py", "method=mcfs", f"dataset={TRUTH}", "shard=1/2", f"results_dir={tmp_path}"], ROOT)
    assert done.returncode == 1 and "shard= is a part of a sweep" in done.stderr


def test_a_cell_that_another_process_holds_is_put_aside_and_taken_at_the_end(tmp_path):
    with Store(tmp_path / "s" / TRUTH / "max_variance"):
        started = forked.start(["run.py", *SWEEP, f"results_dir={tmp_path}"], ROOT, tmp_path)
        while "waiting for it to end" not in started.said and started.returncode is None:
            time.sleep(0.05)
    status, output = started.wait()
    assert status == 0, output
    first, later = map(output.index, (f"max_variance on {TRUTH}: another run holds it", f"min_norm on {TRUTH} ("))
    assert first < later < output.index("waiting for it to end")
    assert sorted(load_all(tmp_path).trials["method"]) == ["max_variance", "min_norm"]
