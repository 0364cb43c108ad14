"""The table of every method at its defaults: its cells, and its gaps with the commands that fill them."""

import json

import forked
import pandas as pd
import pytest
import yaml
from frames import PROTOCOL, frames, store

from runners.store.folder import load_results
from runners.store.row import TRACES
from scripts import method_table
from scripts.core.conf import CONF, ROOT

POINTS = [
    {"dataset": "umist", "method": "all_features", "acc": {644: [0.4, 0.44]}, "sizes": [644]},
    {"dataset": "umist", "method": "mcfs", "acc": {100: [0.5, 0.5]}},
    {"dataset": "umist", "method": "rufs", "acc": {100: [0.2, 0.4]}, "learned": {644: 0.6}},
    {"dataset": "pie10p", "method": "rufs", "status": "failed", "sizes": [100]},
    {"dataset": "pie10p", "method": "mcfs", "params": {"n_neighbors": 3}, "is_default": True, "acc": {100: [0.1, 0.1]}},
]
METHODS = ["all_features", "mcfs", "rufs"]


def defaults(method):
    return yaml.safe_load((CONF / "method" / f"{method}.yaml").read_text())["params"]


@pytest.fixture
def results_dir(tmp_path):
    points = [{"params": {**defaults(point["method"]), "n_clusters": 20}, **point} for point in POINTS]
    results = frames(points, "methods", {**PROTOCOL, "name": "methods", "sizes": [100]})
    key = results.trials.loc[2, "trial"]
    traces = pd.DataFrame([(key, sweep, value) for sweep, value in enumerate((9.0, 5.0, 4.5))], columns=TRACES)
    store(results._replace(traces=traces), tmp_path)
    return tmp_path


def table(capsys, results_dir, *arguments):
    wanted = (f"methods={','.join(METHODS)}", "datasets=umist,pie10p")
    method_table.main([*wanted, f"results_dir={results_dir}", *arguments])
    return capsys.readouterr().out


def lines_of(text):
    """Return the cells of each line by (data set, method), and by the name of the column."""
    found, dataset = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            dataset, names = line[3:].split(",")[0], None
        elif line.startswith("| "):
            texts = [part.strip() for part in line.split("|")[1:-1]]
            if names is None:
                names = texts
            else:
                found[dataset, texts[0]] = dict(zip(names, texts, strict=True))
    return found


def test_a_line_has_scores_time_status_memory_and_the_objective_from_start_to_end(capsys, results_dir):
    cells = lines_of(table(capsys, results_dir))
    rufs = cells["umist", "rufs"]
    assert (rufs["ACC"], rufs["NMI"]) == ("30.0±14.1", "15.0±7.1")
    assert (rufs["ACC learned"], rufs["NMI learned"]) == ("60.0", "30.0")
    assert (rufs["fit s"], rufs["sweeps"], rufs["status"]) == ("0.500", "1", "converged")
    assert rufs["objective"] == "9 to 4.5"
    assert cells["umist", "all_features"]["ACC"] == "42.0±2.8"
    assert cells["umist", "mcfs"]["ACC learned"] == "-" and cells["umist", "mcfs"]["objective"] == "-"


def test_a_gap_shows_and_is_named_with_the_command_that_fills_it(capsys, results_dir):
    text = table(capsys, results_dir)
    cells = lines_of(text)
    assert cells["pie10p", "rufs"]["status"] == "failed"
    assert cells["pie10p", "all_features"]["status"] == "not run"
    assert "rufs on pie10p failed: ValueError: no" in text
    where = f"python run.py experiment=methods results_dir={results_dir}"
    commands = [line for line in text.splitlines() if line.startswith("python run.py")]
    assert commands == [f"{where} method={name} dataset=pie10p" for name in METHODS]
    assert "Of 6 cells 2 are not run and 1 failed or reached a limit." in text


def test_a_default_of_another_day_is_not_shown_as_that_of_today(capsys, results_dir):
    text = table(capsys, results_dir)
    assert lines_of(text)["pie10p", "mcfs"]["status"] == "not run"
    assert "1 stored trials of these cells are left out" in text


def test_where_nothing_is_stored_one_command_fills_everything(capsys, tmp_path):
    text = table(capsys, tmp_path, "study=mine")
    assert f"\npython run.py experiment=methods study=mine results_dir={tmp_path}\n" in text


def test_the_experiment_runs_every_method_on_every_data_set_of_the_table_with_methods_outermost(capsys, tmp_path):
    experiment = yaml.safe_load((CONF / "experiment" / "methods.yaml").read_text())
    params = experiment["hydra"]["sweeper"]["params"]
    assert list(params) == ["method", "dataset"] and params["method"] == "glob(*)"
    assert experiment["runner"] == {"points": "default"}
    method_table.main([f"results_dir={tmp_path}"])
    cells = lines_of(capsys.readouterr().out)
    assert {dataset for dataset, _ in cells} == set(params["dataset"].split(","))
    assert {method for _, method in cells} == {path.stem for path in (CONF / "method").glob("*.yaml")}


def test_what_a_run_stores_is_what_the_table_shows(capsys, tmp_path):
    words = [
        "experiment=methods",
        "method=max_variance",
        "dataset=mnist500",
        "runner.n_jobs=1",
        f"results_dir={tmp_path}",
    ]
    forked.printed(["run.py", *words], ROOT)
    (trial,) = load_results(tmp_path, "methods").trials.to_dict("records")
    assert json.loads(trial["sizes"]) == [100]
    method_table.main(["methods=max_variance", "datasets=mnist500", f"results_dir={tmp_path}"])
    text = capsys.readouterr().out
    assert f"{trial['fit_s']:.3f}" in text and "not run" not in text and "python run.py" not in text


def test_of_a_study_with_several_sizes_the_largest_is_shown_and_its_own_experiment_is_named(capsys, tmp_path):
    points = [
        {"method": "mcfs", "acc": {100: [0.5, 0.5], 300: [0.7, 0.7]}},
        {"method": "rufs", "acc": {100: [0.2, 0.2]}, "sizes": [100], "started": "2026-02-02T00:00:00+00:00"},
        {"method": "rufs", "acc": {300: [0.4, 0.4]}, "sizes": [300], "started": "2026-01-01T00:00:00+00:00"},
    ]
    points = [{"dataset": "umist", "params": {**defaults(one["method"]), "n_clusters": 20}, **one} for one in points]
    store(frames(points, "fair", {**PROTOCOL, "name": "fair", "sizes": [100, 300]}), tmp_path)
    text = table(capsys, tmp_path, "study=fair")
    assert "## umist, 300 features" in text
    cells = lines_of(text)
    assert cells["umist", "mcfs"]["ACC"] == "70.0±0.0" and cells["umist", "rufs"]["ACC"] == "40.0±0.0"
    where = f"python run.py experiment=fair runner.points=default results_dir={tmp_path}"
    assert f"{where} method=rufs dataset=pie10p" in text
