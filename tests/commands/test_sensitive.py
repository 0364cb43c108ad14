"""Fits that rounding alone moves: found by one refit, stored, shipped, printed, and judged by that spread."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from small_data import TRUTH

from ufs_bench.scripts.core.refits import SENSITIVE, is_sensitive, read
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import study_table
from ufs_bench.scripts.refit import again
from ufs_bench.scripts.ship import pack


@pytest.fixture
def results(handed_in, tmp_path):
    """Return a folder of results with the study `mine`, a copy for one test."""
    shutil.copytree(handed_in.parents[1] / "mine", tmp_path / "results" / "mine")
    return tmp_path / "results"


def fits_of(study):
    wanted = study.trials[study.trials["method"].isin(["max_variance", "mcfs"])]
    return list(again.run_again(study, wanted, say=lambda line: None))


def test_every_value_is_moved_by_1e14_of_itself_and_zeros_stay():
    X = np.random.default_rng(0).normal(size=(40, 30)) * (np.arange(30) % 3 > 0)
    other = again.moved(X)
    share = other[X != 0] / X[X != 0] - 1
    assert np.abs(np.abs(share) - 1e-14).max() < 3e-16 and 0.4 < (share > 0).mean() < 0.6
    assert (other[X == 0] == 0).all() and np.array_equal(other, again.moved(X))
    sparse = again.moved(csr_array(X))
    assert np.abs(sparse.data / csr_array(X).data - 1).max() < 2e-14 and sparse.nnz == csr_array(X).nnz


def test_a_fit_is_sensitive_below_95_percent_or_beyond_a_standard_error():
    kept, errors = np.array([1, 0.96, 0.94, 1, 1]), np.array([0, 1, 0, 0.99, 1.01])
    assert is_sensitive(kept, errors).tolist() == [False, False, True, False, True]


def test_a_moved_fit_is_stored_shipped_and_named_below_tables(results, shipping, monkeypatch):
    noise = np.random.default_rng(1)
    monkeypatch.setattr(again, "moved", lambda X: X * noise.uniform(0, 2, size=X.shape[1]))
    study, lines = Study.open(results, "mine"), []
    found = again.with_spreads(study, fits_of(study), say=lines.append)
    assert len(lines) == 2 and all("SENSITIVE" in line and "of the features" in line for line in lines)
    spreads = {one.row["trial"]: one.spread for one in found}
    study = Study.open(results, "mine")
    assert set(study.sensitive["trial"]) == set(spreads)
    assert {one.row["trial"]: one.spread for one in again.with_stored_spreads(study, found)} == spreads
    (note,) = [line for line in study_table(study).details if "Sensitive fits" in line]
    assert f"mcfs on {TRUTH} (keeps" in note and f"max_variance on {TRUTH} (keeps" in note and "ndfs" not in note
    pack.ship(results, "mine", partial=True)
    shipped = Study.open(results, "reference/mine")
    assert sorted(shipped.sensitive["trial"]) == sorted(study.sensitive["trial"])
    again.with_spreads(shipped, [one for one in found if one.row["method"] == "mcfs"], say=lines.append)
    assert len(read(shipping / "mine", SENSITIVE)) == 2


def test_another_machine_is_judged_by_the_spread_and_without_one_by_the_bounds(results):
    study = Study.open(results, "mine")
    one = next(one for one in fits_of(study) if one.row["method"] == "mcfs")
    other = one.stored._replace(versions=one.stored.versions.replace("gemm ", "gemm f"))

    def is_wrong(kept, moved, **spread):
        far = again.NEAR | {"selected": kept, "errors": moved}
        return replace(one, stored=other, distance=far, spread=again.NEAR | spread if spread else None).is_wrong

    assert is_wrong(0.8, 3.0) and not is_wrong(0.8, 3.0, selected=0.9, errors=2.0)
    assert is_wrong(0.8, 4.1, selected=0.9, errors=2.0)
    assert is_wrong(0.95, 3.0) and not is_wrong(0.95, 0.5)
