"""Data of one's own in a file or several: what `own_spec` makes of the words, and what its specification gives."""

import re

import numpy as np
import pytest
import yaml
from small_data import CODES, X, write_mat
from test_loaders import write_arff, write_npz

from ufs_bench.datasets import DataError, load_dataset, read_spec
from ufs_bench.datasets.load import user_dirs
from ufs_bench.datasets.own import complete, own_spec
from ufs_bench.datasets.spec import check_spec
from ufs_bench.scripts.add_data import as_yaml

pytestmark = pytest.mark.usefixtures("cache")
Y = ["b", "a", "b", "a", "c", "c"]


def write_csv(path):
    rows = [",".join(map(str, (*x, y))) for x, y in zip(X, Y, strict=True)]
    path.write_text("\n".join(["p,q,r,s,kind", *rows]))


FILES = [  # with the label, and what tells the samples from it where it is none
    ("My data.csv", write_csv, "kind", {"ignore": ["kind"]}),
    ("d.npz", write_npz, "Y", {"x": "X"}),
    ("d.mat", write_mat, "Y", {"x": "X"}),
    ("d.arff", write_arff, "Class", {"ignore": ["Class"]}),
]
every_file = pytest.mark.parametrize(("file", "write", "label", "samples"), FILES, ids=[file for file, *_ in FILES])


@every_file
def test_a_file_and_its_label_make_a_data_set_that_its_written_specification_makes_again(
    tmp_path, file, write, label, samples
):
    write(tmp_path / file)
    spec, folder = own_spec(tmp_path / file, label=label)
    data = load_dataset(spec, folder)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, CODES)
    whole = check_spec(yaml.safe_load(yaml.safe_dump(complete(spec, data))))
    assert (whole["samples"], whole["features"], whole["classes"], whole["data_sha256"]) == (6, 4, 3, data.sha)
    assert load_dataset(whole, folder).sha == data.sha
    assert spec["name"] == ("my_data" if file == "My data.csv" else "d")


@every_file
def test_without_labels_the_number_of_clusters_takes_their_place(tmp_path, file, write, label, samples):
    write(tmp_path / file)
    spec, folder = own_spec(tmp_path / file, label="none", clusters=3, **samples)
    data = load_dataset(spec, folder)
    assert data.y is None and data.n_classes == 3 and data.n_samples == 6
    whole = complete(spec, data)
    assert whole["classes"] is None and load_dataset(whole, folder).sha == data.sha
    assert load_dataset(whole | {"clusters": 2, "data_sha256": None}, folder).sha != data.sha


def test_a_file_whose_label_is_not_said_lists_what_it_may_be(tmp_path):
    write_csv(tmp_path / "d.csv")
    with pytest.raises(DataError, match=re.escape("label=NAME (it has p, q, r, s, kind); label=none")):
        own_spec(tmp_path / "d.csv")
    write_npz(tmp_path / "d.npz")
    with pytest.raises(DataError, match=re.escape("label=NAME (it holds X, Y)")):
        own_spec(tmp_path / "d.npz")


def test_data_without_labels_need_a_number_of_clusters_and_with_labels_take_none(tmp_path):
    write_csv(tmp_path / "d.csv")
    spec, folder = own_spec(tmp_path / "d.csv", label="none", ignore=["kind"])
    with pytest.raises(DataError, match="d has no labels: say how many clusters to look for, clusters=K"):
        load_dataset(spec, folder)
    spec, folder = own_spec(tmp_path / "d.csv", label="none", ignore=["kind"], clusters=7)
    with pytest.raises(DataError, match="clusters=7 must be at most 6, the number of samples"):
        load_dataset(spec, folder)
    spec, folder = own_spec(tmp_path / "d.csv", label="kind", clusters=3)
    with pytest.raises(DataError, match="d has labels, whose classes are the clusters: leave clusters=3 out"):
        load_dataset(spec, folder)


def test_missing_values_are_an_error_until_it_is_said_what_takes_their_place(tmp_path):
    (tmp_path / "d.csv").write_text("p,q,kind\n1,,a\n2,4,b\n,5,a\n4,9,a\n")
    with pytest.raises(DataError, match=r"2 values that are not finite.*fill=median takes the median.*fill=drop"):
        load_dataset(*own_spec(tmp_path / "d.csv", label="kind"))
    (tmp_path / "one.csv").write_text("p,q,kind\n1,,a\n2,4,b\n")
    with pytest.raises(DataError, match=r"X has 1 value that is not finite, the first \(nan\) in sample 0, feature 1"):
        load_dataset(*own_spec(tmp_path / "one.csv", label="kind"))
    (tmp_path / "none.csv").write_text("p,q,kind\n1,,a\n2,,b\n")
    for fill, words in (("median", "feature 1 has no value at all"), ("drop", "leaves none: take fill=median")):
        with pytest.raises(DataError, match=words):
            load_dataset(*own_spec(tmp_path / "none.csv", label="kind", fill=fill))
    (tmp_path / "label.csv").write_text("p,q,kind\n1,2,a\n2,4,\n3,5,b\n4,,a\n")
    data = load_dataset(*own_spec(tmp_path / "label.csv", label="kind", fill="drop"))
    assert data.X.tolist() == [[1, 2], [3, 5]] and data.y.tolist() == [0, 1]
    assert load_dataset(*own_spec(tmp_path / "d.csv", label="kind", fill="drop")).X.tolist() == [[2, 4], [4, 9]]
    data = load_dataset(*own_spec(tmp_path / "d.csv", label="kind", fill="median"))
    assert data.X.tolist() == [[1, 5], [2, 4], [2, 5], [4, 9]] and data.y.tolist() == [0, 1, 0, 0]


