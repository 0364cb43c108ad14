"""Features are printed by the names that the file of the data has, for each method, best first."""

import pandas as pd
import pytest
from frames import frames, store
from sklearn.datasets import load_wine

from runners.store.names import FILE, stored_names
from scripts.core.study import Study
from scripts.features import features_of
from scripts.make_report import make_report
from scripts.merge import merge
from ufs_bench import as_dataset, open_study, run

METHODS = ["laplacian_score", "max_variance", "all_features"]
WORDS = {"study": "wine", "protocol": "dgufs", "overrides": ["protocol.sizes=[3,11]", "protocol.restarts=2"]}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("features")
    X, y = load_wine(return_X_y=True, as_frame=True)
    run(METHODS, {"one": (X, y)}, results_dir=folder, **WORDS)
    return folder


def test_names_are_those_of_the_columns_and_the_methods_those_that_select(results):
    names = list(load_wine(as_frame=True).data)
    found = open_study("wine", results).features(size=3)
    assert set(found["method"]) == {"laplacian_score", "max_variance"}
    assert found["rank"].tolist() == 2 * [1, 2, 3]
    assert found["name"].tolist() == [names[number] for number in found["number"]]
    row = found[(found["method"] == "laplacian_score") & (found["rank"] == 1)].iloc[0]
    assert row["name"] == "flavanoids"
    assert set(open_study("wine", results).features()["n_selected"]) == {11}  # the least of ten or more
    assert "features</dt><dd>flavanoids, " in make_report(Study.open(results, "wine"))


def test_the_command_prints_a_column_a_method_and_writes_a_line_each(results, tmp_path, command):
    done = command("features", "study=wine", f"results_dir={results}", "size=3")
    head, _, first, *_ = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert head.split("|")[1:-1] == ["rank".center(6), *(name for name in head.split("|")[2:-1])]
    assert "LapScore" in head and "flavanoids" in first and done.stderr == ""
    done = command(
        "features", "study=wine", f"results_dir={results}", f"output={tmp_path}/f.csv", "methods=[max_variance]"
    )
    assert done.returncode == 0 and len(pd.read_csv(tmp_path / "f.csv")) == 11


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["size=4"], "size=4 is not stored of laplacian_score, max_variance; stored are 3, 11"),
        (["methods=[max_varianse]"], "the study has no method='max_varianse'. Did you mean max_variance?"),
        (["dataset=two"], "the study has no dataset='two'"),
        (["dataset=one", "selection=grid_median"], "is no feature set"),
    ],
)
def test_what_is_not_stored_is_said(results, words, message, command):
    done = command("features", "study=wine", f"results_dir={results}", *words)
    assert done.returncode == 1 and message in done.stderr


def test_data_without_labels_have_features_too(tmp_path):
    X = load_wine(as_frame=True).data
    run("max_variance", {"plain": as_dataset(X, clusters=3)}, results_dir=tmp_path, **WORDS)
    assert open_study("wine", tmp_path).features(size=3)["name"].tolist()[0] in list(X)


def test_features_without_names_are_numbered_and_a_fit_that_learned_nothing_is_marked(tmp_path, command):
    points = [
        {"dataset": dataset, "method": method, "acc": {size: [0.5] for size in (10, 50)}, "ranking": list(range(50))}
        for dataset in ("umist", "orl")
        for method in ("mcfs", "dgufs")
    ]
    points = [point | ({"status": "collapsed"} if point["method"] == "dgufs" else {}) for point in points]
    store(frames(points), tmp_path)
    done = command("features", "study=dgufs", f"results_dir={tmp_path}")
    assert "dataset must be given: the study has orl, umist." in done.stderr
    done = command("features", "study=dgufs", f"results_dir={tmp_path}", "dataset=umist", "selection=best_over_grid")
    assert "| DGUFS‡ | MCFS |" in done.stdout and "| 10   | 9      | 9    |" in done.stdout
    assert "‡: the fit collapsed, and its order means nothing. Features are numbered from 0" in " ".join(
        done.stdout.split()
    )


def test_names_go_with_the_results_and_follow_the_file(results, tmp_path):
    merge([results], tmp_path / "into")
    names = stored_names(tmp_path / "into/wine/one")
    assert names == list(load_wine(as_frame=True).data) and stored_names(tmp_path) is None
    X, y = load_wine(return_X_y=True, as_frame=True)
    run(
        "max_variance", {"one": (X.rename(columns={"hue": "colour, of it"}), y)}, results_dir=tmp_path / "into", **WORDS
    )
    assert stored_names(tmp_path / "into/wine/one")[10] == "colour, of it"  # the values are the same
    (tmp_path / "into/wine/one" / FILE).unlink()
    assert features_of(open_study("wine", tmp_path / "into")._stored, size=3)["name"].isna().all()
