"""Files as users have them: what a program has written for another purpose is read, or refused in one clear line."""

import bz2
import gzip
import lzma
import re
import tarfile
import unicodedata
from io import BytesIO

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from ufs_bench.datasets import DataError, load_dataset
from ufs_bench.datasets.base import say
from ufs_bench.datasets.given import as_dataset
from ufs_bench.datasets.own import own_spec
from ufs_bench.datasets.remarks import remarks

pytestmark = pytest.mark.usefixtures("cache")
CODES = np.repeat([0, 1, 2], 10)
X = (np.random.default_rng(3).normal(size=(30, 8)) + 3 * np.eye(8)[CODES]).round(3)
FRAME = pd.DataFrame(X).assign(label=CODES)
NAMED = pd.DataFrame(X, columns=[f"f{j}" for j in range(8)]).assign(label=np.array(list("abc"))[CODES])
PLAIN = NAMED.to_csv(index=False)


@pytest.fixture
def read(tmp_path, caplog):
    """Return a function that loads files of `tmp_path`, and the lines that it logs."""
    say.cache_clear()

    def load(data, **options):
        caplog.clear()
        options = {key: value if key != "labels" else tmp_path / value for key, value in options.items()}
        data = [tmp_path / one for one in data] if isinstance(data, list) else tmp_path / data
        return load_dataset(*own_spec(data, **options)), [record.getMessage() for record in caplog.records]

    return load


@pytest.fixture
def refused(read):
    """Return a function that checks the error of files that cannot be read so."""

    def check(words, data, **options):
        with pytest.raises(DataError, match=words):
            read(data, **options)

    return check


def is_right(data, rounded=False):
    np.testing.assert_allclose(data.X, X, rtol=1e-6 if rounded else 0)
    assert data.y.tolist() == CODES.tolist()


