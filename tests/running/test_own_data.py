"""``data=FILE label=NAME`` in place of a file of conf/dataset, and data without labels, from fit to result."""

from pathlib import Path

import forked
import numpy as np
import pytest
from frames import load_results
from hydra.core.config_store import ConfigStore

from ufs_bench.datasets import DataError
from ufs_bench.runners.cli.choices import offer_own, with_protocol
from ufs_bench.runners.messages import ConfigError
from ufs_bench.scripts.core.conf import ROOT


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Return the path of a table with blanks in its name; three classes differ in two of five features."""
    monkeypatch.delenv("UFS_DATA_DIR", raising=False)
    rng, labels = np.random.default_rng(0), np.arange(60) % 3
    X = rng.normal(size=(60, 5)) + 5 * np.eye(3, 5)[labels]
    rows = [",".join([*map(repr, map(float, x)), f"kind {label}"]) for x, label in zip(X, labels, strict=True)]
    path = tmp_path / "my 'own' table.csv"
    path.write_text("\n".join(["a,b,c,d,e,kind", *rows]))
    return path


def run(*words, check=True):
    jobs = [] if any(str(word).startswith("runner.n_jobs=") for word in words) else ["runner.n_jobs=1"]
    done = forked.run([ROOT / "run.py", *words, *jobs], Path.cwd())
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def test_a_file_becomes_a_choice_of_dataset_and_its_words_are_gone(table, monkeypatch):
    words = offer_own(["-m", f"data={table}", "label=kind", "method=mcfs", "name=mine", "study=s"])
    folder = str(table.parent).replace("'", "\\'")
    assert words == ["-m", "dataset=mine", f"data_dir='{folder}'", "method=mcfs", "study=s"]
    node = ConfigStore.instance().load("dataset/mine.yaml").node
    assert (node.samples, node.features, node.classes, node.sources[0].options.y) == (60, 5, 3, "kind")
    assert offer_own(["dataset=umist", "label=kind"]) == ["dataset=umist", "label=kind"]
    monkeypatch.setenv("UFS_DATA_DIR", str(table.parent / "more"))
    (table.parent / "more").mkdir()
    words = offer_own([f"data={table}", "label=-1", "fill=drop", "name=mine"])
    assert words[1] == f"data_dir='{folder}:{folder}/more'"
    assert ConfigStore.instance().load("dataset/mine.yaml").node.sources[0].options.y == -1


def test_data_with_few_features_get_sizes_that_they_have_and_a_study_of_their_own(table, tmp_path):
    own = offer_own([f"data={table}", "label=kind", "name=mine"])
    added = [own[0], "protocol=fair", "protocol.sizes=[1,2,3,4]"]
    assert with_protocol(own) == [*added, "study=mine", *own[1:]]
    assert with_protocol([*own, "study=s"]) == [*added, *own[1:], "study=s"]
    assert with_protocol([*own, "protocol.sizes=[2]"]) == [own[0], "protocol=fair", *own[1:], "protocol.sizes=[2]"]
    for word in ("protocol=smoke", "experiment=demo"):
        assert with_protocol([*own, word]) == [*own, word]
    words = (f"data={table}", "label=kind", "method=max_variance", "name=mine", f"results_dir={tmp_path / 'r'}")
    done = run(*words)
    assert "too few for the sizes of protocol=fair" in done.stderr and "protocol fair" in done.stdout
    assert "this run takes protocol.sizes=[1,2,3,4] study=mine" in done.stderr
    assert (tmp_path / "r/mine/mine/max_variance/trials.csv").exists()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([], r"label=NAME \(it has a, b, c, d, e, kind\)"),
        (["label=knid"], "did you mean kind"),
        (["label=kind", "dataset=umist"], "and dataset=umist name two data sets"),
        (["label=kind,a"], "label=kind,a has several values"),
        (["label=kind (m)"], "label=kind .m. cannot be read: .*Put quotes within quotes around a text"),
    ],
)
def test_what_cannot_be_taken_is_said_before_anything_is_done(table, words, answer):
    with pytest.raises((ConfigError, DataError), match=answer):
        offer_own([f"data={table}", *words])


def test_a_table_is_run_by_its_name_alone_and_with_its_labels_left_out(table, tmp_path):
    common = ["study=s", f"results_dir={tmp_path / 'r'}", "protocol=smoke", "protocol.sizes=[2,4]"]
    done = run(f"data={table}", "label=kind", "method=laplacian_score", "name=labelled", *common)
    assert "selected by default parameters (4 features): " in done.stdout
    done = run("-m", f"data={table}", "label=none", "ignore=kind", "clusters=3", "name=plain", *common,
               "method=laplacian_score,ndfs", "runner.points=4", "runner.max_seconds=60")  # fmt: skip
    assert "no labels: the clusters of the restarts agree most with" in done.stdout
    results = load_results(tmp_path / "r", "s")
    scores, measures = (
        frame.merge(results.trials[["trial", "dataset", "method"]], on="trial", suffixes=("", "_"))
        for frame in (results.scores, results.measures)
    )
    assert (results.trials["error"].fillna("") == "").all() and len(results.trials) > 4
    plain = scores["dataset"] == "plain"
    assert scores.loc[plain, ["acc", "nmi"]].isna().all(axis=None) and (~plain).sum() == 4
    both = measures[measures["method"] == "laplacian_score"].pivot(
        index=["n_selected", "name"], columns="dataset", values="value"
    )
    nearest = both.index.get_level_values("name") == "nearest_neighbour"
    assert both.loc[nearest, "plain"].isna().all() and both.loc[nearest, "labelled"].notna().all()
    np.testing.assert_array_equal(both.loc[~nearest, "plain"], both.loc[~nearest, "labelled"])
    again = run(f"data={table}", "label=none", "ignore=kind", "clusters=3", "name=plain", *common,
                "method=laplacian_score")  # fmt: skip
    assert "stored already, 0 to do" in again.stdout
    words = [f"data={table}", "label=none", "ignore=kind", "clusters=4", *common]
    # Max variance has no trial there, but no table could hold both.
    refused = run("-m", *words, "method=laplacian_score,max_variance", "name=plain", check=False)
    assert refused.returncode == 1 and "2 of 2 cells have a problem:\nlaplacian_score on plain" in refused.stderr
    problem = refused.stderr.partition(" of 2 cells have a problem:\n")[2]
    assert "holds trials of other data that were called 'plain'" in problem
    assert problem.count("other data that were called 'plain'") == 1
    assert "laplacian_score on plain and 1 other cell: " in refused.stderr
    other = run(*words, "method=laplacian_score", "name=plain_2")
    assert "4 clusters, no labels" in other.stdout and "stored already" not in other.stdout


def test_a_specification_that_states_no_shape_is_planned_and_run(table, tmp_path):
    (tmp_path / "conf/dataset").mkdir(parents=True)
    source = '{file: "' + table.name + '", format: csv, options: {y: kind}}'
    (tmp_path / "conf/dataset/mine.yaml").write_text(f"name: mine\nsources: [{source}]\n")
    words = ["--config-dir", tmp_path / "conf", "dataset=mine", "data_dir='" + str(tmp_path) + "'", "protocol=smoke",
             "method=max_variance", "protocol.sizes=[2]", f"results_dir={tmp_path / 'r'}"]  # fmt: skip
    assert "1 of 1 fit to do, time unknown" in run(*words, "runner.plan=true").stdout
    assert "60 x 5, 3 classes" in run(*words).stdout
    assert len(load_results(tmp_path / "r", "smoke").trials) == 1
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "0 of 1 fit to do" in run(*words, "runner.plan=true").stdout
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_several_files_and_nested_options_are_words_of_a_command_line(tmp_path, monkeypatch):
    monkeypatch.delenv("UFS_DATA_DIR", raising=False)
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("p,q,kind\n1,2,u\n3,-9,v\n")
    files = f"data=[{tmp_path / 'a.csv'},{tmp_path / 'b.csv'}]"
    words = offer_own([files, "label=kind", "name=joined", "steps=[{recode: [[1,5],[3,7]]}]", "missing=[-9]", "fill=2"])
    assert words[0] == "dataset=joined" and len(words) == 2
    (source,) = ConfigStore.instance().load("dataset/joined.yaml").node.sources
    assert [file.file for file in source.files] == ["a.csv", "b.csv"]
    assert source.steps == [{"missing": [-9]}, {"recode": [[1, 5], [3, 7]]}] and source.fill == 2