def test_a_label_whose_name_two_columns_have_is_refused_and_its_number_is_taken(tmp_path):
    (tmp_path / "d.csv").write_text("p,kind,kind\n1,0,7\n2,1,7\n4,0,8\n")
    with pytest.raises(DataError, match="d.csv has 2 columns 'kind': name one by its number, from 0"):
        load_dataset(*own_spec(tmp_path / "d.csv", label="kind"))
    assert load_dataset(*own_spec(tmp_path / "d.csv", label=2)).y.tolist() == [0, 0, 1]


def test_an_openml_data_set_needs_its_number_alone():
    spec, folder = own_spec("openml:61")
    assert folder is None and spec["name"] == "openml_61"
    assert spec["sources"] == [
        {"file": "openml_61.npz", "format": "npz", "options": {"x": "X", "y": "y"}, "openml": 61}
    ]
    assert own_spec("openml:61", label="none", clusters=3)[0]["sources"][0]["options"] == {"x": "X"}
    with pytest.raises(DataError, match="an OpenML data set states its label"):
        own_spec("openml:61", label="kind")


def test_a_specification_of_a_file_of_ones_own_needs_a_name_and_a_source(tmp_path, monkeypatch):
    write_csv(tmp_path / "d.csv")
    (tmp_path / "mine.yaml").write_text("name: mine\nsources: [{file: d.csv, format: csv, options: {y: kind}}]\n")
    monkeypatch.setattr("ufs_bench.datasets.spec.FOLDER", tmp_path)
    assert (read_spec("mine")["paper_name"], read_spec("mine")["samples"]) == ("mine", None)
    assert load_dataset("mine", tmp_path).n_classes == 3


def test_several_folders_are_searched_in_their_order(tmp_path, monkeypatch):
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
    write_csv(tmp_path / "two" / "d.csv")
    spec, _ = own_spec(tmp_path / "two" / "d.csv", label="kind")
    both = f"{tmp_path / 'one'}:{tmp_path / 'two'}"
    assert user_dirs(both) == [tmp_path / "one", tmp_path / "two"]
    monkeypatch.setenv("UFS_DATA_DIR", both)
    assert load_dataset(spec, download=False).n_samples == 6
    write_csv(tmp_path / "one" / "d.csv")
    (tmp_path / "two" / "d.csv").write_text("another file")
    assert load_dataset(spec, download=False).n_samples == 6
    (tmp_path / "a:b").mkdir()
    assert user_dirs(tmp_path / "a:b") == [tmp_path / "a:b"]
    with pytest.raises(DataError, match="three' .*is no folder"):
        user_dirs(f"{both}:{tmp_path / 'three'}")


TRAIN, TEST = "p,q,kind\n1,2,a\n3,-9,b\n", "p,q,kind\n5,6,a\nunknown,8,c\n"


@pytest.fixture
def folder(tmp_path):
    texts = {
        "train.csv": TRAIN, "test.csv": TEST, "odd.dat1": TRAIN, "types.csv": "id,kind,age\ns2,b,1\ns1,a,2\nx,a,3\n",
        "genes.tsv": "gene\ts1\ts2\tg0\ng1\t1\t2\t3\ng2\t4\t5\t6\n", "colour.csv": "c,p,kind\nred,1,a\nblue,2,b\n",
        "cells.csv": "p,kind\n1,liver_1\n2,lung_2\n", "codes.csv": "p,q,kind\n1,6,a\n6,6,b\n0,1,b\n", "empty.csv": "",
        "umist.csv": TRAIN, "d.xls": "", "d.svm": "1 1:2\n", "d.npz": "<html></html>",
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
        ("nowhere.csv", {"label": "y"}, "nowhere.csv' is no file"),
        ("train.csv,{folder}/umist.csv", {"label": "kind"}, "is no file. One run takes one data set; several parts of"),
        ("d.xls", {"label": "y"}, "must end with one of .csv, .tsv,"),
        ("d.npz", {"label": "kind"}, "d.npz is an HTML page, and no file of the format npz"),
        ("train.csv", {"label": "kind", "x": "values"}, "x='values' has no meaning for"),
        ("train.csv", {"label": "kind", "name": "Mine!"}, "name='Mine!' must be letters, digits and _"),
        ("train.csv", {"label": "kind", "name": "größe"}, "name='größe' must be letters, digits and _ of ASCII"),
        ("umist.csv", {"label": "kind"}, "name='umist' is that of a data set of conf/dataset: give another one"),
        ("d.svm", {"label": "kind"}, "a LIBSVM file begins every line with its label"),
        ("train.csv", {"label": "kind", "fill": "mean"}, "fill='mean' must be a number or one of error, median, drop"),
        ([], {"label": "kind"}, "data=[] names no file"),
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
        ("train.csv", {"label": "kind", "sparse": True}, "sparse=True has no meaning for"),
    ],
)
def test_what_cannot_be_taken_is_said(folder, data, options, words):
    data = data.format(folder=folder) if isinstance(data, str) else data
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
