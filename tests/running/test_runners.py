"""Grid, store and pool: nothing is lost, nothing unfinished is taken for done, and a failure fails one trial only."""

import errno
import itertools
import json
import os
import tempfile
import textwrap
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from frames import done

from metrics.protocol import Protocol
from runners import processes, row, tasks
from runners.files import StoreError
from runners.fit import run_trial
from runners.method import ConfigError
from runners.pool import run_all
from runners.store import Store, load_results
from runners.study import claim_study
from runners.tasks import Data
from runners.trial import diagonal, expand

PROTOCOL = Protocol(name="test", sizes=(2, 3), scaling="none", restarts=3, seed=0, nmi="geometric", max_iter=20)


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 10)
    X = rng.normal(size=(30, 6)) + 3 * y[:, None] * (np.arange(6) < 3)
    return SimpleNamespace(name="blobs", X=X, y=y, n_classes=3, n_features=6, n_samples=30, sha="ab12")


@pytest.fixture(scope="module")
def methods_module(tmp_path_factory):
    """Make an importable module of selectors that misbehave on request."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "troublesome.py").write_text(
        textwrap.dedent(
            """
            import os
            import time
            import numpy as np
            from methods.core.base import BaseSelector, Solution, check_number

            class Troublesome(BaseSelector):
                def __init__(self, n_features_to_select=None, *, gain=1.0, what="fit", random_state=None):
                    self.n_features_to_select = n_features_to_select
                    self.gain, self.what, self.random_state = gain, what, random_state

                def _check(self, X):
                    check_number("gain", self.gain, 0)

                def _solve(self, X, rng):
                    if self.what == "raise" and self.gain == 2:
                        raise RuntimeError("two, is\\nnot \\"allowed\\"")
                    if self.what == "die" and self.gain == 2:
                        os.kill(os.getpid(), 9)
                    if self.what == "write":
                        X[:] = 0
                    if self.what == "sleep" and self.gain == 2:
                        time.sleep(2)
                    labels = (X[:, 0] > X[:, 0].mean()).astype(int)
                    return Solution(self.gain * X.var(axis=0) + rng.uniform(size=X.shape[1]), labels=labels)

            class PerSize(Troublesome):
                size_in_objective = True

            class Silent(Troublesome):
                def fit(self, X):
                    self.ranking_ = np.arange(X.shape[1])
                    self.n_features_to_select_ = X.shape[1]
                    return self

            class Writer(Troublesome):
                def fit(self, X):
                    X[:] = 0
            """
        )
    )
    # Workers that other tests have started do not know the new folder.
    processes.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield "troublesome"
    processes.close()


@pytest.fixture
def method(methods_module):
    def build(cls="Troublesome", params=None, grid=None):
        defaults = {"gain": 1.0, "what": "fit"}
        return {
            "name": "troublesome",
            "target": f"{methods_module}.{cls}",
            "params": {**defaults, **(params or {})},
            "grid": {"gain": [1.0, 2.0, 3.0, 4.0]} if grid is None else grid,
        }

    return build


def commit(folder, batches):
    with Store(folder) as store:
        for outcomes in batches:
            store.append(outcomes)


def undisturbed(trials, dataset, folder):
    commit(folder, [[run_trial(trial, dataset.X, dataset.y)] for trial in trials])
    return sorted((folder / "scores.csv").read_bytes().splitlines())


# --- the grid


def test_the_grid_is_the_product_of_its_lists_and_marks_the_default(dataset, method):
    trials = expand("s", dataset, method(), PROTOCOL)
    assert [trial.params["gain"] for trial in trials] == [1.0, 2.0, 3.0, 4.0]
    assert [trial.is_default for trial in trials] == [True, False, False, False]
    assert all(trial.sizes == (2, 3) for trial in trials)


def test_the_values_of_the_data_are_looked_through_once_for_all_points_of_a_grid(dataset, method, monkeypatch):
    looked = []
    monkeypatch.setattr("methods.core.base.check_range", lambda X: looked.append(X))
    assert len(expand("s", dataset, method(), PROTOCOL)) > 1
    assert len(looked) == 1


def test_a_sample_has_every_value_of_every_parameter_and_few_trials(dataset, method):
    grid = {"n_neighbors": [3, 4, 5, 6, 7], "n_nonzero_coefs": [5, 6], "width": [0.1, 1.0, 10.0]}
    trials = expand("s", dataset, method(grid={}), PROTOCOL)
    product = [
        replace(trials[0], params=dict(zip(grid, values, strict=True)), sizes=sizes)
        for values in itertools.product(*grid.values()) for sizes in ((2,), (3,))
    ]  # fmt: skip
    sample = diagonal(product)
    assert 5 <= len(sample) <= 10 and len(set(map(id, sample))) == len(sample)
    for name, values in grid.items():
        assert {trial.params[name] for trial in sample} == set(values)
    assert {trial.sizes for trial in sample} == {(2,), (3,)}
    assert diagonal(product[:7]) == product[:7]  # a part of a grid already
    assert diagonal(trials) == trials


def test_a_size_that_is_part_of_the_model_gets_a_trial_of_its_own(dataset, method):
    trials = expand("s", dataset, method("PerSize"), PROTOCOL)
    assert len(trials) == 8
    assert {trial.sizes for trial in trials} == {(2,), (3,)}


@pytest.mark.parametrize(
    "change",
    [
        {"data_sha": "ff"},
        {"dataset": "other"},
        {"params": {"gain": 1.5, "what": "fit"}},
        {"sizes": (2,)},
        {"protocol": replace(PROTOCOL, seed=1)},
        {"protocol": replace(PROTOCOL, restarts=4)},
    ],
)
def test_the_key_changes_with_everything_that_changes_the_numbers(dataset, method, change):
    trial = expand("s", dataset, method(), PROTOCOL)[0]
    assert replace(trial, **change).key != trial.key


def test_the_key_does_not_change_with_the_study(dataset, method):
    trial = expand("s", dataset, method(), PROTOCOL)[0]
    assert replace(trial, study="other").key == trial.key


@pytest.mark.parametrize(
    "kwargs, words",
    [
        ({"grid": {"gian": [1.0]}}, "gian.*Did you mean gain"),
        ({"params": {"n_clusters": 3}}, "n_clusters is not a parameter"),
        ({"grid": {"gain": []}}, "must be a list"),
        ({"grid": {"gain": 3.0}}, "must be a list"),
        ({"grid": {"gain": [1.0, -1.0]}}, r"gain=-1.0 must be a number in \[0"),
        ({"grid": {"gain": [1.0, 1.0]}}, "1.0 and 1.0, which are the same value"),
    ],
)
def test_a_grid_error_shows_before_any_fit(dataset, method, kwargs, words):
    with pytest.raises(ConfigError, match=words):
        expand("s", dataset, method(**kwargs), PROTOCOL)


def test_an_unknown_class_is_a_clear_error(dataset, method):
    with pytest.raises(ConfigError, match="methods.nothing"):
        expand("s", dataset, {**method(), "target": "methods.nothing.Nothing"}, PROTOCOL)


def test_sizes_above_the_number_of_features_are_left_out_and_none_left_is_an_error(dataset, method):
    assert expand("s", dataset, method(), replace(PROTOCOL, sizes=(3, 99)))[0].sizes == (3,)
    with pytest.raises(ConfigError, match="n_features=6"):
        expand("s", dataset, method(), replace(PROTOCOL, sizes=(99,)))


@pytest.mark.parametrize(
    "field, value",
    [
        ("sizes", ()),
        ("sizes", (0,)),
        ("restarts", 0),
        ("seed", -1),
        ("scaling", "max"),
        ("nmi", "mean"),
        ("max_iter", 1.5),
    ],
)
def test_a_protocol_refuses_what_it_cannot_mean(field, value):
    with pytest.raises(ValueError, match=f"protocol.{field}"):
        replace(PROTOCOL, **{field: value})


# --- one trial


def test_a_trial_scores_every_size_and_restart_and_the_learned_labels_once(dataset, method):
    outcome = run_trial(expand("s", dataset, method(), PROTOCOL)[0], dataset.X, dataset.y)
    frame = pd.DataFrame(outcome.scores, columns=row.SCORES)
    counts = frame.groupby(["clusterer", "n_selected"]).size().to_dict()
    assert counts == {("kmeans", 2): 3, ("kmeans", 3): 3, ("learned", 6): 1}
    assert frame[["acc", "nmi"]].to_numpy().min() >= 0 and frame[["acc", "nmi"]].to_numpy().max() <= 1
    assert outcome.trial["n_scores"] == len(outcome.scores)
    assert len(json.loads(outcome.trial["ranking"])) == 3
    assert set(outcome.trial) == set(row.TRIALS)


def test_a_failing_trial_is_recorded_with_its_error_on_one_line_and_the_rest_goes_on(dataset, method, tmp_path):
    trials = expand("s", dataset, method(params={"what": "raise"}), PROTOCOL)
    commit(tmp_path / "s/blobs/troublesome", run_all(trials, Data(dataset.X, dataset.y), 1))
    stored = load_results(tmp_path).trials
    assert stored["status"].value_counts().to_dict() == {"converged": 3, "failed": 1}
    assert stored.loc[stored["status"] == "failed", "error"].item() == 'RuntimeError: two, is not "allowed"'


def test_a_dying_worker_fails_its_own_trial_only(dataset, method, tmp_path):
    trials = expand("s", dataset, method(params={"what": "die"}), PROTOCOL)
    ended = itertools.chain.from_iterable(run_all(trials, Data(dataset.X, dataset.y), 2))
    outcomes = {outcome.trial["trial"]: outcome.trial for outcome in ended}
    assert [outcomes[trial.key]["status"] for trial in trials] == ["converged", "failed", "converged", "converged"]
    assert "worker process died" in outcomes[trials[1].key]["error"]


def test_the_number_of_workers_does_not_change_the_rows_of_the_scores(dataset, method, tmp_path):
    trials = expand("s", dataset, method("PerSize"), PROTOCOL)
    for n_jobs in (1, 2):
        commit(tmp_path / str(n_jobs), run_all(trials, Data(dataset.X, dataset.y), n_jobs))
    one, two = (sorted((tmp_path / n / "scores.csv").read_bytes().splitlines()) for n in "12")
    assert one == two


def test_the_scores_of_a_finished_fit_do_not_wait_for_a_slow_one(dataset, method):
    list(
        run_all(expand("s", dataset, method(), PROTOCOL), Data(dataset.X, dataset.y), 2)
    )  # so that both workers are up
    trials = expand("s", dataset, method(params={"what": "sleep"}), PROTOCOL)
    ended = itertools.chain.from_iterable(run_all(trials, Data(dataset.X, dataset.y), 2))
    assert [outcome.trial["trial"] for outcome in ended][-1] == trials[1].key


def test_a_run_in_which_nothing_ends_is_heard_of_now_and_then(dataset, method):
    trials = expand("s", dataset, method(params={"what": "sleep"}, grid={"gain": [2.0]}), PROTOCOL)
    batches = list(run_all(trials, Data(dataset.X, dataset.y), 2))
    assert [] in batches and sum(map(len, batches)) == 1


def test_an_evaluation_that_raises_fails_the_trials_that_need_it_only(dataset, method, monkeypatch):
    trials = expand("s", dataset, method(), PROTOCOL)
    spoilt = json.loads(run_trial(trials[2], dataset.X, dataset.y).trial["ranking"])[:2]

    def evaluate(features, *args):
        if sorted(features) == sorted(spoilt):
            raise MemoryError("no room")
        return original(features, *args)

    original = tasks.evaluate_set
    monkeypatch.setattr(tasks, "evaluate_set", evaluate)
    outcomes = list(itertools.chain.from_iterable(run_all(trials, Data(dataset.X, dataset.y), 1)))
    for outcome in outcomes:
        needs_it = sorted(json.loads(outcome.trial["ranking"])[:2]) == sorted(spoilt)
        assert (outcome.trial["status"], outcome.trial["error"]) == (
            ("failed", "MemoryError: no room") if needs_it else ("converged", "")
        )
    assert len(outcomes) == 4


def test_no_file_of_a_run_is_left_in_the_temporary_folder(dataset, method, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    list(run_all(expand("s", dataset, method(), PROTOCOL), Data(dataset.X, dataset.y), 2))
    assert not list(tmp_path.iterdir())


# --- the store


def test_floats_come_back_as_they_went(dataset, method, tmp_path):
    outcome = run_trial(expand("s", dataset, method(), PROTOCOL)[0], dataset.X, dataset.y)
    values = np.random.default_rng(0).uniform(size=len(outcome.scores))
    rows = [(*row[:-1], float(value)) for row, value in zip(outcome.scores, values, strict=True)]
    commit(tmp_path / "s/blobs/troublesome", [[replace(outcome, scores=rows)]])
    np.testing.assert_array_equal(np.sort(load_results(tmp_path).scores[row.SCORES[-1]]), np.sort(values))


def test_a_crash_at_any_byte_loses_the_unfinished_trial_only(dataset, method, tmp_path):
    trials = expand("s", dataset, method(), PROTOCOL)
    outcomes = [run_trial(trial, dataset.X, dataset.y) for trial in trials[:2]]
    # The same outcomes in both, as the seconds of another run need not have as many digits.
    commit(tmp_path / "whole", [outcomes])
    expected = sorted((tmp_path / "whole/scores.csv").read_bytes().splitlines())
    commit(tmp_path / "first", [outcomes[:1]])
    # The bytes that storing the second trial adds, in the order they reach the disk; a crash may fall behind any.
    added = [
        (name, (tmp_path / "whole" / name).read_bytes()[len((tmp_path / "first" / name).read_bytes()) :])
        for name in ("scores.csv", "traces.csv", "facts.csv", "measures.csv", "trials.csv")
    ]
    total = sum(len(text) for _, text in added)
    ends = np.cumsum([len(text) for _, text in added])  # a byte before, at and after the end of each file, and others
    for cut in sorted({*range(0, total, 23), *(ends[:-1] - 1), *ends[:-1], *(ends[:-1] + 1), total - 1}):
        folder = tmp_path / f"cut{cut}/s/blobs/troublesome"
        folder.mkdir(parents=True)
        left = cut
        for name, text in added:
            (folder / name).write_bytes((tmp_path / "first" / name).read_bytes() + text[:left])
            left = max(0, left - len(text))
        before = load_results(tmp_path / f"cut{cut}")
        assert list(before.trials["trial"]) == [trials[0].key]
        assert set(before.scores["trial"]) == {trials[0].key}
        with Store(folder) as store:
            assert done(store) == {trials[0].key}
            store.append(outcomes[1:])
        assert sorted((folder / "scores.csv").read_bytes().splitlines()) == expected


@pytest.mark.parametrize("name", ["scores", "measures"])
def test_a_trial_whose_rows_went_missing_is_not_done(dataset, method, tmp_path, name):
    folder = tmp_path / "s/blobs/troublesome"
    trials = expand("s", dataset, method(), PROTOCOL)
    undisturbed(trials, dataset, folder)
    lines = (folder / f"{name}.csv").read_text().splitlines(keepends=True)
    (folder / f"{name}.csv").write_text("".join(lines[:-1]))
    with Store(folder) as store:
        assert done(store) == {trial.key for trial in trials[:-1]}


def test_a_full_disk_leaves_the_files_as_they_were(dataset, method, tmp_path, monkeypatch):
    trials = expand("s", dataset, method(), PROTOCOL)
    outcomes = [run_trial(trial, dataset.X, dataset.y) for trial in trials[:2]]

    def refuse(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with Store(tmp_path) as store:
        store.append(outcomes[:1])
        before = (tmp_path / "scores.csv").read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", refuse)
            with pytest.raises(StoreError, match="No space left.*make room"):
                store.append(outcomes[1:])
        assert (tmp_path / "scores.csv").read_bytes() == before
        store.append(outcomes[1:])
    assert sorted((tmp_path / "scores.csv").read_bytes().splitlines()) == undisturbed(
        trials[:2], dataset, tmp_path / "again"
    )


def test_failed_trials_are_not_done_and_can_be_forgotten(dataset, method, tmp_path):
    folder = tmp_path / "s/blobs/troublesome"
    trials = expand("s", dataset, method(params={"what": "raise"}), PROTOCOL)
    commit(folder, run_all(trials, Data(dataset.X, dataset.y), 1))
    with Store(folder) as store:
        assert trials[1].key not in done(store) and len(done(store)) == 3
        store.forget([trials[0].key, trials[1].key])
        assert done(store) == {trials[2].key, trials[3].key}
    assert trials[0].key not in (folder / "scores.csv").read_text()


def test_a_store_of_other_columns_is_refused_and_left_alone(tmp_path):
    (tmp_path / "trials.csv").write_text("trial,other\n1,2\n")
    with pytest.raises(StoreError, match="other columns"), Store(tmp_path):
        pass
    assert (tmp_path / "trials.csv").read_text() == "trial,other\n1,2\n"


def test_a_second_writer_waits_for_the_first(tmp_path):
    import threading

    waited = threading.Event()
    order = []

    def second():
        with Store(tmp_path, on_wait=waited.set):
            order.append("second")

    with Store(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        assert waited.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_study_belongs_to_one_protocol(tmp_path):
    claim_study(tmp_path / "s", PROTOCOL)
    claim_study(tmp_path / "s", PROTOCOL)
    with pytest.raises(StoreError, match="restarts: stored 3, asked 5.*study=NAME"):
        claim_study(tmp_path / "s", replace(PROTOCOL, restarts=5))


def test_no_results_are_empty_frames_with_their_columns(tmp_path):
    results = load_results(tmp_path / "nowhere")
    assert [list(frame.columns) for frame in results] == [
        row.TRIALS,
        row.SCORES,
        row.TRACES,
        row.FACTS,
        row.MEASURES,
    ]
    assert all(frame.empty for frame in results)


@pytest.mark.parametrize("cls", ["Troublesome", "Writer"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_method_that_writes_into_the_data_fails_and_changes_none(dataset, method, cls, n_jobs):
    trials = expand("s", dataset, method(cls, params={"what": "write"}), PROTOCOL)
    before = dataset.X.copy()
    rows = [outcome.trial for ended in run_all(trials, Data(dataset.X, dataset.y), n_jobs) for outcome in ended]
    assert {row["status"] for row in rows} == {"failed"} and all("read-only" in row["error"] for row in rows)
    np.testing.assert_array_equal(dataset.X, before)


def test_a_method_that_does_not_report_its_fit_fails_and_does_not_end_the_cell(dataset, method):
    trials = expand("s", dataset, method("Silent"), PROTOCOL)
    rows = [outcome.trial for ended in run_all(trials, Data(dataset.X, dataset.y), 1) for outcome in ended]
    assert {row["status"] for row in rows} == {"failed"} and all("status_" in row["error"] for row in rows)
