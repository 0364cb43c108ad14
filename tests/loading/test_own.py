"""Data of one's own: a file and the name of its labels make a data set, and a specification that gives the same."""

import re

import numpy as np
import pytest
import yaml
from scipy.io import savemat
from small_data import CODES, X

from ufs_bench.datasets import DataError, load_dataset, read_spec
from ufs_bench.datasets.load import user_dirs
from ufs_bench.datasets.own import complete, own_spec
from ufs_bench.datasets.spec import check_spec

pytestmark = pytest.mark.usefixtures("cache")
Y = ["b", "a", "b", "a", "c", "c"]


def write_csv(path):
    rows = [",".join(map(str, (*x, y))) for x, y in zip(X, Y, strict=True)]
    path.write_text("\n".join(["p,q,r,s,kind", *rows]))


def write_npz(path):
    np.savez(path, values=X, kind=np.array(Y))


def write_mat(path):
    savemat(path, {"values": X, "kind": np.array([[2], [1], [2], [1], [3], [3]])})


def write_arff(path):
    rows = [",".join(map(str, (*x, y))) for x, y in zip(X, Y, strict=True)]
    names = [f"@attribute {name} numeric" for name in "pqrs"]
    path.write_text("\n".join(["@relation r", *names, "@attribute kind {a,b,c}", "@data", *rows]))


FILES = [("My data.csv", write_csv), ("d.npz", write_npz), ("d.mat", write_mat), ("d.arff", write_arff)]
every_file = pytest.mark.parametrize(("file", "write"), FILES, ids=[file for file, _ in FILES])


@every_file
def test_a_file_and_its_label_make_a_data_set_that_its_written_specification_makes_again(tmp_path, file, write):
    write(tmp_path / file)
    spec, folder = own_spec(tmp_path / file, label="kind")
    data = load_dataset(spec, folder)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, CODES)
    whole = check_spec(yaml.safe_load(yaml.safe_dump(complete(spec, data))))
    assert (whole["samples"], whole["features"], whole["classes"], whole["data_sha256"]) == (6, 4, 3, data.sha)
    assert load_dataset(whole, folder).sha == data.sha
    assert spec["name"] == ("my_data" if file == "My data.csv" else "d")


@pytest.mark.parametrize(("file", "write"), FILES[:3])
def test_without_labels_the_number_of_clusters_takes_their_place(tmp_path, file, write):
    write(tmp_path / file)
    options = {"ignore": ["kind"]} if file.endswith("csv") else {"x": "values"}
    spec, folder = own_spec(tmp_path / file, label="none", clusters=3, **options)
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
    with pytest.raises(DataError, match=re.escape("label=NAME (it holds kind, values)")):
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
    assert load_dataset(*own_spec(tmp_path / "d.csv", label="kind", fill="drop")).X.tolist() == [[2, 4], [4, 9]]
    data = load_dataset(*own_spec(tmp_path / "d.csv", label="kind", fill="median"))
    assert data.X.tolist() == [[1, 5], [2, 4], [2, 5], [4, 9]] and data.y.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("file", "options", "words"),
    [
        ("nowhere.csv", {"label": "y"}, "nowhere.csv' is no file"),
        ("d.csv,{folder}/umist.csv", {"label": "kind"}, "is no file. One run takes one data set; several parts of"),
        ("d.xls", {"label": "y"}, "must end with one of .csv, .tsv,"),
        ("d.npz", {"label": "kind"}, "d.npz is an HTML page, and no file of the format npz"),
        ("d.csv", {"label": "kind", "x": "values"}, "x='values' has no meaning for"),
        ("d.csv", {"label": "kind", "name": "Mine!"}, "name='Mine!' must be letters, digits and _"),
        ("d.csv", {"label": "kind", "name": "größe"}, "name='größe' must be letters, digits and _ of ASCII"),
        ("umist.csv", {"label": "kind"}, "name='umist' is that of a data set of conf/dataset: give another one"),
        ("d.csv", {"label": "kind", "fill": "mean"}, "fill='mean' must be a number or one of error, median, drop"),
        ("d.csv", {"label": "kind", "clusters": 1}, "clusters=1 must be an int >= 2"),
        ("d.svm", {"label": "kind"}, "a LIBSVM file begins every line with its label"),
    ],
)
def test_what_cannot_be_taken_is_said(tmp_path, file, options, words):
    write_csv(tmp_path / "d.csv")
    write_csv(tmp_path / "umist.csv")
    (tmp_path / "d.xls").write_text("")
    (tmp_path / "d.svm").write_text("1 1:2\n")
    (tmp_path / "d.npz").write_text("<html></html>")
    with pytest.raises(DataError, match=re.escape(words)):
        own_spec(f"{tmp_path}/{file.format(folder=tmp_path)}", **options)


def test_no_file_at_all_is_refused():
    with pytest.raises(DataError, match=re.escape("data=[] names no file")):
        own_spec([], label="y")


def test_a_number_is_no_data_set():
    with pytest.raises(DataError, match="a data set must be a name or a specification; got 3"):
        load_dataset(3)


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


def test_the_name_of_a_file_becomes_one_that_a_command_line_can_have(tmp_path):
    write_csv(tmp_path / "Dätä-2 neu.csv")
    assert own_spec(tmp_path / "Dätä-2 neu.csv", label="kind")[0]["name"] == "data_2_neu"


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
