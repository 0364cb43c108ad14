"""The time that a command would take, estimated from stored fits, and never made up."""

import math

import pytest
from fits import config
from frames import frames, store

from ufs_bench.runners.cli.cells import total_line
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.plan import Times
from ufs_bench.runners.experiment.sweep import cells_of_words
from ufs_bench.runners.messages import ConfigError, duration
from ufs_bench.runners.store import reference


@pytest.fixture(autouse=True)
def nothing_shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "SHIPPED", tmp_path / "none")


def test_a_plan_counts_what_is_missing_and_writes_nothing(tmp_path):
    plan = Cell(config(tmp_path)).plan()
    assert (plan.n_trials, plan.n_pending) == (4, 4) and math.isnan(plan.seconds)
    assert "4 of 4 fits to do, time unknown: no fit of the method is stored" in plan.line()
    assert not list(tmp_path.iterdir())
    Cell(config(tmp_path, grid=(3, 4))).run()
    plan = Cell(config(tmp_path)).plan()
    assert (plan.n_trials, plan.n_pending) == (4, 2) and plan.seconds > 0
    assert "from its fits on digits" in plan.line()
    assert Cell(config(tmp_path, redo=True)).plan().n_pending == 4
    done = Cell(config(tmp_path, grid=(3, 4))).plan()
    assert done.n_pending == done.seconds == 0


def stored(tmp_path, *points):
    store(frames([{"method": "m", "acc": {50: [0.5]}, **point} for point in points], study="s"), tmp_path)
    return Times(tmp_path, "m")


def test_times_are_those_of_the_point_else_of_the_data_set_else_scaled_from_the_nearest(tmp_path):
    times = stored(
        tmp_path,
        {"dataset": "umist", "params": {"a": 1}, "fit_s": 3.5},
        {"dataset": "umist", "params": {"a": 2}, "fit_s": 7.5},
        {"dataset": "umist", "params": {"a": 3}, "fit_s": 100.0, "status": "failed"},
        {"dataset": "usps", "params": {"a": 1}, "fit_s": 9.5},
    )
    assert times.of("umist", (575, 644), {"a": 2})[0] == 8.0  # with half a second of evaluation
    assert times.of("umist", (575, 644), {"a": 9})[0] == 6.0  # no other data set has it
    seconds, source = times.of("orl", (4 * 575, 644), {"a": 1})
    assert seconds == pytest.approx(6.0 * 4**1.5) and "its fits on umist, times (n/n')^1.5" in source
    capped = Times(tmp_path, "m", 5.0)
    assert capped.of("umist", (575, 644), {"a": 2})[0] == 5.0 and capped.of("umist", (575, 644), {"a": 9})[0] == 4.5
    assert capped.of("orl", (40 * 575, 644), {"a": 1})[0] == 5.0
    assert math.isnan(Times(tmp_path, "other").of("umist", (575, 644), {})[0])


def test_the_total_says_what_is_unknown(tmp_path):
    plan = Cell(config(tmp_path)).plan()
    assert total_line([plan, plan]) == "in all 8 fits in 2 cells, and 8 fits of unknown time"
    assert [duration(value) for value in (math.nan, 40, 600, 9000)] == ["unknown", "40 s", "10 min", "2.5 h"]


def test_a_plan_refuses_what_a_run_refuses_for_values_below_0():
    (settings,) = cells_of_words("protocol=fair", "method=hvg", "dataset=truth_wide_d1_s0")
    with pytest.raises(ConfigError, match="hvg on truth_wide_d1_s0 .*Negative values in data"):
        Cell(settings).plan()
