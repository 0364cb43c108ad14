"""Files of R and cell arrays of MATLAB."""

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from ufs_bench.datasets import DataError
from ufs_bench.datasets.check import encode_labels
from ufs_bench.datasets.loaders import read_source

rdata = pytest.importorskip("rdata")
X = np.array([[1.5, -2, 3], [4, 5, 6], [7, 8, 9], [0, 1, 2]])
KINDS = ["b", "a", "b", "c"]


@pytest.fixture
def study(tmp_path):
    # Texts as objects: the package does not write those of Arrow.
    frame = pd.DataFrame(X, columns=pd.Index(["p", "q", "r"], dtype=object))
    kinds = np.array(KINDS, dtype=object)
    group = pd.Categorical(kinds, categories=np.array(sorted(set(KINDS)), dtype=object))
    inside = {"counts": X.T.copy(), "frame": frame, "whole": frame.assign(kind=pd.Series(kinds, dtype=object))}
    inside |= {"group": group, "numbers": np.array([2.0, 1, 2, 3])}
    rdata.write_rda(tmp_path / "study.rda", {"my.study": inside, "other": np.arange(3.0)})
    return tmp_path / "study.rda"


@pytest.mark.parametrize(
    ("x", "y", "transposed"),
    [
        ("my.study$counts", "my.study$group", True),
        ("my.study$frame", "my.study$group", False),
        ("my.study$frame", "my.study$numbers", False),
        ("my.study$whole", "kind", False),
    ],
)
def test_a_matrix_or_data_frame_of_r_with_a_vector_factor_or_column(study, x, y, transposed):
    source = {"format": "rdata", "options": {"x": x, "y": y}, "transposed": transposed}
    samples, labels, names = read_source(source, study)
    np.testing.assert_array_equal(samples, X)
    assert names == (None if transposed else ["p", "q", "r"])
    assert encode_labels("r", labels).tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "holds my.study, other: name the samples, x=NAME"),
        ({"x": "my.study$count"}, "has no 'my.study.count': 'count' is not in counts, frame, whole, group, numbers"),
        ({"x": "my.study"}, "my.study is no matrix of numbers. Name one: my.study.counts"),
        ({"x": "my.study$whole"}, "kind must be numeric; 1 of 4 features are not"),
        ({"x": "my.study$counts", "ignore": ["p"]}, "is no data frame"),
        ({"x": "my.study$frame", "y": "my.study$counts"}, "must be one label for each sample"),
    ],
)
def test_what_is_not_in_the_file_is_said(study, options, words):
    with pytest.raises(DataError, match=words):
        read_source({"format": "rdata", "options": options}, study)


def test_the_one_object_of_a_file_needs_no_name(tmp_path):
    rdata.write_rds(tmp_path / "x.rds", X)
    np.testing.assert_array_equal(read_source({"format": "rdata"}, tmp_path / "x.rds")[0], X)


def test_the_matrices_of_a_cell_array_are_side_by_side_or_one_of_them_is_taken(tmp_path):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = X[:, :1], X[:, 1:]
    crooked = np.empty((1, 2), dtype=object)
    crooked[0, 0], crooked[0, 1] = X, X.T
    savemat(tmp_path / "c.mat", {"fea": cells, "crooked": crooked, "gt": np.array([[2], [1], [2], [3]])})

    def samples(name):
        return read_source({"format": "mat", "options": {"x": name, "y": "gt"}}, tmp_path / "c.mat")[0]

    np.testing.assert_array_equal(samples("fea"), X)
    np.testing.assert_array_equal(samples("fea{2}"), X[:, 1:])
    np.testing.assert_array_equal(samples("crooked{1}"), X)
    with pytest.raises(DataError, match="fea has no cell 3; it has 2"):
        samples("fea{3}")
    with pytest.raises(DataError, match="gt has no cell 1; it has 0"):
        samples("gt{1}")
    with pytest.raises(DataError, match=r"cells of crooked have the shapes .*Name one cell, x=crooked.1."):
        samples("crooked")
