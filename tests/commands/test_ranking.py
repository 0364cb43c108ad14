"""The ranks of a study: the cells that count, refused studies, the printed page and the diagram."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from frames import frames, store, study_of

from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.make_figure.ranks import alike, critical_difference
from ufs_bench.scripts.rank.field import field_of, rank_study

DATASETS = ["umist", "orl", "pie10p", "pix10p", "jaffe", "allaml", "coil20"]
LEVEL = {"mcfs": 0.5, "dgufs": 0.4, "rufs": 0.3}


def points(datasets=DATASETS, sizes=(50, 100)):
    noise = np.random.default_rng(0)
    return [
        {"dataset": dataset, "method": method, "acc": {size: list(level + 0.01 * noise.random(4)) for size in sizes}}
        for dataset in datasets
        for method, level in LEVEL.items()
    ]


def rank(rows, **settings):
    return rank_study(field_of(study_of(rows), **settings))


def test_methods_are_ranked_by_the_mean_over_restarts_of_the_chosen_point():
    ranking = rank(points())
    assert ranking.table.index.tolist() == ["mcfs", "dgufs", "rufs"]
    assert ranking.table["average_rank"].tolist() == [1, 2, 3]
    assert ranking.table["wins"].tolist() == [7, 0, 0]
    assert ranking.table[["low", "high"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    first = points()[0]["acc"]
    assert field_of(study_of(points())).scores.loc["umist", "mcfs"] == pytest.approx(
        100 * max(map(np.mean, first.values()))
    )


def test_a_data_set_on_which_only_controls_were_run_is_left_out_and_named():
    control = [{"dataset": "usps", "method": "random_rankings", "acc": {50: [0.3], 100: [0.3]}}]
    field = field_of(study_of(points() + control))
    assert sorted(field.scores.index) == sorted(DATASETS)
    assert field.left_out == ["Left out: usps (only controls were run there)."]


def test_the_same_data_under_another_name_count_once():
    again = [{**one, "dataset": "mine", "data_sha": "1"} for one in points(DATASETS[:1])]
    first = [{**one, "data_sha": "1" if one["dataset"] == DATASETS[0] else ""} for one in points()]
    field = field_of(study_of(first + again))
    (kept,) = {DATASETS[0], "mine"} & set(field.scores.index)
    (dropped,) = {DATASETS[0], "mine"} - {kept}
    assert len(field.scores) == len(DATASETS)
    assert f"Left out: {dropped} (of the same source as {kept})" in field.left_out[0]


def test_a_missing_cell_is_refused_with_what_is_whole():
    with pytest.raises(MissingResults, match=r"1 of 21 cells are missing: rufs on coil20 \(no score\)") as caught:
        rank(points()[:-1])
    assert "methods=[dgufs,mcfs] has them all" in str(caught.value)
    assert "datasets=[allaml,jaffe,orl,pie10p,pix10p,umist] has them all" in str(caught.value)
    assert caught.value.cells == [("rufs", "coil20")]
    study = study_of(points()[:-1])
    assert len(field_of(study, methods=["dgufs", "mcfs"]).scores) == 7
    assert len(field_of(study, datasets=DATASETS[:-1]).scores) == 6


def test_an_incomplete_cell_counts_only_when_it_is_asked_for():
    rows = points()
    rows.append({"dataset": "umist", "method": "mcfs", "params": {"a": 1}, "status": "failed", "sizes": [50, 100]})
    with pytest.raises(MissingResults, match=r"mcfs on umist \(incomplete\).*partial=true"):
        rank(rows)
    assert rank(rows, partial=True).table.index[0] == "mcfs"


def test_too_few_data_sets_are_refused():
    with pytest.raises(ValueError, match=r"n_datasets=5 .*must be 6 or more"):
        rank(points(DATASETS[:5]))


def test_the_diagram_puts_every_method_at_its_rank_and_joins_what_is_alike():
    figure = critical_difference(study_of(points()))
    axes = figure.axes[0]
    marks = sorted(float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "|" and line.get_clip_on())
    assert marks == [1, 2, 3]
    joined = [sorted(line.get_xdata()) for line in axes.lines if line.get_linewidth() == 3]
    length = 2.343 * np.sqrt(3 * 4 / (6 * 7))  # Demšar's table 5: q = 2.343 for three methods
    assert joined == [[1, 2], [2, 3]]
    assert 1 < length < 2
    assert f"(critical difference {length:.2f})" in figure.get_supxlabel()


def test_the_diagram_leaves_out_and_names_methods_that_lack_a_cell(capsys):
    """It was refused for four of the shipped studies, in which a method lacks a data set."""
    fourth = [point | {"method": "udfs"} for point in points() if point["method"] == "mcfs"]
    study = study_of(points() + fourth[:-1])
    with pytest.raises(MissingResults):
        rank_study(field_of(study))
    figure = critical_difference(study)
    assert not any("UDFS" in text.get_text() for text in figure.axes[0].texts)
    assert capsys.readouterr().err == "Left out, as a data set or a part of the grid is missing: udfs.\n"
    with pytest.raises(MissingResults):
        critical_difference(study, methods=["mcfs", "dgufs", "udfs"])


def test_the_diagram_joins_by_wilcoxon_on_request_and_says_when_it_cannot():
    study = study_of(points())
    axes = critical_difference(study, test="wilcoxon_holm").axes[0]
    assert not [line for line in axes.lines if line.get_linewidth() == 3]
    with pytest.raises(ValueError, match="nemenyi needs three methods"):
        critical_difference(study, methods=["mcfs", "rufs"])
    with pytest.raises(ValueError, match="it takes 7 data sets, or fewer methods"):
        critical_difference(study, dataset=DATASETS[:6], test="wilcoxon_holm")
    with pytest.raises(ValueError, match="test='t' must be one of"):
        critical_difference(study, test="t")


def test_the_bars_of_the_diagram_are_the_largest_groups_without_a_pair_told_apart():
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = np.triu(rng.random((6, 6)), 1)
        pairs = pd.DataFrame(p + p.T + np.eye(6), index=list("abcdef"), columns=list("abcdef"))
        groups = [frozenset(group) for size in range(2, 7) for group in combinations("abcdef", size)]
        free = [group for group in groups if all(pairs.loc[pair] > 0.4 for pair in combinations(sorted(group), 2))]
        largest = {group for group in free if not any(group < other for other in free)}
        assert set(alike(pairs, 0.4)) == largest


@pytest.mark.parametrize("width", [6.8, 3.4])
def test_no_name_of_the_diagram_leaves_the_figure(width):
    figure = critical_difference(study_of(points()), width=width)
    figure.draw_without_rendering()
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1, text.get_text()


@pytest.fixture
def run(command):
    return lambda results, *arguments: command("rank", *arguments, f"results_dir={results}", "study=dgufs")


def test_command_line_prints_ranks_and_tests(tmp_path, run):
    store(frames(points()), tmp_path)
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 methods on 7 data sets" in done.stdout
    assert "| MCFS   | 1.00         | 1.00 to 1.00 | 7    |" in done.stdout
    assert "any method differs: p < 0.001" in done.stdout


def test_command_line_names_the_command_that_fills_a_gap(tmp_path, run):
    store(frames(points()[:-1]), tmp_path)
    assert "Left out, as a data set or a part of the grid is missing: rufs." in run(tmp_path).stdout
    done = run(tmp_path, "methods=[mcfs,dgufs,rufs]")
    assert done.returncode != 0
    assert "python run.py protocol=dgufs protocol.restarts=2 method=rufs dataset=coil20" in done.stderr
    assert "Traceback" not in done.stderr
