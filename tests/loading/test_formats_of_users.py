"""Labels, formats and packed files that users have."""

import bz2
import gzip
import lzma
import re
import unicodedata

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse
from users_files import CODES, NAMED, PLAIN, X, is_right

from ufs_bench.datasets import DataError
from ufs_bench.datasets.given import as_dataset

ONE_HOT = np.eye(3)[CODES]


@pytest.mark.parametrize("labels", [ONE_HOT, 2 * ONE_HOT - 1, ONE_HOT.astype(bool), sparse.csc_array(ONE_HOT)])
def test_a_column_for_each_class_is_a_class(tmp_path, read, labels):
    io.savemat(tmp_path / "t.mat", {"X": X, "target": sparse.csc_matrix(labels) if sparse.issparse(labels) else labels})
    data, lines = read("t.mat", label="target")
    is_right(data)
    assert "3 columns of the labels are taken as one class each" in lines[0]
    dense = labels.toarray() if sparse.issparse(labels) else labels
    np.savez(tmp_path / "t.npz", X=X, target=dense.T)
    is_right(read("t.npz", label="target", x="X")[0])
    is_right(as_dataset(X, labels))
    is_right(as_dataset(X, pd.DataFrame(dense)))
    for wrong, count in ((0, 2), (1, 0)):
        broken = ONE_HOT.copy()
        broken[4 + wrong] = [1 - wrong, 1 - wrong, 0]
        with pytest.raises(DataError, match=f"sample {4 + wrong} is in {count} of the 3 classes"):
            as_dataset(X, broken)


HEAD = "% a comment\n@RELATION t\n\n" + "".join(f"@attribute f{j} numeric\n" for j in range(8))
ROWS = [",".join(map(repr, row)) for row in X.tolist()]
ARFF = {
    "a text": (HEAD + "@attribute id string\n@attribute class {a,b,c}\n@data\n", "{x},'s {i}, of',{y}", ["id"]),
    "a date": (
        HEAD + "@attribute id date 'yyyy-MM-dd'\n@attribute class {a,b,c}\n@data\n",
        "{x},2020-01-01,{y}",
        ["id"],
    ),
    "labels that are texts": (HEAD + "@attribute class string\n@data\n", "{x},{y}", None),
    "blanks in a list": (HEAD + "@attribute class {a , b , c}\n@data\n", "{x}, {y}", None),
    "names in quotes": (HEAD + "@attribute 'the class' {'a','b','c'}\n@data\n% none\n", "{x},'{y}'", None),
    "other letters": (HEAD + "@attribute größe {a,b,c}\n@data\n", "{x},{y}", None),
    "double quotes": (HEAD + '@attribute "class" {"a","b","c"}\n@DATA\n', '{x},"{y}"', None),
    "sparse rows": (HEAD + "@attribute class {a,b,c}\n@data\n", "{sparse}", None),
}


@pytest.mark.parametrize("case", ARFF)
def test_arff_files_of_all_kinds_are_read(tmp_path, read, refused, case):
    head, row, ignore = ARFF[case]
    lines = []
    for i, (x, code) in enumerate(zip(ROWS, CODES, strict=True)):
        pairs = [f"{j} {value}" for j, value in enumerate(x.split(","))] + ([f"8 {'abc'[code]}"] if code else [])
        lines.append(row.format(x=x, i=i, y="abc"[code], sparse="{" + ", ".join(pairs) + "}"))
    (tmp_path / "t.arff").write_text(head + "\n".join(lines), encoding="utf-8")
    label = {"names in quotes": "the class", "other letters": unicodedata.normalize("NFD", "größe")}.get(case, "class")
    is_right(read("t.arff", label=label, ignore=ignore)[0])
    if ignore:
        refused("id must be numeric; 1 of 9 features", "t.arff", label="class")
    if case == "sparse rows":
        assert sparse.issparse(read("t.arff", label="class", sparse=True)[0].X)


def test_what_is_wrong_with_an_arff_file_is_said(tmp_path, read, refused):
    head = "@relation t\n@attribute x {0,1,2}\n@attribute c {a,b}\n@data\n"
    (tmp_path / "t.arff").write_text(head + "0,a\n2,b\n1,a\n?,b\n")
    assert read("t.arff", label="c", fill=5)[0].X.ravel().tolist() == [0, 2, 1, 5]
    for text, words in (
        (head.replace("@attribute c", "@attribute x"), "two attributes 'x'"),
        (head + "0,d\n1,a\n", "'d' is not among the values of c: a, b"),
        (head + "0,a,1\n1,b,1\n", "3 values for 2 attributes"),
        (head.replace("@data", ""), "no line @data"),
        (head.replace("{a,b}", "relational"), "the kind 'relational' of c is not read"),
        (head + "{0 1, 5 a}\n{0 1}\n", "is not {NUMBER VALUE, ...}"),
    ):
        (tmp_path / "t.arff").write_text(text)
        refused(re.escape(words), "t.arff", label="c")


