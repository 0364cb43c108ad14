"""Caps of a fit: it ends, is stored with its status, and no other fit is disturbed."""

import os
import resource
import time

import pytest
from fits import DATA, config, method_of, outcomes_of, rows_of, trials_of
from frames import load_all

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.workers import caps as caps_module
from ufs_bench.runners.workers.caps import CapReached, Caps, capped
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.runners.workers.machine import own_cpu_seconds

pytestmark = pytest.mark.usefixtures("new_workers")


@pytest.mark.parametrize(
    "n_jobs, what, caps, status, words",
    [
        (2, "count_on", Caps(max_seconds=0.3), "timeout", "beyond runner.max_seconds=0.3: ended after "),
        pytest.param(
            1, "spin", Caps(max_seconds=2), "timeout",
            "beyond runner.max_seconds=2: its worker was ended, as compiled code did not end",
            marks=pytest.mark.slow,
        ),
        (2, "allocate", Caps(max_memory=0.75), "out_of_memory", "beyond runner.max_memory=0.75 GB: ended after "),
    ],
)  # fmt: skip
def test_a_fit_beyond_its_cap_is_ended_and_the_others_give_the_same_scores(n_jobs, what, caps, status, words):
    trials = trials_of(what=what)
    found = {outcome.trial["trial"]: outcome for outcome in outcomes_of(trials, n_jobs, caps=caps)}
    assert [found[trial.key].trial["status"] for trial in trials] == ["converged", status, "converged", "converged"]
    ended = found[trials[1].key].trial
    assert ended["error"].startswith(words) and 0 < ended["fit_s"] < 40
    if status == "timeout":
        assert ended["fit_s"] >= 0.9 * caps.max_seconds  # the system looks at its clock a hundred times a second
    for trial in trials[::2]:
        assert found[trial.key].trial["sets"] == run_trial(trial, DATA.X, DATA.y).trial["sets"]


def test_a_fit_that_only_waits_ends_at_a_limit_by_the_clock(monkeypatch):
    monkeypatch.setattr(caps_module, "HANG_S", 0.5)
    words = r"it hangs, beyond 10 times runner.max_seconds=0.01 and 0.5 s: ended after"
    with pytest.raises(CapReached, match=words), capped(Caps(max_seconds=0.01, ends_process=True)):
        time.sleep(100)


def test_a_fit_within_its_caps_leaves_no_limit_behind():
    names = resource.RLIMIT_AS, resource.RLIMIT_CPU
    before = [resource.getrlimit(name) for name in names]
    with capped(Caps(max_seconds=0.2, max_memory=1, ends_process=True)):
        assert [resource.getrlimit(name) for name in names] != before
    assert [resource.getrlimit(name) for name in names] == before
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass


def test_a_fit_of_a_worker_that_holds_more_than_the_cap_goes_on():
    """The memory of a fit counts, and not that of the interpreter and of packages."""
    assert [row["status"] for row in rows_of(trials_of(), 1, caps=Caps(max_memory=0.1))] == ["converged"] * 4


def test_a_capped_trial_is_done_until_it_is_named_in_retry(tmp_path):
    def run(**runner):
        method = method_of(grid={"gain": [1.0, 2.0]}, what="count")
        return [row["status"] for row in Cell(config(tmp_path, method=method, **runner)).run()]

    assert run(max_seconds=0.3) == ["timeout"]
    assert load_all(tmp_path).trials["status"].tolist() == ["converged", "timeout"]
    stored = load_all(tmp_path).trials.set_index("status").loc["timeout"]
    assert stored["fit_s"] >= 0.2 and "max_seconds=0.3:" in stored["error"]  # its clock starts after the cap's
    assert stored["trial"] not in set(load_all(tmp_path).scores["trial"])
    assert run(max_seconds=0.3) == run(max_seconds=5) == []  # raising a cap does not run trials again that ended at it
    assert run(max_seconds=0.4, retry=["failed"]) == []
    assert run(max_seconds=0.4, retry=["timeout", "failed"]) == ["timeout"]
    assert "max_seconds=0.4:" in load_all(tmp_path).trials.set_index("status").loc["timeout", "error"]


def test_seconds_of_a_fit_are_those_of_the_processor_with_what_it_forked(tmp_path):
    def spend(seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass

    before = own_cpu_seconds()
    time.sleep(0.3)
    assert own_cpu_seconds() - before < 0.2
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        spend(0.3)
        os._exit(0)
    assert own_cpu_seconds() - before >= 0.3
