"""A line says what is odd about data of one's own."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from ufs_bench.datasets import DataError
from ufs_bench.datasets.given import as_dataset
from ufs_bench.datasets.remarks import remarks

X = np.random.default_rng(0).normal(size=(12, 9))
Y = np.arange(12) % 3


@pytest.mark.parametrize("made", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_constant_features_and_one_that_numbers_the_samples_are_named(made):
    odd = X.copy()
    assert remarks(as_dataset(made(odd), Y, "mine")) == []
    odd[:, 4] = np.arange(1, 13)
    odd[:, 2] = 7.0
    assert remarks(as_dataset(made(odd), Y, "mine")) == [
        "mine: 1 feature is constant (number 2, counted from 0): no method can tell samples by it.",
        "mine: a feature numbers the samples (number 4, counted from 0): give the name or number of its column in "
        "ignore=[...].",
    ]
    odd[:, 1:8] = 0.0
    assert remarks(as_dataset(made(odd), Y, "mine"))[0].startswith(
        "mine: 7 features are constant (number 1, number 2, number 3, number 4, number 5, ..., counted from 0)"
    )


@pytest.mark.parametrize("made", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_copies_of_features_and_of_samples_are_named(made):
    twice = np.vstack([X, X[3]])
    twice[3, 4], twice[12, 4] = 0.0, -0.0
    twice[:, 6] = twice[:, 1]
    twice[:, [0, 8]] = 0.0  # constant ones are said to be that
    frame = pd.DataFrame(twice, columns=list("abcdefghi")) if made is np.asarray else made(twice)
    first = "(a, i)" if made is np.asarray else "(number 0, number 8, counted from 0)"
    copy = "g of b" if made is np.asarray else "number 6 of number 1, counted from 0"
    assert remarks(as_dataset(frame, [*Y, 0], "mine")) == [
        f"mine: 2 features are constant {first}: no method can tell samples by it.",
        f"mine: 1 feature is a copy ({copy}): scores of single features select both.",
        "mine: 1 sample is a copy (12 of 3, counted from 0).",
    ]


def test_labels_that_all_differ_are_named():
    assert remarks(as_dataset(X, np.arange(12), "mine")) == [
        "mine: every sample has a label of its own, so that scores say nothing: is label= right?"
    ]
    assert remarks(as_dataset(X, np.arange(12) % 6, "mine")) == []


def test_a_data_frame_is_refused_for_what_it_would_hide():
    frame, y = pd.DataFrame(X, columns=list("abcdefghi")), pd.Series(Y)
    odd = frame.assign(kind="x", day=pd.Timestamp("2026-01-01"))
    with pytest.raises(DataError, match=r"X has columns that hold no numbers \(kind, day\)"):
        as_dataset(odd, y)
    with pytest.raises(DataError, match=r"same index in different orders.*y\.loc\[X\.index\]"):
        as_dataset(frame, y[::-1])
    with pytest.raises(DataError, match=r"X of shape \(12,\) must be"):
        as_dataset(frame["a"], y)
    whole = as_dataset(frame, y).sha
    assert as_dataset(frame, y[::-1].loc[frame.index]).sha == whole
    assert as_dataset(frame.set_axis(range(50, 62)).astype(object), y).sha == whole  # paired row by row
    for clusters in (1, 0, 2.5):
        with pytest.raises(DataError, match=f"clusters={clusters} must be a whole number, 2 or more"):
            as_dataset(frame, clusters=clusters)
