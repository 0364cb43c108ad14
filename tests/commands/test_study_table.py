"""The table of a study: what it stores, asked for by the study's name alone, and as much as the command line says."""

import csv
import io
import json

import pytest
from frames import PROTOCOL, frames, store, study_of

from ufs_bench.runners.experiment.notes import RUN
from ufs_bench.scripts.core.papers import read_table
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import make_table, study_table
from ufs_bench.scripts.make_table.formats import to_latex, to_markdown

POINTS = [
    {"dataset": dataset, "method": method, "acc": {50: [low, low + 0.02]}, "nmi": {50: [low / 3, low / 3]}}
    for dataset, low in (("umist", 0.3), ("digits", 0.6), ("of_my_own", 0.5))
    for method in ("mcfs", "of_my_own", "all_features")
]


@pytest.fixture
def results(tmp_path):
    store(frames(POINTS, study="mine"), tmp_path)
    return tmp_path


def cells_of(done):
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_name_of_a_study_alone_prints_what_it_stores_and_nothing_else(results, command):
    rows = cells_of(command("make_table", f"results_dir={results}", "study=mine", "format=csv"))
    assert [(row["method"], row["dataset"]) for row in rows] == [
        (method, dataset)
        for method in ("all_features", "mcfs", "of_my_own")
        for dataset in ("digits", "of_my_own", "umist")
    ]
    assert {row["status"] for row in rows} == {"complete"} and {row["published_mean"] for row in rows} == {""}


def test_rows_columns_metric_selection_and_title_are_those_of_the_command_line(results, command):
    words = ["study=mine", "rows=[of_my_own,mcfs]", "columns=umist", "metric=nmi", "selection=default_params"]
    rows = cells_of(command("make_table", f"results_dir={results}", *words, "format=csv"))
    assert [(row["method"], row["dataset"], row["metric"], row["selection"]) for row in rows] == [
        (method, "umist", "nmi", "default_params") for method in ("of_my_own", "mcfs")
    ]
    assert [row["mean"] for row in rows] == ["10.0000"] * 2
    done = command("make_table", f"results_dir={results}", "title=My own words", "study=mine", "notes=none")
    assert done.stdout.startswith("## My own words\n\n| Method ") and "*" not in done.stdout.replace("**", "")


def test_the_caption_names_study_and_protocol_but_not_in_a_paper():
    table = study_table(study_of(POINTS, name="mine"))
    for text in (to_markdown(table), to_latex(table, notes="full")):
        assert "Clustering accuracy (ACC); study mine, protocol dgufs" in text
        assert "code 0123456-dirty" in text
    for notes in ("none", "short"):
        text = to_latex(table, notes=notes).replace("tab:mine", "")
        assert not [word for word in ("mine", "0123456", "python", "dgufs") if word in text]
        said = r"2 K-means restarts; scaling of the data: unit\_features" in text
        assert ("Selection" in text) == said == (notes == "short")


def test_a_study_without_labels_shows_what_it_has():
    nan = float("nan")
    none = {"acc": {50: [nan]}, "nmi": {50: [nan]}, "nearest_neighbour": {50: nan}, "reconstruction": {50: 0.4}}
    study = study_of([{**point, **none} for point in POINTS], name="mine")
    table = study_table(study)
    assert set(table.cells["metric"]) == {"reconstruction"} and set(table.cells["mean"]) == {40}
    text = " ".join(table.below("full"))
    assert "the choice uses no label" in text and "with the labels" not in text
    for selection in ("best_over_grid", "default_params"):
        table = study_table(study, selection, "acc")
        assert set(table.cells["status"]) == {"no labels"} and not table.commands
        assert "Of 9 cells: 9 no labels." in to_markdown(table)


def test_a_papers_table_says_above_it_that_the_protocol_is_another_one():
    spec, other = read_table("dgufs_table2"), {**PROTOCOL, "restarts": 7, "name": "mine"}
    table = make_table(spec, study_of(POINTS, name="mine", protocol=other))
    text = to_markdown(table)
    assert "restarts 7" in table.warning and "name" not in table.warning
    assert text.index("! Study mine was not run under the protocol") < text.index("| Method")
    own = {**PROTOCOL, "restarts": 20}
    assert not make_table(spec, study_of(POINTS, protocol=own)).warning
    assert not study_table(study_of(POINTS, protocol=other)).warning


def test_what_is_missing_of_another_table_is_filled_under_the_protocol_of_the_study():
    spec, other = read_table("dgufs_table2"), {**PROTOCOL, "restarts": 7}
    table = make_table(spec, study_of([POINTS[4]], name="mine", protocol=other))  # nothing of the table's own rows
    assert all(
        line.startswith("python run.py -m protocol=dgufs study=mine protocol.restarts=7 ") for line in table.commands
    )


def test_a_table_of_shapes_has_no_metric(results, command):
    done = command("make_table", f"results_dir={results}", "table=dgufs_table1", "metric=nmi")
    assert done.returncode == 1 and "metric=nmi would have no effect" in done.stderr


@pytest.fixture
def answer(results, command):
    """Return a function that runs a command in this process and returns its exit status and what it printed."""

    def answered(name, *words):
        done = command(name, *words, f"results_dir={results}")
        return done.returncode, done.stdout, done.stderr

    return answered


@pytest.mark.parametrize(
    "words", ["make_table", "make_table table=dgufs_table2", "compare", "compare paper=dgufs", "status"]
)
def test_a_study_that_nobody_knows_is_answered_with_the_nearest(words, results, answer):
    said = f"error: the study 'mien' has no results in {results}. Did you mean mine? Studies there: mine"
    code, out, err = answer(*words.split(), "study=mien")
    assert (code, out) == (1, "") and err.startswith(said)  # shipped studies follow


def test_the_study_of_an_experiment_that_has_not_begun_is_no_mistake(answer):
    code, out, _ = answer("make_table", "table=ufsol_table2", "study=ufsol_quick")
    assert code == 0 and "python run.py experiment=ufsol_quick" in out
    code, _, err = answer("make_table", "study=ufsol_quick")
    assert code == 1 and "To fill it:\n  python run.py experiment=ufsol_quick results_dir=" in err


def test_trials_that_were_not_run_count_once_where_the_size_is_part_of_the_model(tmp_path):
    cell = {"dataset": "umist", "method": "dgufs"}
    points = [{**cell, "params": {"a": a}, "acc": {size: [0.5]}} for a, size in ((1, 50), (2, 50), (2, 100))]
    ended = {**cell, "params": {"a": 3}, "sizes": [100], "status": "timeout"}
    store(frames([*points, ended], "mine"), tmp_path)
    study = Study.open(tmp_path, "mine")
    assert study.lacking == {("umist", "dgufs"): 0}
    missing = set(study.select()["n_missing"])
    assert len(missing) == 1 and missing.pop() > 1  # that of a=1 with 100 features is seen to be lacking
    asked = [*study.trials["trial"], *(f"further {number}" for number in range(9))]
    note = {"trials": asked, "n_workers": 0, "pid": None}
    (tmp_path / "mine" / "umist" / "dgufs" / RUN).write_text(json.dumps(note))
    table = study_table(Study.open(tmp_path, "mine"))
    assert set(table.cells["status"]) == {"partial"} and set(table.cells["gaps"]) == {"1 timeout, 9 not run"}
