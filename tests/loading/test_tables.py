"""Tables of all kinds that somebody may bring, and what is missing in them."""

import re

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ufs_bench.datasets import DataError, load_dataset
from ufs_bench.datasets.formats.tables import split_table
from ufs_bench.datasets.loaders import READERS, read_source
from ufs_bench.datasets.own import own_spec

X = np.array([[1.5, -2, 3e-3], [4, 5.25, 6], [7, 8, 9]])
KINDS = ["a", "b", "a"]
PLAIN = "x,y,z,kind\n1.5,-2,3e-3,a\n4,5.25,6,b\n7,8,9,a\n"
TABLES = {
    "with names": (PLAIN, "kind"),
    "without names, the label by its number": (PLAIN.split("\n", 1)[1], 3),
    "without names, the label counted from the end": (PLAIN.split("\n", 1)[1], -1),
    "the label by its number, with names": (PLAIN, -1),
    "semicolons": (PLAIN.replace(",", ";"), "kind"),
    "semicolons and decimal commas": (PLAIN.replace(",", ";").replace(".", ","), "kind"),
    "a line for Excel": ("sep=;\r\n" + PLAIN.replace(",", ";"), "kind"),
    "a line for Excel, in quotes": ('"sep=,"\n' + PLAIN, "kind"),
    "tabs": (PLAIN.replace(",", "\t"), "kind"),
    "tabs and decimal commas": (PLAIN.replace(",", "\t").replace(".", ","), "kind"),
    "bars": (PLAIN.replace(",", "|"), "kind"),
    "blanks": (PLAIN.replace(",", "   "), "kind"),
    "blanks after commas": (PLAIN.replace(",", ", "), "kind"),
    "no last end of line": (PLAIN.rstrip(), "kind"),
    "quotes that hold delimiters": (PLAIN.replace("a\n", '"a, the first"\n'), "kind"),
    "the label in front": ("kind,x,y,z\na,1.5,-2,3e-3\nb,4,5.25,6\na,7,8,9\n", "kind"),
    "the index that pandas writes": (",x,y,z,kind\n0,1.5,-2,3e-3,a\n1,4,5.25,6,b\n2,7,8,9,a\n", "kind"),
    "names that are numbers": ("0,1,2,label\n1.5,-2,3e-3,a\n4,5.25,6,b\n7,8,9,a\n", "label"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_text_is_read_whatever_it_is_written_with(tmp_path, name):
    text, label = TABLES[name]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    samples, labels, _ = READERS["csv"](tmp_path / "t.csv", label)
    np.testing.assert_array_equal(samples, X)
    assert [one[0] for one in labels] == KINDS


def test_the_first_decimal_comma_may_be_far_down(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;kind\n" + 30 * "1;2;x\n" + "1,5;3;y\n")
    samples, labels, _ = READERS["csv"](tmp_path / "t.csv", "kind")
    assert samples[[0, -1]].tolist() == [[1, 2], [1.5, 3]] and labels[-1] == "y"


@pytest.mark.parametrize("label", [1, "1"])
def test_labels_may_be_numbers_and_columns_be_ignored_by_number(tmp_path, label):
    (tmp_path / "t.csv").write_text("7,1,10\n8,2,11\n9,1,12\n")
    samples, labels, names = READERS["csv"](tmp_path / "t.csv", label, ignore=[0])
    assert names == ["column 2"]
    assert samples.tolist() == [[10], [11], [12]] and labels.tolist() == [1, 2, 1]


@pytest.mark.parametrize("word", ["", "?", "NA", "nan", "null"])
def test_missing_values_are_nan_and_missing_labels_none(tmp_path, word):
    (tmp_path / "t.csv").write_text(f"x,y,kind\n1,{word},a\n{word},4,{word}\n5,6,b\n")
    samples, labels, _ = READERS["csv"](tmp_path / "t.csv", "kind")
    np.testing.assert_array_equal(samples, [[1, np.nan], [np.nan, 4], [5, 6]])
    assert labels.tolist() == ["a", None, "b"]


COMMAS = "a;b;kind\n" + 30 * "1,5;2;x\n"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (PLAIN, {"y": "class"}, "has no column 'class'; it has x, y, z, kind"),
        ("1,2\n3,4\n", {"y": "class"}, "it has no names, but the columns 0 to 1, of which -1 is the last"),
        ("1,2\n3,4\n", {"y": 2}, "has no column 2"),
        (PLAIN, {}, "kind must be numeric; 1 of 4 features are not. Name them in ignore=[...]"),
        ("x,y\n1,2\n-,3\n", {}, "Where '-' in x is a missing value, a text or Excel file takes missing=[...]."),
        ("x\n1\n2\n", {"y": "x"}, "no column besides the labels"),
        ("", {}, "is empty"),
        ("x,y\n1,2\n1,2,3\n", {}, "is no table of equally long rows"),
        ("a,b,y\n1,5,2,p\n3,4,q\n5,6,p\n", {"y": "y"}, "equally long rows: the first has 3 cells, and the next 4."),
        ("a,b,y\n1,5,2,p,p\n3,4,2,q,q\n", {"y": "y"}, "equally long rows: the first has 3 cells, and the next 5."),
        ("plate,a,kind\n1_1,2,x\n1_2,3,y\n", {"y": "kind"}, "plate must be numeric"),
        (COMMAS + "1.234;3;y\n", {"y": "kind"}, "some numbers have a point, where others have a decimal comma"),
        (COMMAS + "1,5;1.234;y\n", {"y": "kind"}, "some numbers have a point, where others have a decimal comma"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, text, options, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=re.escape(words)):
        read_source({"format": "csv", "options": options}, tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y,kind\n1,2,a\n\n3,b\n", "line 4 has 2 of 3 cells"),
        ('x,kind,y\n1,"a\nb",2\n3,a\n', "line 4 has 2 of 3 cells"),  # a cell that holds an end of line
        ("x y kind\n1 2 a\n3 b\n", "line 3 has 2 of 3 cells"),
        ("x,y,kind\n" + 30 * "r1,1,2,a\n" + "r2,1,2\n", "line 32 has 3 of 4 cells"),  # as R writes it
    ],
)
def test_a_row_that_is_too_short_is_never_filled_up(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    for fill in ("median", "drop", "error"):
        with pytest.raises(DataError, match=f"no table of equally long rows: {words}. A missing value keeps its place"):
            read_source({"format": "csv", "fill": fill, "options": {"y": "kind"}}, tmp_path / "t.csv")


@pytest.mark.parametrize("names", ["x,y,kind\n", ""])
def test_a_row_that_is_left_out_may_be_short(tmp_path, names):
    (tmp_path / "t.csv").write_text(f"{names}\n1,2,a\nclass\n3,4,b\n")  # as Orange writes below its names
    options = {"y": 2, "header": bool(names)}
    samples, labels, _ = read_source({"format": "csv", "options": options | {"ignore_rows": [1]}}, tmp_path / "t.csv")
    assert samples.tolist() == [[1, 2], [3, 4]] and labels.tolist() == ["a", "b"]
    with pytest.raises(DataError, match=f"line {3 + bool(names)} has 1 of 3 cells"):
        read_source({"format": "csv", "options": options | {"ignore_rows": [0]}}, tmp_path / "t.csv")


def test_a_table_that_is_no_text_is_said_to_be_none(tmp_path):
    (tmp_path / "t.csv").write_bytes("x,ü\n1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="is no text in UTF-8"):
        READERS["csv"](tmp_path / "t.csv")


def test_a_table_of_switches_and_integers_is_one_of_numbers(tmp_path):
    table = pd.DataFrame({"a": [True, False], "b": [1, 2], "kind": ["u", "v"]})
    samples, labels, _ = split_table(tmp_path, table, "kind")
    assert samples.tolist() == [[1, 1], [0, 2]] and samples.dtype == float and labels.tolist() == ["u", "v"]


def write_h5ad(path, matrix, old=False):
    """Write an AnnData file as that package does, today's or an old one's."""
    with h5py.File(path, "w") as file:
        if sparse.issparse(matrix):
            group = file.create_group("X")
            group.attrs["encoding-type"] = f"{matrix.format}_matrix"
            group.attrs["shape"] = matrix.shape
            for name in ("data", "indices", "indptr"):
                group[name] = getattr(matrix, name)
        else:
            file["X"] = matrix
        obs = file.create_group("obs")
        obs["_index"] = np.array([b"c1", b"c2", b"c3"])
        obs["batch"] = [1, 2, 1]
        if not old:
            file.create_group("var").attrs["_index"] = "gene"
            file["var/gene"] = np.array([b"g%d" % number for number in range(matrix.shape[1])])
        obs["_tissue"] = np.array([b"a", b"b", b"a"])
        codes, categories = np.array([0, 1, 0], dtype="i1"), np.array([b"a", b"b"])
        if old:
            obs["cell"] = codes
            obs.create_group("__categories")["cell"] = categories
        else:
            group = obs.create_group("cell")
            group["codes"], group["categories"] = codes, categories


@pytest.mark.parametrize("matrix", [X, sparse.csr_array(X), sparse.csc_array(X)], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize("old", [False, True])
def test_anndata_is_read_dense_or_sparse_with_a_column_of_obs(tmp_path, matrix, old):
    write_h5ad(tmp_path / "t.h5ad", matrix, old)
    for label, expected in (("cell", KINDS), ("_tissue", KINDS), ("batch", [1, 2, 1])):
        samples, labels, names = read_source({"format": "h5ad", "options": {"y": label}}, tmp_path / "t.h5ad")
        np.testing.assert_array_equal(samples, X)
        assert names == (None if old else [f"g{number}" for number in range(X.shape[1])])
        assert labels.tolist() == expected
    with pytest.raises(DataError, match="no column 'cells' in obs; it has _tissue, batch, cell"):
        read_source({"format": "h5ad", "options": {"y": "cells"}}, tmp_path / "t.h5ad")


def test_a_layer_of_anndata_is_read_by_its_name(tmp_path):
    write_h5ad(tmp_path / "t.h5ad", X)
    with h5py.File(tmp_path / "t.h5ad", "r+") as file:
        file["layers/counts"], file["raw/X"], file["raw/var/gene"] = X + 1, X[:, :2], [b"p", b"q"]
        file["raw/var"].attrs["_index"] = "gene"
    for x, matrix, genes in (("layers/counts", X + 1, ["g0", "g1", "g2"]), ("raw/X", X[:, :2], ["p", "q"])):
        spec, folder = own_spec(tmp_path / "t.h5ad", label="batch", x=x)
        data = load_dataset(spec, folder)
        assert (data.X.tolist(), data.feature_names) == (matrix.tolist(), tuple(genes))
    with pytest.raises(DataError, match="has no matrix 'counts'; it has X, layers/counts, raw/X"):
        read_source({"format": "h5ad", "options": {"x": "counts"}}, tmp_path / "t.h5ad")


@pytest.mark.parametrize("values", [[1, 2, 1], [True, False, True], [b"a", b"b", b"a"]])
@pytest.mark.parametrize("missing", [0, 1])
def test_labels_of_anndata_that_may_be_missing_are_read(tmp_path, values, missing):
    write_h5ad(tmp_path / "t.h5ad", X)
    with h5py.File(tmp_path / "t.h5ad", "r+") as file:
        group = file["obs"].create_group("late")
        group["values"], group["mask"] = values, np.arange(3) < missing
    labels = read_source({"format": "h5ad", "options": {"y": "late"}}, tmp_path / "t.h5ad")[1]
    expected = [one.decode() if isinstance(one, bytes) else one for one in values]
    assert labels.tolist() == missing * [None] + expected[missing:]


def test_anndata_may_have_names_in_another_way_or_none_and_files_of_other_genes_are_not_joined(tmp_path):
    source, paths = {"format": "h5ad"}, [tmp_path / "a.h5ad", tmp_path / "b.h5ad"]
    for path in paths:
        write_h5ad(path, X)
    assert read_source(source, paths)[0].shape == (2 * len(X), X.shape[1])
    with h5py.File(paths[1], "r+") as file:
        names = file["var/gene"][()]
        file["var/gene"][:] = names[::-1]
    with pytest.raises(DataError, match="b.h5ad has other features than .*a.h5ad, or in another order"):
        read_source(source, paths)
    for values, expected in ((names[::-1], names[::-1].astype(str).tolist()), (names[1:], None)):
        with h5py.File(paths[1], "r+") as file:
            del file["var/gene"]
            file.create_group("var/gene")["values"] = values
        assert read_source(source, paths[1])[2] == expected
    with h5py.File(paths[1], "r+") as file:
        del file["var/gene"]
    assert read_source(source, paths[1])[2] is None