WAVES = [400 + 2 * j for j in range(8)]
HEADERS = {
    "pandas' own names": (FRAME, {}, {"label": -1}),
    "counted from 1": (FRAME.set_axis(range(1, 10), axis=1), {}, {"label": -1}),
    "the label by its name": (FRAME, {}, {"label": "8"}),
    "semicolons": (FRAME, {"sep": ";"}, {"label": -1}),
    "decimal commas": (FRAME, {"sep": ";", "decimal": ","}, {"label": -1}),
    "wavelengths": (FRAME.set_axis([*WAVES, 900], axis=1), {}, {"label": -1}),
    "wavelengths that fall": (FRAME.set_axis([*WAVES[::-1], 900], axis=1), {}, {"label": -1}),
    "wavelengths with fractions": (FRAME.set_axis([*(one + 0.5 for one in WAVES), "kind"], axis=1), {}, {"label": -1}),
    "numbers in no order": (
        FRAME.set_axis([7157, 672, 675, 1956, 3845, 2064, 4609, 5290, 1], axis=1),
        {},
        {"label": 8},
    ),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_first_line_of_numbers_is_taken_as_names_and_said(tmp_path, read, case):
    table, writing, options = HEADERS[case]
    table.to_csv(tmp_path / "t.csv", index=False, **writing)
    data, lines = read("t.csv", **options)
    is_right(data)
    assert data.feature_names == tuple(map(str, table.columns[:8])) and len(lines) == 1
    assert "is taken as names" in lines[0] and "header=false" in lines[0]


@pytest.mark.parametrize(
    "first", ["3,1,4,9", "0.5,0.1,0.3,9", "901,7,880,9"], ids=["a label of one sample", "that and fractions", "outside"]
)
def test_a_first_line_that_may_be_names_or_a_sample_is_asked_about(tmp_path, read, refused, first):
    values = np.random.default_rng(0).integers(10, 99, (30, 3))
    rows = [",".join(map(str, [*row, code])) for row, code in zip(values, CODES, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([first, *rows]))
    refused(r"header=true .*header=false", "t.csv", label=-1)
    assert read("t.csv", label=-1, header=True)[0].n_samples == 30
    assert read("t.csv", label=-1, header=False)[0].n_samples == 31


def test_samples_without_names_are_all_kept(tmp_path, read):
    for table in (FRAME, FRAME.iloc[::-1], FRAME.astype(int), NAMED):
        table.to_csv(tmp_path / "t.csv", index=False, header=False)
        data, lines = read("t.csv", label=-1)
        assert data.n_samples == 30 and data.n_classes == 3 and not lines
    rise = np.cumsum(np.abs(X), axis=1)  # spectra that rise themselves
    pd.DataFrame(rise).assign(label=CODES).to_csv(tmp_path / "t.csv", index=False, header=False)
    assert read("t.csv", label=-1)[0].n_samples == 30


def test_labels_in_a_file_of_their_own_have_a_name_as_pandas_writes_one(tmp_path, read, refused):
    FRAME.drop(columns="label").to_csv(tmp_path / "X.csv", index=False)
    labels = {"0": pd.Series(CODES), "kind": pd.Series(CODES, name="kind"), "text": pd.Series(NAMED["label"])}
    for label in labels.values():
        label.to_csv(tmp_path / "y.csv", index=False)
        is_right(read("X.csv", labels="y.csv")[0])
        label.to_csv(tmp_path / "y.csv", index=False, header=False)
        is_right(read("X.csv", labels="y.csv")[0])
    np.save(tmp_path / "X.npy", X)
    pd.Series(CODES).to_csv(tmp_path / "y.csv", index=False)
    refused("31 lines, one too many for the samples: say label_header=true", "X.npy", labels="y.csv")
    is_right(read("X.npy", labels="y.csv", label_header=True)[0])


def test_several_files_have_no_false_sample_each(tmp_path, read):
    for name, rows in (("a.csv", slice(0, 15)), ("b.csv", slice(15, 30))):
        FRAME[rows].to_csv(tmp_path / name, index=False)
    data, lines = read(["a.csv", "b.csv"], label=-1)
    is_right(data)
    assert "is taken as names" in lines[0]


def test_the_index_that_pandas_writes_above_numbers_is_left_out(tmp_path, read, refused):
    FRAME.to_csv(tmp_path / "t.csv")
    for fill in (None, "median"):
        is_right(read("t.csv", label=-1, fill=fill)[0])
    FRAME.set_axis(range(9), axis=1).to_csv(tmp_path / "t.csv")
    refused("a column called 8, which is not its column number 8", "t.csv", label=8)


@pytest.mark.parametrize("names", [{"names": 0}, {}])
def test_a_transposed_table_with_names_that_are_numbers_has_no_false_sample(tmp_path, read, names):
    pd.DataFrame(X.T).to_csv(tmp_path / "t.csv")
    data, _ = read("t.csv", transposed=True, label="none", clusters=3, **names)
    np.testing.assert_array_equal(data.X, X)
    assert "nan" not in data.feature_names


def test_a_sheet_of_numbers_has_its_names_or_its_first_sample(tmp_path, read, refused):
    for header in (True, False):
        with pd.ExcelWriter(tmp_path / "t.xlsx") as file:
            pd.DataFrame({"readme": ["see the other sheet"]}).to_excel(file, sheet_name="info", index=False)
            FRAME.to_excel(file, sheet_name="data", index=False, header=header)
        is_right(read("t.xlsx", label=-1, sheet="data")[0])
    refused("no column 'label'; it has readme. Other sheets are data: sheet=NAME", "t.xlsx", label="label")
    refused("has no sheet 'Daten'; it has info, data", "t.xlsx", label="label", sheet="Daten")


def test_rows_of_other_indices_are_not_paired():
    frame, y = pd.DataFrame({"a": range(20), "b": np.arange(20) % 3}), pd.Series(np.repeat(["u", "v"], 10))
    for X_, y_ in (
        (frame.drop(19), y.drop(0)),
        (frame.drop(19), y.drop(0).to_frame()),
        (frame.sample(15, random_state=0), y.sample(15, random_state=1)),
        (frame.set_axis(list("abcdefghijklmnopqrst")), y.set_axis(list("bcdefghijklmnopqrstu"))),
    ):
        with pytest.raises(DataError, match="different indices"):
            as_dataset(X_, y_)
    assert as_dataset(frame, y).n_samples == as_dataset(frame.drop([0, 19]), y.to_numpy()[1:19]).n_samples + 2
    assert as_dataset(frame, y.set_axis(range(50, 70))).n_samples == 20


@pytest.mark.parametrize(("mark", "separator"), [(",", "\t"), (",", ";"), (".", "\t"), (".", ";")])
def test_marks_of_thousands_are_asked_about(tmp_path, read, refused, mark, separator):
    rows = [f"{value:,}".replace(",", mark) + f"{separator}{value % 7}" for value in range(990, 1020, 2)]
    lines = [f"{row}{separator}{'ab'[place % 2]}" for place, row in enumerate(rows)]
    (tmp_path / "t.tsv").write_text("\n".join([separator.join(("income", "age", "label")), *lines]))
    refused(f"thousands='{re.escape(mark)}' or decimal='{re.escape(mark)}'", "t.tsv", label="label")
    assert read("t.tsv", label="label", thousands=mark)[0].X[:, 0].tolist() == list(range(990, 1020, 2))
    assert read("t.tsv", label="label", decimal=mark)[0].X[-1, 0] == 1.018


def test_decimals_with_three_digits_are_decimals(tmp_path, read):
    for separator, decimal in ((";", ","), ("\t", ","), ("\t", "."), (",", ".")):
        NAMED.to_csv(tmp_path / "t.csv", index=False, sep=separator, decimal=decimal, float_format="%.3f")
        is_right(read("t.csv", label="label")[0])


def test_an_identifier_is_pointed_out():
    rng = np.random.default_rng(0)
    for column in (rng.permutation(900000)[:30], 1000 + rng.permutation(30), np.cumsum(1 + rng.integers(1, 9, 30))):
        data = as_dataset(pd.DataFrame(X).assign(patient_id=column).rename(columns=str), CODES, "mine")
        assert any("patient_id look like identifiers" in line for line in remarks(data))
    files = as_dataset(np.column_stack([X, np.tile(np.arange(15), 2)]), CODES, "mine")
    assert any("numbers the samples (number 8" in line for line in remarks(files))
    assert remarks(as_dataset(rng.integers(0, 9, (30, 8)), CODES, "mine")) == []


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


@pytest.mark.parametrize(
    ("file", "name"),
    [("数据.csv", "data_"), ("50%.csv", "data_50"), (".hidden.csv", "hidden"), ("Dätä-2 b.csv", "data_2_b")],
)
def test_a_file_of_any_name_gets_a_name_that_can_be_typed(tmp_path, read, file, name):
    NAMED.to_csv(tmp_path / file, index=False)
    assert read(file, label="label")[0].name.startswith(name)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_texts_of_other_systems_are_read(tmp_path, read, encoding, end):
    text = NAMED.to_csv(index=False, sep="\t").replace("\n", end).replace("\t-", "\t\u2212")
    (tmp_path / "t.txt").write_bytes(text.encode(encoding))
    is_right(read("t.txt", label="label")[0])


def with_a_line(row, text):
    """Return the table with a line in front of a row."""
    lines = PLAIN.splitlines()
    return "\n".join([*lines[: row + 1], text, *lines[row + 1 :]])


NUMBERS = FRAME.to_csv(index=False, header=False)
SPARE = {
    "units": (with_a_line(0, "mm," * 8), {"ignore_rows": [0]}, r"ignore_rows=\[0\] leaves it out"),
    "sums": (with_a_line(30, "Total," + "1," * 7 + "9"), {"ignore_rows": [30]}, r"ignore_rows=\[30\] leaves it out"),
    "names": (with_a_line(15, PLAIN.partition("\n")[0]), {"ignore_rows": [15]}, r"ignore_rows=\[15\] leaves it out"),
    "a title": ("Report,,,,,,,,\n,,,,,,,,\n" + PLAIN, {"skip_rows": 2}, "skip_rows=2 leaves out what is above"),
    "two lines of numbers": (
        "0,0,0,1,1,1,2,2,2\n0,1,2,0,1,2,0,1,2\n" + NUMBERS, {"skip_rows": 2}, "two lines of names: skip_rows=2"
    ),
    "numbers and ones": (
        "1,2,3,4,5,6,7,8,9\n1,1,1,1,1,1,1,1,1\n" + NUMBERS, {"skip_rows": 2}, "two lines of names: skip_rows=2"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SPARE)
def test_a_line_that_is_no_sample_is_pointed_out_and_left_out(tmp_path, read, refused, case):
    text, options, words = SPARE[case]
    (tmp_path / "t.csv").write_text(text)
    label = -1 if text.endswith(NUMBERS) else "label"
    refused(words, "t.csv", label=label)
    is_right(read("t.csv", label=label, **options)[0])


def test_names_that_are_numbers_and_are_repeated_are_pointed_out(tmp_path, refused):
    lines = FRAME.set_axis(range(9), axis=1).to_csv(index=False).splitlines()
    (tmp_path / "t.csv").write_text("\n".join([*lines[:9], lines[0], *lines[9:]]))
    refused(r"header=true|ignore_rows=\[8\]", "t.csv", label=-1)
    refused(r"the names are repeated in row 8 below them: say ignore_rows=\[8\]", "t.csv", label=-1, header=True)


def test_odd_values_and_labels_are_pointed_out():
    holes = X.copy()
    holes[5, 1] = -999
    assert any("-999 in number 1" in line for line in remarks(as_dataset(holes, CODES)))
    labels = NAMED["label"].to_numpy(dtype=object)
    labels[4] = "A"
    assert any("1 sample is the only one of its class (4" in line for line in remarks(as_dataset(X, labels)))
    summed = as_dataset(np.vstack([X, X.sum(axis=0)]), clusters=3)
    assert [line for line in remarks(summed) if "the last sample is the sum of all others" in line]
    large = np.column_stack([X, 2.0**53 + 2 * np.arange(30)])
    assert any("number 8" in line and "identifiers" in line for line in remarks(as_dataset(large, CODES)))


REFUSED = {
    "JSON": ('[{"a": 1}]', {}, "is a JSON file, and no file of the format csv"),
    "HTML": ("<!DOCTYPE html><html></html>", {}, "is an HTML page, and no file of the format csv"),
    "git-LFS": ("version https://git-lfs.github.com/spec/v1\noid x\n", {}, "is a git-LFS pointer instead of the data"),
    "a title": ("Table 1: all samples\n" + PLAIN, {}, "skip_rows=."),
    "a title of a sheet": ("Table 1" + 8 * "," + "\n" + PLAIN, {}, "skip_rows=."),
    "two marks": ('a,label\n"1,005",u\n"2,5",v\n"3,5",v\n', {}, "are read with decimal=',' or thousands=','"),
}
REFUSED |= {
    mark: (PLAIN.replace(",", mark), {}, f"{re.escape(mark)} between cells is not read: write a comma")
    for mark in ("^", ":", "||", "~")
}
MEANINGLESS = {"header": "maybe", "columns": "common", "transposed": "yes", "decimal": ";", "skip_rows": -1}
REFUSED |= {option: (PLAIN, {option: value}, f"{option}=") for option, value in MEANINGLESS.items()}


@pytest.mark.parametrize("case", REFUSED)
def test_a_text_that_is_no_table_and_options_without_a_meaning_are_refused(tmp_path, refused, case):
    text, options, words = REFUSED[case]
    (tmp_path / "t.csv").write_text(text)
    refused(words, "t.csv", label="label", **options)


def test_a_gct_file_is_read_with_its_title_and_descriptions_left_out(tmp_path, read):
    table = pd.DataFrame(X.T, columns=[f"s{i}" for i in range(30)])
    table.insert(0, "Description", "na")
    table.insert(0, "Name", [f"g{j}" for j in range(8)])
    (tmp_path / "t.gct").write_text("#1.2\n8\t30\n" + table.to_csv(index=False, sep="\t"))
    options = {"format": "csv", "transposed": True, "names": 0, "skip_rows": 2, "ignore": ["Description"]}
    data, _ = read("t.gct", label="none", clusters=3, **options)
    np.testing.assert_array_equal(data.X, X)


def test_a_first_line_that_is_too_short_is_no_header_unless_it_has_names(tmp_path, read, refused):
    rows = "".join(f"{3 * i % 7},{5 * i % 11},{i % 3},{i % 2}\n" for i in range(20))
    (tmp_path / "t.csv").write_text("4,2,1\n" + rows)
    refused("no table of equally long rows|header=true", "t.csv", label=-1)
    NAMED.set_index(NAMED.index.map("s{}".format)).to_csv(tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text().removeprefix(",")  # as R writes it
    (tmp_path / "t.csv").write_text(text)
    is_right(read("t.csv", label="label", names=0)[0])


def test_what_is_no_plain_text_is_named(tmp_path, refused):
    content = PLAIN.encode()
    (tmp_path / "wide.csv").write_bytes(PLAIN.encode("utf-16-le"))
    (tmp_path / "twice.csv.gz").write_bytes(gzip.compress(gzip.compress(content)))
    with tarfile.open(tmp_path / "tar.csv.gz", "w:gz") as archive:
        member = tarfile.TarInfo("x.csv")
        member.size = len(content)
        archive.addfile(member, BytesIO(content))
    for name, words in (("wide.csv", "UTF-16"), ("twice.csv.gz", "packed twice"), ("tar.csv.gz", "a tar archive")):
        refused(words, name, label="label")


def test_libsvm_files_of_one_data_set_count_features_in_the_same_way(tmp_path, read, refused):
    pairs = [" ".join(f"{j}:{value}" for j, value in enumerate(row)) for row in X]
    rows = [f"{code} {pair}" for code, pair in zip(CODES, pairs, strict=True)]
    (tmp_path / "train.svm").write_text("\n".join(rows[:15]))
    (tmp_path / "test.svm").write_text("\n".join(row.replace(" 0:", " 8:") for row in rows[15:]))  # not sorted
    refused("test.svm: line 1 must be", ["train.svm", "test.svm"])
    shifted = [" ".join([row.split()[0], *row.split()[2:], "8:1"]) for row in rows[15:]]
    (tmp_path / "test.svm").write_text("\n".join(shifted))
    found = read(["train.svm", "test.svm"])[0].X
    np.testing.assert_array_equal(found, np.column_stack([X, np.arange(30) > 14]) * (found != 0))
    assert found.shape == (30, 9) and (found[15:, 0] == 0).all() and (found[15:, 8] == 1).all()


def test_a_sample_without_any_value_is_filled_with_a_number_that_is_said_and_with_no_median(tmp_path, read, refused):
    (tmp_path / "x.csv").write_text(NAMED.drop(columns="label").to_csv(index=False) + "," * 7 + "\n")
    refused("sample 30 has no value at all", "x.csv", label="none", clusters=3, fill="median")
    assert read("x.csv", label="none", clusters=3, fill="drop")[0].X.shape == (30, 8)
    data, lines = read("x.csv", label="none", clusters=3, fill=-100)
    assert (data.X[30] == -100).all() and any("sample 30 has no value at all, and is -100" in one for one in lines)


@pytest.mark.parametrize("word", ["n/a", "<NA>", "-", "nan "])
def test_a_class_that_looks_like_a_missing_label_is_pointed_out(tmp_path, read, word):
    NAMED.replace({"label": {"b": word}}).to_csv(tmp_path / "x.csv", index=False)
    data, lines = read("x.csv", label="label")
    assert data.n_classes == 3 and any(f"the label {word.strip()!r} is a class" in line for line in lines)


def test_labels_that_are_neither_numbers_nor_texts_are_refused(tmp_path, read):
    for odd in (CODES + 1j, CODES.astype("M8[D]")):
        with pytest.raises(DataError, match="labels must be whole numbers or texts"):
            as_dataset(X, odd)


def test_missing_labels_and_lists_in_parquet_and_empty_cells_of_matlab(tmp_path, read, refused):
    NAMED.assign(label=NAMED.label.astype("string").mask(CODES == 1)).to_parquet(tmp_path / "x.parquet")
    pd.DataFrame({"v": list(X), "label": CODES}).to_parquet(tmp_path / "lists.parquet")
    words = np.array([["a"], ["b"], ["c"]], dtype=object)[CODES]
    words[4, 0] = np.zeros((0, 0))
    io.savemat(tmp_path / "x.mat", {"X": X, "y": words})
    assert read("x.parquet", label="label", fill="drop")[0].n_samples == 20
    assert read("x.mat", label="y", fill="drop")[0].n_samples == 29
    for options in ({}, {"onehot": True}):
        refused("a cell holds a list", "lists.parquet", label="label", **options)


def test_arrays_of_hdf5_that_matlab_did_not_write_are_said_to_be(tmp_path, read):
    with h5py.File(tmp_path / "x.mat", "w") as file:
        file["X"], file["y"] = X, CODES
    data, lines = read("x.mat", label="y", transposed=True)
    is_right(data)
    assert any("was not written by MATLAB" in line for line in lines)


def test_dates_are_not_taken_for_numbers_with_marks(tmp_path, read):
    NAMED.assign(day=pd.Timestamp("2020-01-01")).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError) as caught:
        read("x.parquet", label="label")
    assert "decimal" not in str(caught.value)


def test_a_blank_cell_between_blanks_is_no_narrower_table(tmp_path, read, refused):
    lines = [[f"{value:8.3f}" for value in row] + [f"{code:4d}"] for row, code in zip(X, CODES, strict=True)]
    (tmp_path / "t.txt").write_text("\n".join(map("".join, lines)))
    is_right(read("t.txt", label=-1)[0])
    for number, cells in enumerate(lines):
        cells[number % 8] = " " * 8
    (tmp_path / "t.txt").write_text("\n".join(map("".join, lines)))
    refused("each line has a blank cell", "t.txt", label=-1)


def test_a_matlab_file_of_version_4_and_a_file_with_a_column_for_each_class_are_read(tmp_path, read):
    io.savemat(tmp_path / "x.mat", {"X": X, "y": CODES[:, None] + 0.0}, format="4")
    is_right(read("x.mat", label="y")[0])
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", np.eye(3)[CODES])
    is_right(read("x.npy", labels="y.npy")[0])


def test_a_cell_that_is_no_number_is_no_reason_to_leave_its_row_out(tmp_path, read):
    (tmp_path / "t.csv").write_text(PLAIN.replace(f"{X[0, 0]}", "0x1A", 1))
    with pytest.raises(DataError) as caught:
        read("t.csv", label="label")
    assert "ignore_rows" not in str(caught.value)
