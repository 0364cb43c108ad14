"""Data of one's own in several files, with labels elsewhere, in any format: what `own_spec` makes of the words."""

import re

import numpy as np
import pytest
import yaml

from ufs_bench.datasets import DataError, load_dataset
from ufs_bench.datasets.own import complete, own_spec
from ufs_bench.datasets.spec import check_spec
from ufs_bench.scripts.add_data import as_yaml

pytestmark = pytest.mark.usefixtures("cache")
TRAIN, TEST = "p,q,kind\n1,2,a\n3,-9,b\n", "p,q,kind\n5,6,a\nunknown,8,c\n"


@pytest.fixture
def folder(tmp_path):
    texts = {
        "train.csv": TRAIN, "test.csv": TEST, "odd.dat1": TRAIN, "types.csv": "id,kind,age\ns2,b,1\ns1,a,2\nx,a,3\n",
        "genes.tsv": "gene\ts1\ts2\tg0\ng1\t1\t2\t3\ng2\t4\t5\t6\n", "colour.csv": "c,p,kind\nred,1,a\nblue,2,b\n",
        "cells.csv": "p,kind\n1,liver_1\n2,lung_2\n", "codes.csv": "p,q,kind\n1,6,a\n6,6,b\n0,1,b\n", "empty.csv": "",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "test.csv").write_text(TEST)
    return tmp_path


def load(folder, data, **options):
    """Load own data, and check that the file that add_data writes gives the same."""
    data = [folder / one for one in data] if isinstance(data, list) else folder / data
    spec, there = own_spec(data, **options)
    assert there == folder
    found = load_dataset(spec, there)
    written = check_spec(yaml.safe_load(as_yaml(complete(spec, found))))
    assert load_dataset(written, folder).sha == found.sha
    return found


def test_two_files_and_what_stands_for_missing_values(folder):
    data = load(folder, ["train.csv", "test.csv"], label="kind", missing=[-9, "unknown"], fill=0)
    assert data.X.tolist() == [[1, 2], [3, 0], [5, 6], [0, 8]]
    assert data.y.tolist() == [0, 1, 0, 2] and data.name == "train"


def test_labels_of_a_table_of_their_own(folder):
    words = {"transposed": True, "names": 0, "label": "kind", "key": "id", "labels": folder / "types.csv"}
    with pytest.raises(DataError, match="1 of 3 samples have no label, the first being 'g0'"):
        load(folder, "genes.tsv", **words)
    data = load(folder, "genes.tsv", others="drop", **words)
    assert data.X.tolist() == [[1, 4], [2, 5]] and data.y.tolist() == [0, 1]


def test_a_file_of_any_ending_is_read_in_the_format_that_is_said(folder):
    assert load(folder, "odd.dat1", label="kind", format="csv").X.tolist() == [[1, 2], [3, -9]]


def test_texts_parts_of_labels_and_steps(folder):
    assert load(folder, "colour.csv", label="kind", onehot=True).X.tolist() == [[0, 1, 1], [1, 0, 2]]
    assert load(folder, "colour.csv", label="kind", onehot="c").X.tolist() == [[0, 1, 1], [1, 0, 2]]
    assert load(folder, "cells.csv", label="kind", label_pattern=r"(\w+)_\d").y.tolist() == [0, 1]
    data = load(folder, "codes.csv", label="kind", steps=[{"recode": [[1, 1], [6, -1]]}, {"known": 1}])
    assert data.X.tolist() == [[1, -1], [-1, -1]] and data.y.tolist() == [0, 1]
    both = load(folder, "train.csv", label=["kind", "p"], ignore_rows=None)
    assert both.X.tolist() == [[2], [-9]]


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (["train.csv", "else/test.csv"], {"label": "kind"}, "must be in one folder: copy or link them there"),
        (["train.csv", "genes.tsv"], {"label": "kind"}, "has other columns than"),
        (["train.csv", "empty.csv"], {"label": "kind"}, "empty.csv is empty"),
        ("odd.dat1", {"label": "kind"}, "which says its format; or say format=csv"),
        ("odd.dat1", {"label": "kind", "format": "text"}, "format='text' must be one of csv, npz, mat"),
        ("train.csv", {"label": "kind", "key": "id"}, "key='id' has no meaning for"),
        ("train.csv", {"label": "none", "labels": "types.csv"}, "labels=types.csv has no meaning for train.csv"),
        ("train.csv", {"label": "kind", "columns": "some"}, "columns='some' must be one of same, common"),
        ("train.csv", {"label": "kind", "label_pattern": "a"}, "must be a regular expression with one group, not 0"),
        ("train.csv", {"label": "kind", "label_pattern": "(a"}, "must be a regular expression with one group"),
        ("train.csv", {"label": "kind", "steps": [{"log": True}]}, "must be a mapping of one of missing, recode"),
        ("train.csv", {"label": "kind", "sparse": True}, "sparse=True has no meaning for"),
    ],
)
def test_what_cannot_be_taken_is_said(folder, data, options, words):
    with pytest.raises(DataError, match=re.escape(words)):
        load(folder, data, **options)


