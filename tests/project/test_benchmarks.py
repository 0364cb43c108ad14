"""The comparison with the peer package, without the peer: the changes in its source, the timing, and the rows."""

import importlib.util
import os
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import coverage, job
from benchmarks import methods as benchmark

LOOP = """
def udfs(X):
    max_iter = 1000
    n_sweeps, change = 0, 0.0
    for iter_step in range(max_iter):
        n_sweeps += 1
        if abs(change) < 1e-3:
            break
    return n_sweeps
"""


@pytest.fixture
def peer(tmp_path):
    def load(source):
        path = tmp_path / "peer.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("peer", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_peer_does_the_sweeps_asked_for_and_does_not_stop_before(peer):
    assert peer(LOOP).udfs(None) == 1
    assert benchmark.peer_sweeps(peer(LOOP), "udfs", 7)(None) == 7


def test_another_version_of_the_peer_is_refused(peer):
    with pytest.raises(SystemExit, match="no single 'max_iter = 1000'"):
        benchmark.peer_sweeps(peer(LOOP.replace("1000", "500")), "udfs", 7)


def test_without_the_peer_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["methods"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install skfeature-chappers"):
        benchmark.main()


def test_a_run_is_timed_ended_at_the_timeout_and_missed_where_it_dies():
    def quick(name, problem):
        return [3, 1, 2]

    def slow(name, problem):
        time.sleep(60)

    def dying(name, problem):
        os._exit(9)

    cpu, wall, features = benchmark.in_a_process(quick, "", None, 30)
    assert 0 <= cpu < 5 and 0 <= wall < 5 and features.tolist() == [3, 1, 2]
    assert benchmark.in_a_process(slow, "", None, 0.2) is None
    with pytest.raises(RuntimeError, match="dying: the process died with exit code 9"):
        benchmark.in_a_process(dying, "", None, 30)


def test_a_row_has_the_ratio_beside_the_target_and_a_lower_bound_after_a_timeout():
    problem = SimpleNamespace(X=np.zeros((5, 7)), n_sweeps=3)
    ours = [(0.1, 0.2, [1, 2]), (0.1, 0.2, [1, 2]), (0.3, 0.2, [1, 2])]
    row = benchmark.line("NDFS", "coil20", problem, ours, [(2.0, 3.0, [2, 3])], 60).split()
    assert row == "NDFS coil20 5 x 7 3 0.100±0.100 2.000±0.000 20.0 15.0 10 met 1".split()
    row = benchmark.line("NDFS", "allaml", problem, ours, [None], 60).split()
    missed = benchmark.line("NDFS", "coil20", problem, ours, [(0.5, 0.5, [2, 3])], 60)
    assert "10 MISSED" in missed
    assert row == "NDFS allaml 5 x 7 3 0.100±0.100 more than 60 >600.0 >300.0 1000 open -".split()


def test_ours_runs_with_the_settings_of_the_comparison():
    rng = np.random.default_rng(0)
    X = rng.random((40, 120))
    graph = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    problem = benchmark.Problem(X, 3, graph, rng.random((40, 3)), 2)
    for name in [name for name in benchmark.DIFFERENCES if hasattr(benchmark.methods, name)]:
        assert len(set(benchmark.our_run(name, problem))) == benchmark.SIZE


@pytest.mark.parametrize("seconds", [10.0, 5.0])
def test_the_plain_job_does_as_many_sweeps_however_few_ours_needs(monkeypatch, capsys, seconds):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(job, "load_dataset", lambda name: SimpleNamespace(y=None))
    monkeypatch.setattr(job, "make_problem", lambda dataset, options: None)
    monkeypatch.setattr(job, "our_job", lambda name: seconds)
    monkeypatch.setattr(job, "plain_point", lambda problem, y, alpha, beta: (0.2, 1.0))
    monkeypatch.setattr(sys, "argv", ["job", "datasets=pie10p"])
    job.main()
    assert f"plain {49 * (50 * 0.2 + 1):.0f} s" in (line := capsys.readouterr().out)
    assert f"ratio {539 / seconds:.0f} " in line


def test_the_promises_of_the_plan_are_simulated_from_the_shipped_studies(capsys):
    """Controls among the columns made every number of its page nan or 0."""
    coverage.main(["studies=1"])
    text = capsys.readouterr().out
    assert "between families 13.3, within 15.3; correlation of two columns 0.28" in text and "nan" not in text
    assert "one of 25 on each new data set" in text


def test_random_rankings_gain_nothing_over_each_other():
    rng = np.random.default_rng(0)
    gains = rng.normal(size=(30, 25, 2))
    gains -= gains.mean(axis=1, keepdims=True)
    families = np.arange(30) // 2
    false, power = coverage.with_rankings(gains, families, 10, 40)
    assert false <= 0.15 and power >= 0.9
    false, _ = coverage.with_rankings(gains + 3, families, 10, 5)
    assert false == 1
