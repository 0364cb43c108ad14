"""The comparison with the peer package, without the peer: the changes in its source, the timing, and the rows."""

import importlib.util
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import against, bandwidth, coverage, faults, job
from benchmarks import methods as benchmark
from benchmarks.core.processes import having
from methods import MCFS
from methods.core.graphs import knn_graph
from runners.code import ROOT

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


def test_the_width_called_ours_is_the_one_that_the_methods_take():
    X = np.random.default_rng(0).normal(size=(60, 30))
    given = MCFS(10, n_clusters=4, affinity=knn_graph(X, 5, bandwidth=bandwidth.mean_edge(X)).toarray()).fit(X)
    assert given.scores_ == pytest.approx(MCFS(10, n_clusters=4).fit(X).scores_)
    other = MCFS(10, n_clusters=4, affinity=knn_graph(X, 5, bandwidth=0.5).toarray()).fit(X)
    assert other.scores_ != pytest.approx(given.scores_)


def test_ours_runs_with_the_settings_of_the_comparison():
    rng = np.random.default_rng(0)
    X = rng.random((40, 120))
    graph = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    problem = benchmark.Problem(X, 3, graph, rng.random((40, 3)), 2)
    for name in [name for name in benchmark.DIFFERENCES if hasattr(benchmark.methods, name)]:
        assert len(set(benchmark.our_run(name, problem))) == benchmark.SIZE


def test_two_commits_are_compared_by_median_seconds_objective_and_features():
    def fit(seconds, objective, features):
        return {"seconds": seconds, "sweeps": 3, "objective": objective, "features": features, "shape": [5, 7]}

    old = [fit(4.0, 2.0, [1, 2, 3]), fit(9.0, 2.0, [1, 2, 3]), fit(4.2, 2.0, [1, 2, 3])]
    new = [fit(0.4, 2.0 + 2e-9, [3, 2, 5]), fit(0.42, 0, []), fit(0.9, 0, [])]
    row = against.line("jgufs", "mnist", old, new).split()
    assert row == "jgufs mnist 5 x 7 3/3 4.200 0.420 10.0 +1e-09 2 of 3".split()
    assert against.line("mcfs", "mnist", [fit(1, np.nan, [1])], [fit(1, np.nan, [1])]).split()[-4] == "-"
    assert against.line("rufs_released", "mnist", old, new).split()[-4] == "-"  # rounding decides it


def test_settings_of_the_comparison_are_read_and_bad_ones_refused(monkeypatch, capsys):
    given = [against.setting(text)[1] for text in ("alpha=.5", "max_iter=3", "variant=released")]
    assert given == [0.5, 3, "released"] and isinstance(given[1], int)
    command = ["against", "--commit", "0" * 40, "--methods", "jgufs", "--datasets", "digits"]
    monkeypatch.setattr(sys, "argv", [*command, "--set", "alpha"])
    with pytest.raises(SystemExit):
        against.main()
    assert "must be name=value" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit, match="cannot be checked out"):
        against.main()
    monkeypatch.setattr(sys, "argv", [*command, "--methods", "no_such"])
    with pytest.raises(SystemExit, match="no conf/method/no_such.yaml"):
        against.main()


@pytest.mark.parametrize("seconds", [10.0, 5.0])
def test_the_plain_job_does_as_many_sweeps_however_few_ours_needs(monkeypatch, capsys, seconds):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(job, "load_dataset", lambda name: SimpleNamespace(y=None))
    monkeypatch.setattr(job, "make_problem", lambda dataset, options: None)
    monkeypatch.setattr(job, "our_job", lambda name: seconds)
    monkeypatch.setattr(job, "plain_point", lambda problem, y, alpha, beta: (0.2, 1.0))
    monkeypatch.setattr(sys, "argv", ["job", "--datasets", "pie10p"])
    job.main()
    assert f"plain {49 * (50 * 0.2 + 1):.0f} s" in (line := capsys.readouterr().out)
    assert f"ratio {539 / seconds:.0f} " in line


def test_the_log_of_disturbed_runs_tells_which_rounds_were_tried(tmp_path):
    log = tmp_path / "faults.log"
    assert faults.outcomes_in(log) == {}
    log.write_text("0 parent, joblib: same rows, nothing left\n1 disk, dask: exit 1: error: a, b: c\n2 te")
    assert faults.outcomes_in(log) == {
        0: ("parent", "joblib", "same rows, nothing left"),
        1: ("disk", "dask", "exit 1: error: a, b: c"),
    }


def test_a_command_that_disturbs_runs_and_is_ended_itself_leaves_nothing_running(tmp_path):
    words = [sys.executable, "-m", "benchmarks.faults", "--runners", "joblib"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (started := having(tmp_path) - {command.pid}) and command.poll() is None:
        time.sleep(0.05)
    command.terminate()
    assert started and command.wait(timeout=120) == 143
    assert not having(tmp_path) and not [*tmp_path.iterdir()]


def test_the_promises_of_the_plan_are_simulated_from_the_shipped_studies(capsys):
    """Controls among the columns made every number of its page nan or 0."""
    coverage.main(["--studies", "1"])
    text = capsys.readouterr().out
    assert "between families 13.5, within 15.0; correlation of two columns 0.25" in text and "nan" not in text
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