def test_matrices_take_what_has_a_meaning_for_them(folder):
    np.savez(folder / "m.npz", X=np.arange(8.0).reshape(2, 4), y=["a", "b", "a", "c"])
    assert load(folder, "m.npz", label="y", x="X", transposed=True).X.shape == (4, 2)
    with pytest.raises(DataError, match="names=0 has no meaning for"):
        load(folder, "m.npz", label="y", names=0)
    with pytest.raises(DataError, match=r"missing=\['-'\] has no meaning for"):
        load(folder, "m.npz", label="y", missing="-")
    assert load(folder, "m.npz", label="y", x="X", transposed=True, missing=7, fill="drop").n_samples == 3


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (",p,q,kind\n0,1,2,a\n1,3,4,b\n", {"label": 3}),
        (",p,q,kind\n0,1,2,a\n1,3,4,b\n", {"label": "-1"}),
        ("cell,kind,p,q\nc1,a,1,2\nc2,b,3,4\n", {"label": 1, "names": 0}),
        ("cell,kind,p,r,q\nc1,a,1,7,2\nc2,b,3,7,4\n", {"label": "1", "names": "cell", "ignore": [3]}),
        ("c1,a,1,2\nc2,b,3,4\n", {"label": 1, "names": 0}),
    ],
)
def test_numbers_of_columns_are_those_of_the_file(tmp_path, text, options):
    (tmp_path / "own.csv").write_text(text)
    found = load(tmp_path, "own.csv", **options)
    assert found.X.tolist() == [[1, 2], [3, 4]] and found.y.tolist() == [0, 1]


def test_names_that_are_numbers_are_not_taken_for_a_sample(tmp_path):
    (tmp_path / "own.csv").write_text("1,2,kind\n5,6,a\n7,8,b\n7,9,b\n")
    with pytest.raises(DataError, match="besides the first has the label 'kind': say header=true"):
        load(tmp_path, "own.csv", label=-1)
    assert load(tmp_path, "own.csv", label=-1, header=True).X.tolist() == [[5, 6], [7, 8], [7, 9]]
    assert load(tmp_path, "own.csv", label=-1, header=False).n_classes == 3


def test_labels_of_several_columns_keep_all_their_digits(tmp_path):
    (tmp_path / "own.csv").write_text("day,plate,p\n2301010,0,1\n2301011,0,2\n2301010,1,3\n2301011,0.1234567,4\n")
    assert load(tmp_path, "own.csv", label=["day", "plate"]).n_classes == 4


def test_the_index_of_shuffled_rows_is_no_feature(tmp_path):
    (tmp_path / "own.csv").write_text(",p,q,kind\n7,1,2,a\n2,3,4,b\n3,5,6,b\n")
    assert load(tmp_path, "own.csv", label="kind").X.tolist() == [[1, 2], [3, 4], [5, 6]]
    (tmp_path / "own.csv").write_text(",p,q,kind\n7,1,2,a\n2,3,4,b\n7,5,6,b\n")
    assert load(tmp_path, "own.csv", label="kind").n_features == 3
