"""Odd files that users have: the right value, or one clear line."""

import gzip
import re
import tarfile
from io import BytesIO

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import io
from users_files import CODES, FRAME, NAMED, PLAIN, X, is_right

from ufs_bench.datasets import DataError
from ufs_bench.datasets.given import as_dataset
from ufs_bench.datasets.remarks import remarks


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
