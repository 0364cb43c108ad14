"""Features are printed by the names that the file of the data has, for each method, best first."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from frames import frames, store
from sklearn.datasets import load_wine

from ufs_bench import as_dataset, open_study, run
from ufs_bench.runners.store.files import FILE, store_names, stored_names
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.features import features_of

METHODS = ["laplacian_score", "max_variance", "all_features"]
WORDS = {"study": "wine", "protocol": "dgufs", "overrides": ["protocol.sizes=[3,11]", "protocol.restarts=2"]}
NAMES = list(load_wine(as_frame=True).data)


def wine(**columns):
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.rename(columns=columns), y


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("features")
    run(METHODS, {"one": wine()}, results_dir=folder, **WORDS)
    return folder


def test_names_are_those_of_the_columns_and_the_methods_those_that_select(results):
    found = open_study("wine", results).features(size=3)
    assert set(found["method"]) == {"laplacian_score", "max_variance"}
    assert found["rank"].tolist() == 2 * [1, 2, 3]
    assert found["name"].tolist() == [NAMES[number] for number in found["number"]]
    assert found["name"].iloc[0] == "flavanoids"
    assert set(open_study("wine", results).features(methods="max_variance")["n_selected"]) == {11}  # ten or more


def test_the_command_prints_a_column_a_method_and_writes_a_line_each(results, tmp_path, command):
    done = command("features", "study=wine", f"results_dir={results}", "size=3")
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
    assert lines[0] == ["rank", "LapScore", "MaxVar"] and lines[2][:2] == ["1", "flavanoids"] and len(lines) == 5
    words = [f"results_dir={results}", f"output={tmp_path}/f.csv", "methods=max_variance"]
    assert command("features", "study=wine", *words).returncode == 0
    assert pd.read_csv(tmp_path / "f.csv")["name"].isin(NAMES).sum() == 11


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["size=4"], "size=4 is not stored: laplacian_score has 3 and 11; max_variance has 3 and 11."),
        (["methods=[max_varianse]"], "the study has no method='max_varianse'. Did you mean max_variance?"),
        (["dataset=two"], "the study has no dataset='two'"),
        (["dataset=one", "selection=grid_median"], "is not a feature set"),
    ],
)
def test_what_is_not_stored_is_said(results, words, message, command):
    done = command("features", "study=wine", f"results_dir={results}", *words)
    assert done.returncode == 1 and message in done.stderr


def test_features_without_names_are_numbered_and_a_fit_that_learned_nothing_is_marked(tmp_path, command):
    points = [
        {"dataset": dataset, "method": method, "acc": {size: [0.5] for size in (10, 50)}, "ranking": list(range(50))}
        for dataset in ("umist", "orl")
        for method in ("mcfs", "dgufs")
    ]
    points = [point | ({"status": "collapsed"} if point["method"] == "dgufs" else {}) for point in points]
    points.append({"dataset": "umist", "method": "fssl", "acc": {50: [0.5]}, "ranking": list(range(50))})
    store(frames(points), tmp_path)
    done = command("features", "study=dgufs", f"results_dir={tmp_path}")
    assert "dataset must be given: the study has orl, umist." in done.stderr
    words = ["dataset=umist", "selection=best_over_grid", "size=10"]  # 50 by default, which all have
    done = command("features", "study=dgufs", f"results_dir={tmp_path}", *words)
    assert "| DGUFS‡ | MCFS |" in done.stdout and "| 10   | 9      | 9    |" in done.stdout
    said = " ".join(done.stdout.split())
    assert "‡: the fit learned nothing, and its order means nothing. Not shown: fssl. Features are numbered" in said


def test_data_without_labels_have_features_too(tmp_path):
    run("max_variance", {"plain": as_dataset(wine()[0], clusters=3)}, results_dir=tmp_path, **WORDS)
    assert set(open_study("wine", tmp_path).features(size=3)["name"]) < set(NAMES)


def test_names_go_with_the_results_and_follow_the_file(results, tmp_path):
    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
    study = open_study("wine", tmp_path)
    assert study.features(size=3)["name"].isin(NAMES).all()
    run("max_variance", {"one": wine(hue="a, b\r\n|c")}, results_dir=tmp_path, **WORDS)
    assert stored_names(tmp_path / "wine/one", study.trials["data_sha"].iloc[0])[10] == "a, b\r\n|c"  # the same values


def test_names_of_other_data_are_never_shown(results, tmp_path, capsys):
    shutil.copytree(results, tmp_path, dirs_exist_ok=True)
    for method in METHODS:
        shutil.rmtree(tmp_path / "wine/one" / method)
    rng = np.random.default_rng(0)
    run("max_variance", {"one": (rng.normal(size=(60, 20)), np.arange(60) % 3)}, results_dir=tmp_path, **WORDS)
    assert (tmp_path / "wine/one" / FILE).exists() and "selected by default" not in capsys.readouterr().out
    assert features_of(Study.open(tmp_path, "wine"), size=3)["name"].isna().all()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"data_sha": "b", "names": ["p"]}', "\xff"])
def test_a_file_of_names_that_is_not_of_these_data_or_damaged_gives_none(tmp_path, content):
    (tmp_path / FILE).write_text(content, encoding="latin-1")
    assert stored_names(tmp_path, "a") is None
    store_names(tmp_path, "a", ("p", "q"))
    assert stored_names(tmp_path, "a") == ["p", "q"] and json.loads((tmp_path / FILE).read_text())["data_sha"] == "a"
