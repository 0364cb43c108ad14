"""A file becomes a data set with one command."""

import sys

import numpy as np
import pytest

from ufs_bench.datasets import load_dataset, read_spec
from ufs_bench.scripts.add_data import main


@pytest.fixture
def add(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command on a folder of data sets of its own; it returns status and output."""
    monkeypatch.setattr("ufs_bench.datasets.spec.FOLDER", tmp_path / "conf")
    monkeypatch.setenv("UFS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("UFS_DATA_DIR", raising=False)
    (tmp_path / "conf").mkdir()

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["add_data", *words])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code
        return status, "".join(capsys.readouterr())

    return run


def test_a_table_is_added_and_can_be_loaded_by_its_name(add, tmp_path):
    rows = "\n".join(f"{i};{i * i},5;{'ab'[i % 2]}" for i in range(8))
    (tmp_path / "wine.csv").write_text(f"x;y;cultivar\n{rows}\n")
    status, said = add(f"data={tmp_path / 'wine.csv'}", "label=cultivar")
    assert status == 0 and "8 samples x 2 features, 2 classes" in said
    assert f"Run it: python run.py dataset=wine method=mcfs data_dir={tmp_path}" in said
    spec, data = read_spec("wine"), load_dataset("wine", tmp_path)
    assert (spec["samples"], spec["features"], spec["classes"], spec["data_sha256"]) == (8, 2, 2, data.sha)
    assert data.X[3].tolist() == [3, 9.5] and data.y.tolist() == [0, 1] * 4
    assert list(spec["sources"][0]) == ["file", "format", "options", "checksum", "bytes"]


def test_where_the_file_lies_in_a_folder_of_data_no_folder_is_asked_for(add, tmp_path, monkeypatch):
    np.savez(tmp_path / "mine.npz", X=np.arange(12.0).reshape(4, 3))
    monkeypatch.setenv("UFS_DATA_DIR", f"{tmp_path / 'conf'}:{tmp_path}")
    status, said = add(f"data={tmp_path / 'mine.npz'}", "label=none", "clusters=2", "name=other")
    assert status == 0 and "no labels, 2 clusters" in said
    assert said.endswith("Run it: python run.py dataset=other method=mcfs\n")
    data = load_dataset("other")
    assert data.y is None and data.n_classes == 2 and read_spec("other")["clusters"] == 2


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([], "say what its labels are, label=NAME (it has x, y, cultivar); label=none for data without"),
        (["label=cultivr"], "has no column 'cultivr'; did you mean cultivar? it has x, y, cultivar."),
        (["label=cultivar", "fill=mean"], "must be a number or one of error, median, drop"),
        (["label=cultivar", "ignore=z"], "has no column 'z'"),
        (["label=cultivar", "name=umist", "clusters=one"], "must be an int >= 2"),
        (["label=none"], "cultivar must be numeric"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_and_nothing_is_written(add, tmp_path, words, answer):
    (tmp_path / "wine.csv").write_text("x,y,cultivar\n1,2,a\n3,4,b\n")
    status, said = add(f"data={tmp_path / 'wine.csv'}", *words)
    assert status == 1 and answer in said and said.startswith("error: ") and said.count("\n") == 1
    assert not list((tmp_path / "conf").iterdir())


def test_a_data_set_is_not_overwritten(add, tmp_path):
    (tmp_path / "wine.csv").write_text("x,y,cultivar\n1,2,a\n3,4,b\n")
    words = f"data={tmp_path / 'wine.csv'}", "label=cultivar"
    assert add(*words)[0] == 0
    status, said = add(*words)
    assert status == 1 and "name='wine' is that of a data set of conf/dataset" in said
    assert add(*words, "name=wine2")[0] == 0


def test_a_data_set_of_several_files_is_added_with_its_labels(add, tmp_path):
    for plate, kinds in (("a", "uv"), ("b", "wu")):
        (tmp_path / f"{plate}.csv").write_text("gene,c1,c2\ng1,1,2\ng2,3,0\n")
        (tmp_path / f"{plate}_types.csv").write_text(f"cell,type\nc1,{kinds[0]}\nc2,{kinds[1]}\n")
    files, types = (",".join(str(tmp_path / f"{plate}{end}") for plate in "ab") for end in (".csv", "_types.csv"))
    words = ["transposed=true", "names=0", f"labels=[{types}]", "key=cell", "label=type", "name=plates"]
    status, said = add(f"data=[{files}]", *words, "steps=[{row_sum: 8},{log1p: true}]")
    assert status == 0 and "4 samples x 2 features, 3 classes" in said, said
    data = load_dataset("plates", tmp_path)
    np.testing.assert_array_equal(data.X, np.log([[3, 7], [9, 1], [3, 7], [9, 1]]).astype(np.float32))
    assert data.y.tolist() == [0, 1, 2, 0]
    status, said = add(f"data=[{files}]", *words[:-1], "steps=[{log: true}]", "name=other")
    assert status == 1 and "must be a mapping of one of missing" in said and said.count("\n") == 1


def test_data_must_be_given(add):
    status, said = add("label=cultivar")
    assert status == 1 and "error: data must be given: data=FILE, data=[FILE,FILE] or data=openml:NUMBER." in said
