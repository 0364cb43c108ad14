"""The records of evaluated feature sets: found where all settings are equal, never stale, whole after a crash."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from fits import DATA, PROTOCOL, outcomes_of

from ufs_bench.metrics.measures import N_MEASURES
from ufs_bench.runners.code import Code
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.store.evaluations import Evaluations
from ufs_bench.runners.store.identity import versions
from ufs_bench.runners.store.row import feature_set_digest, from_json
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.runners.workers.pool import Scores

DIGEST = feature_set_digest([3, 1])
OTHER = feature_set_digest([3, 2])
SCORES = np.arange(3.0 * N_MEASURES).reshape(N_MEASURES, 3) / 7


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 5)), np.repeat([0, 1, 2], 4)


def trials(name):
    target, grid = {
        "laplacian_score": ("methods.laplacian_score.LaplacianScore", {"n_neighbors": [3, 4, 5, 6]}),
        "max_variance": ("methods.baselines.MaxVariance", {}),
    }[name]
    params = {parameter: values[0] for parameter, values in grid.items()}
    return expand("s", DATA, {"name": name, "target": target, "params": params, "grid": grid}, PROTOCOL)


def run(cell, n_jobs=1, scores=None):
    """Return the outcomes of a cell by trial, and the numbers of its feature sets and of those known before."""
    outcomes = outcomes_of(cell, n_jobs, scores=scores)
    sets, shared = (sum(len(from_json(one.trial[name])) for one in outcomes) for name in ("sizes", "shared"))
    return {outcome.trial["trial"]: outcome for outcome in outcomes}, (sets, shared)


def test_the_name_of_a_set_does_not_depend_on_the_order_and_differs_between_sets():
    assert feature_set_digest([5, 1, 300]) == feature_set_digest(np.array([300, 5, 1], dtype=np.int32))
    sets = [subset for size in range(1, 6) for subset in itertools.combinations(range(8), size)]
    assert len({feature_set_digest(subset) for subset in sets}) == len(sets)


def test_what_was_added_is_found_to_the_last_bit_by_a_later_run(data, tmp_path):
    first = Evaluations(*data, PROTOCOL, tmp_path)
    first.add({DIGEST: SCORES})
    for evaluations in (first, Evaluations(*data, PROTOCOL, tmp_path)):
        np.testing.assert_array_equal(evaluations.find(DIGEST), SCORES)
        assert evaluations.find(OTHER) is None


def test_a_run_under_way_sees_what_another_one_adds(data, tmp_path):
    mine, other = (Evaluations(*data, PROTOCOL, tmp_path) for _ in range(2))
    assert mine.find(DIGEST) is None
    other.add({DIGEST: SCORES})
    np.testing.assert_array_equal(mine.find(DIGEST), SCORES)
    mine.add({OTHER: 2 * SCORES})
    np.testing.assert_array_equal(other.find(OTHER), 2 * SCORES)


@pytest.mark.parametrize(
    "change", ["X", "y", "seed", "nmi", "restarts", "max_iter", "starts", "replicates", "clusters"]
)
def test_nothing_is_found_where_anything_that_matters_differs(data, tmp_path, change):
    Evaluations(*data, PROTOCOL, tmp_path).add({DIGEST: SCORES})
    X, y = (array.copy() for array in data)
    protocol = PROTOCOL
    if change == "X":
        X[3, 2] = np.nextafter(X[3, 2], 2)
    elif change == "y":
        y[0] = 1
    else:
        others = {"seed": 1, "nmi": "max", "restarts": 4, "max_iter": 21, "starts": "kmeans++", "replicates": 2}
        others["clusters"] = "half"
        protocol = replace(protocol, **{change: others[change]})
    assert Evaluations(X, y, protocol, tmp_path).find(DIGEST) is None


def test_name_and_sizes_of_the_protocol_do_not_matter(data, tmp_path):
    Evaluations(*data, PROTOCOL, tmp_path).add({DIGEST: SCORES})
    assert Evaluations(*data, replace(PROTOCOL, name="other", sizes=(5,)), tmp_path).find(DIGEST) is not None


@pytest.mark.parametrize("changed", ["code_of_evaluation", "versions"])
def test_what_other_code_packages_or_kernels_found_is_not_found(data, tmp_path, monkeypatch, changed):
    Evaluations(*data, PROTOCOL, tmp_path).add({DIGEST: SCORES})
    assert Evaluations(*data, PROTOCOL, tmp_path).find(DIGEST) is not None
    other = {"code_of_evaluation": Code("other", (), ()), "versions": {**versions(), "arithmetic": "exp 0"}}
    monkeypatch.setattr(f"ufs_bench.runners.store.evaluations.{changed}", lambda: other[changed])
    assert Evaluations(*data, PROTOCOL, tmp_path).find(DIGEST) is None


def test_a_crash_at_any_byte_loses_the_unfinished_record_only(data, tmp_path):
    Evaluations(*data, PROTOCOL, tmp_path / "whole").add({DIGEST: SCORES, OTHER: 2 * SCORES})
    (path,) = (tmp_path / "whole").glob("*.bin")
    whole = path.read_bytes()
    for cut in range(len(whole)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / path.name).write_bytes(whole[:cut])
        evaluations = Evaluations(*data, PROTOCOL, folder)
        assert (evaluations.find(DIGEST) is not None) == (cut >= len(whole) // 2)
        assert evaluations.find(OTHER) is None
        evaluations.add({OTHER: 2 * SCORES})
        np.testing.assert_array_equal(Evaluations(*data, PROTOCOL, folder).find(OTHER), 2 * SCORES)


def test_a_spoilt_record_is_no_record(data, tmp_path):
    Evaluations(*data, PROTOCOL, tmp_path).add({DIGEST: SCORES})
    (path,) = tmp_path.glob("*.bin")
    whole = path.read_bytes()
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert Evaluations(*data, PROTOCOL, tmp_path).find(DIGEST) is None


def test_without_a_folder_nothing_is_written(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evaluations = Evaluations(*data, PROTOCOL)
    evaluations.add({DIGEST: SCORES})
    assert evaluations.find(DIGEST) is not None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_known_feature_set_is_not_evaluated_again_and_the_rows_are_the_same(tmp_path, n_jobs):
    cells = [trials("laplacian_score"), trials("max_variance"), trials("max_variance")]
    plain = [{trial.key: run_trial(trial, DATA.X, DATA.y) for trial in cell} for cell in cells]
    asked = {digest for cell in plain for outcome in cell.values() for digest in _digests(outcome)}
    evaluated = 0
    for cell, expected in zip(cells, plain, strict=True):
        outcomes, (n_sets, n_shared) = run(cell, n_jobs, Scores(tmp_path))
        evaluated += n_sets - n_shared
        assert n_sets == 2 * len(cell)
        own = sum(2 - len(_shared(outcome)) for outcome in outcomes.values())
        assert own == n_sets - n_shared
        for key, outcome in outcomes.items():
            assert repr(outcome.trial["sets"]) == repr(expected[key].trial["sets"])  # nan is not equal to itself
            assert outcome.trial["feature_sets"] == expected[key].trial["feature_sets"]
    assert n_shared == n_sets  # an earlier cell had evaluated all of these
    # Two workers may evaluate the same set at the same time.
    assert len(asked) <= evaluated <= n_jobs * len(asked) and evaluated < sum(2 * len(cell) for cell in cells)


def test_without_evaluations_every_trial_has_its_own():
    cell = trials("laplacian_score")
    outcomes, (n_sets, n_shared) = run(cell)
    assert n_shared == 0 and n_sets == 2 * len(cell)
    assert all(not _shared(outcome) for outcome in outcomes.values())
    for trial in cell:
        assert repr(outcomes[trial.key].trial["sets"]) == repr(run_trial(trial, DATA.X, DATA.y).trial["sets"])


def _digests(outcome):
    return list(json.loads(outcome.trial["feature_sets"]).values())


def _shared(outcome):
    return json.loads(outcome.trial["shared"])
