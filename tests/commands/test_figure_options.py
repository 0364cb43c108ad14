"""The options of make_figure: names as a list of one, options that a figure does not have, and unknown studies."""

from dataclasses import replace

import pytest
from frames import frames, store

from ufs_bench.runners.place import home
from ufs_bench.scripts.core.command_lines import fill_pairs, no_results
from ufs_bench.scripts.core.entry import defaults
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.make_figure.options import settings_of

RESULTS = frames([{"dataset": "umist", "method": name, "acc": {50: [0.3, 0.4]}} for name in ("mcfs", "my_own")])


def settings(figure, **changed):
    config = {**defaults("make_figure", figure), **changed}
    return settings_of(config, FIGURES[config["draw"]], Study.of("dgufs", RESULTS))


@pytest.mark.parametrize(
    ("figure", "changed", "message"),
    [
        (
            "convergence",
            {"clusterer": "learned"},
            "figure=convergence has no option clusterer. It has: dataset, methods",
        ),
        ("convergence", {"methods": ["rufs"], "method": "mcfs"}, "has no option method. Did you mean methods?"),
        ("surface", {"methods": ["rufs"], "method": "mcfs"}, "has no option methods. Did you mean method?"),
    ],
)
def test_an_option_that_a_figure_does_not_use_is_refused_with_the_right_one(figure, changed, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        settings(figure, **changed)


def test_a_method_that_nobody_knows_is_refused_and_one_of_the_study_is_not():
    assert settings("acc_vs_size", methods=["my_own"])["methods"] == ["my_own"]
    with pytest.raises(ValueError, match="method='mcsf' is not in conf/method.*Did you mean mcfs"):
        settings("acc_vs_size", methods=["mcfs", "mcsf"])


def test_a_study_that_is_not_there_is_answered_with_those_that_are(tmp_path, monkeypatch):
    monkeypatch.setattr("ufs_bench.scripts.core.command_lines.shipped_studies", lambda: ["fair"])
    store(RESULTS, tmp_path)
    assert no_results(Study.open(tmp_path, "dguf")) == (
        f"the study 'dguf' has no results in {tmp_path}. Did you mean dgufs? Studies there: dgufs, fair (shipped)."
    )
    assert no_results(Study.open(tmp_path / "no", "dgufs")).endswith("Studies there: fair (shipped).")


def test_no_command_names_a_protocol_that_does_not_exist():
    nothing = frames([])
    assert fill_pairs([("mcfs", "umist")], Study.of("dguf", nothing), "dguf") == []
    assert fill_pairs([("mcfs", "umist")], Study.of("dgufs", nothing), "dgufs") == [
        "python run.py protocol=dgufs method=mcfs dataset=umist"
    ]


def test_a_command_names_the_folder_of_results_and_the_study_that_it_writes_to(tmp_path):
    study = replace(Study.of("reference/dgufs", frames([])), results_dir=tmp_path / "my results")
    assert fill_pairs([("mcfs", "umist")], study, "dgufs") == [
        f"python run.py protocol=dgufs method=mcfs dataset=umist 'results_dir={tmp_path}/my results'",
        "(nothing is written to what is shipped: they run in your own study=dgufs)",
    ]
    usual = replace(study, results_dir=home() / "results")
    assert fill_pairs([("mcfs", "umist")], usual, "dgufs")[0].endswith("dataset=umist")


@pytest.fixture
def run(command):
    return lambda results, *arguments: command("make_figure", f"results_dir={results}", "dataset=umist", *arguments)


@pytest.mark.parametrize("figure", ["acc_vs_size", "gains"])
def test_every_figure_of_an_unknown_study_says_so(figure, tmp_path, run):
    store(RESULTS, tmp_path)
    done = run(tmp_path, f"figure={figure}", "study=dguf")
    assert done.returncode == 1
    assert done.stderr == f"error: {no_results(Study.open(tmp_path, 'dguf'))}\n"


def test_the_command_line_takes_a_name_for_a_list_and_refuses_an_unknown_option(tmp_path, run):
    store(RESULTS, tmp_path)
    done = run(tmp_path, "study=dgufs", "methods=mcfs", f"output={tmp_path}/figure.svg")
    assert done.stdout.split() == [f"{tmp_path}/figure.{ending}" for ending in ("png", "pdf", "svg")]
    done = run(tmp_path, "study=dgufs", "samples=[0]")
    assert done.returncode == 1
    assert done.stderr.startswith("error: figure=acc_vs_size has no option samples.")
