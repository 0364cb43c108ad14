"""Steps from the values of a source to samples: missing values, shares of known ones, counts."""

import re

import numpy as np
import pytest
from small_data import spec_of, write_mat

from ufs_bench.datasets import DataError
from ufs_bench.datasets.spec import check_spec
from ufs_bench.datasets.steps import STEPS, take_steps

NAN = np.nan
COUNTS = np.array([[0, 2, 2, 0], [1, 0, 3, 0], [0, 0, 4, 0], [5, 0, 0, 0]])
Y = ["a", "b", "c", "d"]


def taken(X, *steps):
    samples, labels, _ = take_steps("t", X, np.array(Y), steps)
    return samples, labels.tolist()


def test_numbers_that_stand_for_missing_values_become_nan():
    samples, _ = taken(np.array([[1, 100], [-9, 4]]), {"missing": [100, -9]})
    np.testing.assert_array_equal(samples, [[1, NAN], [NAN, 4]])


def test_codes_are_replaced_at_once_and_others_are_missing():
    samples, _ = taken(np.array([[0, 1, 2, 7]]), {"recode": [[0, 1], [1, 0], [2, -1]]})
    np.testing.assert_array_equal(samples, [[1, 0, -1, NAN]])


def test_samples_with_few_known_values_go_with_their_labels():
    X = np.array([[1, 2, NAN, NAN], [NAN, NAN, NAN, 1], [1, 2, 3, 4], [NAN, 1, 2, 3]])
    samples, labels = taken(X, {"known": 0.5})
    np.testing.assert_array_equal(samples, X[[0, 2, 3]])
    assert labels == ["a", "c", "d"]
    with pytest.raises(DataError, match="no sample has a share of 1"):
        taken(X[:2], {"known": 1})


def test_features_that_few_samples_have_go():
    samples, _ = taken(COUNTS, {"present": 0.5})
    np.testing.assert_array_equal(samples, COUNTS[:, [0, 2]])
    with pytest.raises(DataError, match="no feature is above 0 in a share of 0.9"):
        taken(COUNTS, {"present": 0.9})


def test_every_sample_has_the_same_sum_and_logarithms_follow():
    np.testing.assert_allclose(taken(COUNTS, {"row_sum": 100})[0].sum(axis=1), 100, rtol=1e-12)
    samples, _ = taken(COUNTS, {"row_sum": 100}, {"log1p": True})
    # In single precision, so that the checksum of data is the same on every processor.
    np.testing.assert_array_equal(samples[1], np.log([26, 1, 76, 1]).astype(np.float32))
    with pytest.raises(DataError, match="the values of sample 1 sum to 0"):
        taken(np.array([[1, 0], [0, 0]]), {"row_sum": 1})
    with pytest.raises(DataError, match="log1p needs values above -1; the smallest is -3"):
        taken(np.array([[1, -3]]), {"log1p": True})


def test_steps_are_taken_in_their_order():
    """A share of features first, or the sum first: other sums."""
    first, _ = taken(COUNTS, {"present": 0.5}, {"row_sum": 1})
    last, _ = taken(COUNTS, {"row_sum": 1}, {"present": 0.5})
    assert first.sum(axis=1).tolist() == [1, 1, 1, 1] and last[0].tolist() == [0, 0.5]


def test_the_array_of_the_file_is_not_changed():
    X = COUNTS.astype(float)
    take_steps("t", X, None, [{"missing": [0]}, {"log1p": True}])
    np.testing.assert_array_equal(X, COUNTS)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([{"mising": [1]}], "must be a mapping of one of missing, recode, known"),
        ([{"missing": [1], "log1p": True}], "must be a mapping of one of"),
        (["log1p"], "'log1p' must be a mapping"),
        ([{"missing": 1}], "missing=1 must be a list of numbers"),
        ([{"missing": ["x"]}], "missing=['x'] must be a list of numbers"),
        ([{"recode": [[1, 2, 3]]}], "recode=[[1, 2, 3]] must be a list of [old, new]"),
        ([{"known": 0}], "known=0 must be the least share"),
        ([{"present": 1.5}], "present=1.5 must be the least share"),
        ([{"row_sum": -1}], "row_sum=-1 must be the sum of each sample"),
        ([{"row_sum": True}], "row_sum=True must be"),
        ([{"log1p": False}], "log1p=False must be true"),
    ],
)
def test_a_wrong_step_is_refused_before_anything_is_read(tmp_path, steps, words):
    write_mat(tmp_path / "small.mat")
    spec = spec_of(tmp_path / "small.mat")
    spec["sources"][0]["steps"] = steps
    with pytest.raises(DataError, match=re.escape(words)):
        check_spec(spec)
    assert len(STEPS) == 6
