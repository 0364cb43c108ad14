"""Results of several folders in one: equal rows once, scores before failures, and no silent contradiction."""

import shutil
from pathlib import Path

import forked
import pytest
from frames import load_all
from small_data import TRUTH

from runners.errors import ConfigError
from runners.store.files import StoreError, of_other_data
from scripts.core.conf import ROOT
from scripts.merge import merge

CELL = Path(f"s/{TRUTH}/mcfs")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder of results with one cell of three trials."""
    folder = tmp_path_factory.mktemp("whole")
    words = ["method=mcfs", "+method.grid.n_neighbors=[3,4,5]", f"dataset={TRUTH}", "protocol=smoke", "study=s"]
    forked.printed(["run.py", *words, "runner.n_jobs=1", f"results_dir={folder}"], ROOT)
    return folder


def part(whole, folder, kept):
    """Copy the results with these trials only, by their place."""
    shutil.copytree(whole, folder)
    keys = list(load_all(whole).trials["trial"])
    gone = {key for place, key in enumerate(keys) if place not in kept}
    for name in ("trials", "scores", "traces", "facts", "measures"):
        path = folder / CELL / f"{name}.csv"
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if line.split(",")[0] not in gone))
    return folder


def edit(folder, name, old, new, count=-1):
    path = folder / CELL / f"{name}.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def same(first, second):
    return all(getattr(first, name).equals(getattr(second, name)) for name in first._fields)


def test_parts_that_overlap_are_the_whole_once_and_the_same_command_again_changes_nothing(whole, tmp_path):
    sources = [part(whole, tmp_path / "a", {0, 1}), part(whole, tmp_path / "b", {1, 2})]
    assert merge(sources, tmp_path / "c") == (3, [])
    assert same(load_all(tmp_path / "c"), load_all(whole))
    before = (tmp_path / "c" / CELL / "scores.csv").read_bytes()
    assert merge(sources, tmp_path / "c") == (0, [])
    assert (tmp_path / "c" / CELL / "scores.csv").read_bytes() == before


def test_one_of_the_folders_may_be_the_target(whole, tmp_path):
    sources = [part(whole, tmp_path / "a", {0}), part(whole, tmp_path / "b", {1, 2})]
    assert merge(sources, sources[0]) == (2, [])
    assert same(load_all(sources[0]), load_all(whole))


def test_a_trial_with_scores_takes_the_place_of_one_that_failed(whole, tmp_path):
    failed = part(whole, tmp_path / "a", {0})
    path = failed / CELL / "trials.csv"
    header, row = path.read_text().splitlines()
    key, status = row.split(",")[0], load_all(failed).trials["status"].iloc[0]
    for name in ("scores", "traces", "facts", "measures"):
        file = failed / CELL / f"{name}.csv"
        file.write_text(file.read_text().splitlines(keepends=True)[0])
    trials = load_all(whole).trials.set_index("trial").loc[key]
    row = row.replace(f",{status},", ",failed,").replace(f",{trials['n_scores']},", ",0,")
    row = row.replace(trials["n_others"].replace('"', '""'), "")
    path.write_text(f"{header}\n{row}\n")
    assert load_all(failed).trials["status"].tolist() == ["failed"]
    assert merge([failed, whole], tmp_path / "c") == (4, [])  # the failed one, and all three with scores
    assert same(load_all(tmp_path / "c"), load_all(whole))


@pytest.mark.parametrize("rest", [{2}, {0}], ids=["with a new trial", "with none"])
@pytest.mark.parametrize("name", ["scores", "trials"])
def test_other_results_under_the_same_key_are_listed_and_the_cell_is_left_as_it_is(whole, tmp_path, name, rest):
    first, second = part(whole, tmp_path / "a", {0, 1}), part(whole, tmp_path / "b", {1, *rest})
    if name == "scores":
        shared = load_all(first).trials["trial"].iloc[1]
        lines = (second / CELL / "scores.csv").read_text().splitlines()
        line = next(line for line in lines if line.startswith(shared))
        edit(second, "scores", line, ",".join([*line.split(",")[:6], "0.125", *line.split(",")[7:]]), 1)
    else:
        edit(second, "trials", ",converged,", ",max_iter,")
    added, conflicts = merge([first, second], tmp_path / "c")
    assert added == 2 and len(conflicts) == 1 and "other" in conflicts[0]
    assert same(load_all(tmp_path / "c"), load_all(first))


def test_other_code_is_listed(whole, tmp_path):
    first, second = part(whole, tmp_path / "a", {0}), part(whole, tmp_path / "b", {1})
    edit(second, "trials", load_all(second).trials["code_fit"].iloc[0], "0123456789abcdef")
    added, (conflict,) = merge([first, second], tmp_path / "c")
    assert added == 1 and "the code of the method is another" in conflict


def test_another_protocol_and_a_folder_without_results_are_refused(whole, tmp_path):
    other = part(whole, tmp_path / "a", {0})
    path = other / "s" / "protocol.json"
    path.write_text(path.read_text().replace('"restarts": 2', '"restarts": 3'))
    with pytest.raises(StoreError, match="holds results of another protocol"):
        merge([whole, other], tmp_path / "c")
    with pytest.raises(ConfigError, match="holds no results"):
        merge([tmp_path / "nothing"], tmp_path / "c")


def test_a_row_of_another_protocol_is_refused(whole, tmp_path):
    other = part(whole, tmp_path / "a", {0, 1})
    edit(other, "trials", '""restarts"": 2', '""restarts"": 3', 1)
    with pytest.raises(
        StoreError, match="a/s/truth_clusters_d1_s0/mcfs/trials.csv, column protocol: .*restarts: stored 3, asked 2"
    ):
        merge([other], tmp_path / "c")


def test_other_data_of_the_same_name_are_listed_also_where_another_method_ran_on_them(whole, tmp_path):
    other = part(whole, tmp_path / "other", [0, 1, 2])
    sha = load_all(whole).trials["data_sha"].iloc[0]
    edit(other, "trials", sha, "0" * len(sha))
    (other / CELL).rename(other / CELL.with_name("udfs"))
    edit_of = other / CELL.with_name("udfs") / "trials.csv"
    edit_of.write_text(edit_of.read_text().replace(",mcfs,", ",udfs,"))
    shutil.copytree(whole, tmp_path / "into")
    added, conflicts = merge([other], tmp_path / "into")
    assert added == 0 and len(conflicts) == 1 and f"other data than {tmp_path / 'into' / CELL}" in conflicts[0]


def test_every_row_of_a_cell_is_looked_at_for_other_data(whole):
    rows = [{"data_sha": sha} for sha in "aab"]
    assert of_other_data(whole / CELL, rows, "a") == (1, whole / CELL)
    assert of_other_data(whole / CELL, rows[:2], "a") == (0, whole / CELL)
    assert of_other_data(whole / CELL.with_name("udfs"), [], "a") == (3, whole / CELL)
