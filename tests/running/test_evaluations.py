"""Feature sets that several fits select are evaluated once in each process."""

import itertools

import numpy as np
import pytest
from fits import DATA, PROTOCOL, outcomes_of

from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.store.row import feature_set_digest, from_json
from ufs_bench.runners.workers.fit import run_trial


def test_the_name_of_a_set_does_not_depend_on_the_order_and_differs_between_sets():
    assert feature_set_digest([5, 1, 300]) == feature_set_digest(np.array([300, 5, 1], dtype=np.int32))
    sets = [subset for size in range(1, 6) for subset in itertools.combinations(range(8), size)]
    assert len({feature_set_digest(subset) for subset in sets}) == len(sets)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_known_feature_set_is_not_evaluated_again_and_the_rows_are_the_same(n_jobs):
    grid = {"n_neighbors": [3, 4, 5, 6]}
    method = {"name": "laplacian_score", "target": "methods.laplacian_score.LaplacianScore", "grid": grid}
    cell = expand("s", DATA, method | {"params": {"n_neighbors": 3}}, PROTOCOL)
    expected = {trial.key: run_trial(trial, DATA.X, DATA.y).trial for trial in cell}
    asked = {digest for row in expected.values() for digest in from_json(row["feature_sets"]).values()}
    rows = [outcome.trial for outcome in outcomes_of(cell, n_jobs)]
    for row in rows:
        assert repr(row["sets"]) == repr(expected[row["trial"]]["sets"])  # nan is not equal to itself
        assert row["feature_sets"] == expected[row["trial"]]["feature_sets"]
    n_sets, n_shared = (sum(len(from_json(row[name])) for row in rows) for name in ("sizes", "shared"))
    # Two workers may each evaluate the same set.
    assert n_sets == 2 * len(cell) and len(asked) <= n_sets - n_shared <= n_jobs * len(asked) and len(asked) < n_sets
