"""The job array that scripts.slurm prints: a script that bash reads, whose parts hold every cell once."""

import re
import subprocess

import pytest

from runners.errors import ConfigError
from runners.experiment.plan import shard_of
from scripts import slurm
from scripts.slurm import Need, hours_of, job, parts_for

CELLS = [(f"data{i}", "method") for i in range(12)]


def needs(hours, longest=0.0):
    return [Need(3600 * hours, 3600 * longest, 500.0) for _ in CELLS]


@pytest.fixture(scope="module")
def printed():
    return job(["experiment=smoke", "hours=1.5", "cpus=2", "dataset=digits", "method=max_variance,min_norm", "parts=2"])


def test_bash_reads_the_job_and_its_words_are_those_of_run_py(printed):
    text, _ = printed
    assert subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True).stderr == ""
    assert "#SBATCH --array=1-2\n" in text and "#SBATCH --time=1:30:00\n" in text and "--cpus-per-task=2\n" in text
    (line,) = [line for line in text.splitlines() if line.startswith("exec ")]
    assert "run.py experiment=smoke dataset=digits method=max_variance,min_norm shard=" in line
    assert 'shard="$SLURM_ARRAY_TASK_ID/2" results_dir="results_parts/smoke/$SLURM_ARRAY_TASK_ID"' in line
    assert int(re.search(r"--mem=(\d+)M", text)[1]) >= 3 * slurm.PROCESS_MB


def test_the_parts_hold_every_cell_once():
    costs = dict.fromkeys(CELLS[:8], 3600.0)
    n_parts = parts_for(CELLS, needs(1.0), 4.0, 1, costs)
    places = [place for k in range(1, n_parts + 1) for place in shard_of(CELLS, f"{k}/{n_parts}", costs)]
    assert sorted(places) == list(range(len(CELLS)))


def test_there_are_as_many_parts_as_end_within_the_hours_and_fewer_on_more_cores():
    costs = dict.fromkeys(CELLS, 3600.0)
    for cpus in (1, 2, 4):
        n_parts = parts_for(CELLS, needs(1.0), 4.0, cpus, costs)
        assert hours_of(CELLS, needs(1.0), n_parts, cpus, costs) <= slurm.FILLED * 4.0
        assert n_parts == 1 or hours_of(CELLS, needs(1.0), n_parts - 1, cpus, costs) > slurm.FILLED * 4.0
    assert parts_for(CELLS, needs(1.0), 4.0, 1, costs) > parts_for(CELLS, needs(1.0), 4.0, 4, costs)


def test_one_cell_beyond_the_hours_does_not_make_a_thousand_parts():
    """A part with it can never end in time: `experiment=fair` had 1,000 parts for it, after many minutes."""
    cells = [("digits", f"method{number}") for number in range(200)]
    short, long = Need(60.0, 60.0, 500.0), Need(20 * 3600.0, 20 * 3600.0, 500.0)
    n_parts = parts_for(cells, [long] + [short] * 199, 4.0, 1, {})
    assert n_parts == 1 and hours_of(cells, [long] + [short] * 199, 1, 1, {}) < 25
    n_parts = parts_for(cells, [long] * 9 + [short] * 191, 4.0, 1, dict.fromkeys(cells[:9], 72000.0))
    assert 9 <= n_parts <= 12


def test_a_cell_takes_as_long_as_its_longest_fit_on_however_many_cores():
    costs = dict.fromkeys(CELLS, 3600.0)
    assert hours_of(CELLS, needs(1.0, longest=0.5), len(CELLS), 64, costs) == pytest.approx(0.5)


def test_a_fit_beyond_the_hours_is_warned_of_and_unknown_seconds_are_refused_with_a_remedy(monkeypatch):
    words = ["experiment=smoke", "hours=1", "dataset=digits", "method=max_variance,min_norm"]
    monkeypatch.setattr(slurm, "need_of", lambda *_: Need(9000.0, 7200.0, 500.0))
    assert any("fit of about 2.0 h, more than hours=1" in line for line in job(words)[1])
    monkeypatch.setattr(slurm, "need_of", lambda *_: Need(float("nan"), float("nan"), 500.0))
    with pytest.raises(ConfigError, match="2 of 2 cells are unknown.*runner.points=sample, or set parts=N"):
        job(words)


def test_a_cell_that_its_method_refuses_is_warned_of_and_the_others_are_run():
    words = ["experiment=fair", "hours=1", "dataset=pie10p,digits", "parts=2"]
    text, warnings = job([*words, "method=spca_psd,max_variance"])
    assert "--array=1-2" in text
    assert sum("this cell will not be run: spca_psd on pie10p" in line for line in warnings) == 1
    with pytest.raises(ConfigError, match="no cell can be run.*spca_psd on pie10p.*1100"):
        job(["experiment=fair", "hours=1", "dataset=pie10p", "method=spca_psd", "parts=2"])


@pytest.mark.parametrize("words", [["hours=0"], ["cpus=0"], ["parts=x"], ["shard=1/2"], ["results_dir=there"]])
def test_options_that_cannot_be_meant_are_refused(words):
    with pytest.raises(ConfigError):
        slurm.read(["experiment=smoke", "hours=1", *words][-len(words) - 2 :])
    with pytest.raises(ConfigError, match="hours must be given"):
        slurm.read(["experiment=smoke"])
