"""First lines of numbers, indices, marks of thousands and identifiers in the files that users have."""

import re

import numpy as np
import pandas as pd
import pytest
from users_files import CODES, FRAME, NAMED, X, is_right

from ufs_bench.datasets import DataError
from ufs_bench.datasets.given import as_dataset
from ufs_bench.datasets.remarks import remarks

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


def test_the_index_that_pandas_writes_above_numbers_is_left_out_and_named_once(tmp_path, read, refused):
    FRAME.to_csv(tmp_path / "t.csv")
    for fill in (None, "median"):
        is_right(read("t.csv", label=-1, fill=fill)[0])
    NAMED.to_csv(tmp_path / "named.csv")
    said = [read("named.csv", label="label")[1] for _ in range(2)]
    assert said[0][0].endswith("has no name and numbers the rows, in some order: it is left out.")
    assert [len(lines) for lines in said] == [1, 0]
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