def test_packed_tables_and_the_format_of_files_of_any_name(tmp_path, read):
    content = PLAIN.encode()
    for ending, pack in ((".xz", lzma.compress), (".bz2", bz2.compress), (".gz", gzip.compress)):
        (tmp_path / f"t.csv{ending}").write_bytes(pack(content))
        is_right(read(f"t.csv{ending}", label="label")[0])
    (tmp_path / "points.data.gz").write_bytes(gzip.compress("\n".join(ROWS).encode()))
    (tmp_path / "data.labels0.gz").write_bytes(gzip.compress("\n".join(map(str, CODES)).encode()))
    is_right(read("points.data.gz", labels="data.labels0.gz", label=0, format="csv")[0])


def test_a_larger_packed_file_is_read_where_the_user_says_so(tmp_path, read, refused, monkeypatch):
    monkeypatch.setattr("ufs_bench.datasets.formats.text.LARGEST_TEXT", 1)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b,kind\n" + b"1,2,x\n3,4,y\n" * 10**5))
    refused("more than 1 MiB: say max_unpacked_mb=N", "t.csv.gz", label="kind")
    assert read("t.csv.gz", label="kind", max_unpacked_mb=2)[0].n_samples == 2 * 10**5


def test_arrays_of_numpy_and_matrix_market_are_read(tmp_path, read, refused):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", CODES)
    is_right(read("X.npy", labels="y.npy")[0])
    np.save(tmp_path / "all.npy", np.column_stack([X, CODES]))
    is_right(read("all.npy", label=-1)[0])
    np.save(tmp_path / "turned.npy", X.T)
    is_right(read("turned.npy", labels="y.npy", transposed=True)[0])
    io.mmwrite(tmp_path / "X.mtx", sparse.coo_array(X))
    is_right(read("X.mtx", labels="y.npy")[0])
    assert sparse.issparse(read("X.mtx", labels="y.npy", sparse=True)[0].X)
    np.save(tmp_path / "o.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    refused("holds Python objects", "o.npy", labels="y.npy")
    for array, words in (
        (X + 1j, "complex numbers"),
        (np.zeros(30, [("a", "f8"), ("b", "f8")]), "the fields a, b"),
        (X[:, 0], r"an array of shape \(30,\)"),
    ):
        np.save(tmp_path / "odd.npy", array)
        refused(words, "odd.npy", labels="y.npy")


def test_images_in_an_array_are_a_row_each_and_said(tmp_path, read):
    np.savez(tmp_path / "img.npz", X=X.reshape(30, 2, 4), y=CODES)
    data, lines = read("img.npz", label="y")
    is_right(data)
    assert "30 x 2 x 4 is taken as 30 samples" in lines[0]
    io.savemat(tmp_path / "img.mat", {"X": np.moveaxis(X.reshape(30, 2, 4), 0, -1), "y": CODES})
    is_right(read("img.mat", label="y", transposed=True)[0])


def test_samples_that_are_columns_are_said_to_be(tmp_path, read, refused):
    io.savemat(tmp_path / "t.mat", {"X": X.T, "Y": CODES})
    pd.DataFrame(X.T).to_csv(tmp_path / "X.csv", index=False, header=False)
    pd.Series(CODES).to_csv(tmp_path / "y.csv", index=False, header=False)
    for file, options in (("t.mat", {"label": "Y"}), ("X.csv", {"labels": "y.csv"})):
        refused("8 samples have 30 labels.*transposed=true", file, **options)
        is_right(read(file, transposed=True, **options)[0])


def test_structures_and_views_of_matlab_are_read(tmp_path, read, refused):
    io.savemat(tmp_path / "s.mat", {"dataset": {"X": X, "y": CODES, "deep": {"n": 3}}})
    is_right(read("s.mat", x="dataset.X", label="dataset.y")[0])
    refused(r"It holds dataset.X, dataset.y, dataset.deep.n", "s.mat", label="y")
    views = np.empty((1, 2), dtype=object)
    views[0, 0], views[0, 1] = X[:, :3].T, X[:, 3:].T
    io.savemat(tmp_path / "v.mat", {"data": views, "gt": CODES[:, None]})
    is_right(read("v.mat", x="data", label="gt", transposed=True)[0])
    refused("or say transposed=true", "v.mat", x="data", label="gt")


def test_a_matlab_file_of_version_7_3_is_read(tmp_path, read):
    with h5py.File(tmp_path / "t.mat", "w", userblock_size=512) as file:
        file["X"], file["Y"] = X.T, CODES[None, :]
        for name in "XY":
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
        packed = sparse.csc_array(X)
        group = file.create_group("S")
        group["data"], group["ir"], group["jc"] = packed.data, packed.indices, packed.indptr
        group.attrs["MATLAB_sparse"], group.attrs["MATLAB_class"] = np.uint64(30), np.bytes_("double")
        file["all/X"], file["all/names"] = X.T, np.array([[ord(one)] for one in "abc"], dtype="u2")
        file["all/names"].attrs["MATLAB_class"] = np.bytes_("char")
        refs = file.create_group("#refs#")
        for place, code in enumerate(CODES):
            refs[f"c{place}"] = np.array([[ord("abc"[code])]], dtype="u2")
            refs[f"c{place}"].attrs["MATLAB_class"] = np.bytes_("char")
        cells = np.array([[refs[f"c{place}"].ref for place in range(30)]], dtype=h5py.ref_dtype)
        file.create_dataset("words", data=cells, dtype=h5py.ref_dtype)
    with open(tmp_path / "t.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")
    for x, label in (("X", "Y"), ("S", "Y"), ("all.X", "words")):
        is_right(read("t.mat", x=x, label=label)[0])


def test_lines_above_the_names_and_delimiters_at_the_end(tmp_path, read, refused):
    names, _, rows = PLAIN.partition("\n")
    for text, options in (
        ("# made by a tool\n# units: mm\n" + PLAIN, {}),
        ("#" + PLAIN, {}),
        ("Table 1: all samples\n\n" + PLAIN, {"skip_rows": 2}),
        (names + ",\n" + rows, {}),
        (PLAIN.replace("\n", ",\n"), {}),
        (PLAIN.replace("\n", ",\n"), {"label": -1}),
        (rows.replace("\n", ",\n"), {"label": -1}),
        (PLAIN.replace("f0", '"f\n0"'), {}),
        (PLAIN.replace(",label", ",label\u00a0 "), {}),
    ):
        (tmp_path / "t.csv").write_text(text, encoding="utf-8")
        is_right(read("t.csv", **({"label": "label"} | options))[0])
    np.savetxt(tmp_path / "t.txt", np.column_stack([X, CODES]), header="a b c d e f g h label")
    data, _ = read("t.txt", label="label")
    is_right(data)
    assert data.feature_names == tuple("abcdefgh")


def test_names_are_equal_where_they_look_so(tmp_path, read, refused):
    name = unicodedata.normalize("NFD", "Größe")
    NAMED.rename(columns={"label": f" {name}\u00a0"}).to_csv(tmp_path / "t.csv", index=False, encoding="utf-8")
    is_right(read("t.csv", label="Größe")[0])
    NAMED.assign(**{"label ": 1}).to_csv(tmp_path / "t.csv", index=False)
    refused("2 columns 'LABEL'|2 columns ' label'", "t.csv", label=" label")


def test_libsvm_files_with_texts_or_faults_are_read_or_named(tmp_path, read, refused):
    rows = [" ".join(f"{j + 1}:{value}" for j, value in enumerate(x)) for x in X.tolist()]
    (tmp_path / "t.svm").write_text("\n".join(f"{'abc'[code]} {row}" for row, code in zip(rows, CODES, strict=True)))
    is_right(read("t.svm")[0])
    (tmp_path / "t.svm.bz2").write_bytes(bz2.compress((tmp_path / "t.svm").read_bytes()))
    is_right(read("t.svm.bz2")[0])
    for line, words in (
        ("1,2 1:1", "line 1 begins with '1,2', several labels"),
        ("1 3:1 2:1", "line 1 must be a label and pairs .* must rise"),
        ("1 a:1", "line 1 must be a label and pairs"),
        ("1:1 2:1", "line 1 begins with '1:1', no label"),
    ):
        (tmp_path / "t.svm").write_text(line + "\n2 1:1\n")
        refused(words, "t.svm")


@pytest.mark.parametrize("ending", ["mat", "npz", "npy", "parquet", "xlsx", "rds", "h5ad", "arff", "svm", "mtx"])
def test_a_file_of_ones_own_is_never_to_be_fetched_again(tmp_path, read, ending):
    (tmp_path / f"t.{ending}").write_bytes(b"\x89PNG\x00\xff" * 200)
    with pytest.raises(DataError) as error:
        read(f"t.{ending}", **({} if ending == "svm" else {"label": "y"}))
    assert "fetch it again" not in str(error.value) and "\n" not in str(error.value)
