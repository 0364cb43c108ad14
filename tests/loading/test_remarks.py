"""A line says what is odd about data of one's own."""

import logging

import numpy as np
import pytest
from scipy.sparse import csr_array

from datasets import joined, load_dataset
from datasets.own import as_dataset, own_spec, remarks

X = np.random.default_rng(0).normal(size=(12, 9))
Y = np.arange(12) % 3


@pytest.mark.parametrize("made", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_constant_features_and_one_that_numbers_the_samples_are_named(made):
    odd = X.copy()
    assert remarks(as_dataset(made(odd), Y, "mine")) == []
    odd[:, 4] = np.arange(1, 13)
    odd[:, 2] = 7.0
    assert remarks(as_dataset(made(odd), Y, "mine")) == [
        "mine: 1 feature is constant (number 2, from 0, of those left): no method can tell samples by it.",
        "mine: feature 4, counted from 0 among those left, numbers the samples: give the name or number of its column "
        "in ignore=[...].",
    ]
    odd[:, 1:8] = 0.0
    assert remarks(as_dataset(made(odd), Y, "mine"))[0].startswith(
        "mine: 7 features are constant (number 1, 2, 3, 4, 5, ..., from 0"
    )


def test_labels_that_all_differ_are_named():
    assert remarks(as_dataset(X, np.arange(12), "mine")) == [
        "mine: every sample has a label of its own, so that scores say nothing: is label= right?"
    ]
    assert remarks(as_dataset(X, np.arange(12) % 11, "mine")) == []


def test_the_index_that_pandas_writes_is_left_out_and_named_once(tmp_path, caplog):
    joined._say_dropped.cache_clear()
    lines = ["", *(f"{i},{a:.3f},{b:.3f},{y}" for i, (a, b), y in zip(range(12), X[:, :2], Y, strict=True))]
    lines[0] = ",a,b,kind"
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            spec, folder = own_spec(tmp_path / "mine.csv", label="kind")
            assert load_dataset(spec, folder).n_features == 2
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1 and said[0].endswith("has no name and numbers the rows, in some order: it is left out.")
