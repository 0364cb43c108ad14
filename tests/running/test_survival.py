"""Stored results survive when a run is killed, disturbed, or finds damaged files."""

import json
import re

import pandas as pd
import pytest
from fits import config
from frames import done, frames, load_all, store

from ufs_bench.metrics.study.summary import summarise
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.store import folder as store_module
from ufs_bench.runners.store.files import StoreError
from ufs_bench.runners.store.folder import Store, load_results
from ufs_bench.runners.store.tidy import tidy
from ufs_bench.runners.workers import pool
from ufs_bench.scripts.core import refits


def stop_after(monkeypatch, count):
    """Let a run end as by Ctrl-C once it has stored `count` times."""
    original, calls = Store.append, []

    def append(self, outcomes):
        if outcomes:
            if len(calls) == count:
                raise KeyboardInterrupt
            calls.append(1)
        original(self, outcomes)

    monkeypatch.setattr(Store, "append", append)


def keys(folder):
    return set(load_all(folder).trials["trial"])


def test_a_ranking_of_any_length_is_read_again(tmp_path):
    """A field of a CSV may have 131,072 characters by default: some 19,000 features."""
    point = {"dataset": "d", "method": "m", "acc": {50: [0.5]}, "ranking": list(range(100_000, 140_000))}
    store(frames([point], study="s"), tmp_path)
    with Store(tmp_path / "s/d/m") as opened:
        assert done(opened) == keys(tmp_path)


def test_a_redo_that_is_cut_off_loses_nothing_and_goes_on_where_it_was(tmp_path, monkeypatch, caplog):
    Cell(config(tmp_path)).run()
    cell = tmp_path / "s/digits/laplacian_score"
    before = {name: (cell / f"{name}.csv").read_bytes() for name in ("trials", "scores", "traces")}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        stop_after(patch, 1)
        Cell(config(tmp_path, redo=True)).run()
    assert {name: (cell / f"{name}.csv").read_bytes() for name in before} == before
    asked = []
    original = pool.run_all
    monkeypatch.setattr(pool, "run_all", lambda trials, *rest: asked.extend(trials) or original(trials, *rest))
    Cell(config(tmp_path, redo=True)).run()
    assert 0 < len(asked) < 4
    assert (cell / "scores.csv").read_bytes() == before["scores"]
    assert len((cell / "trials.csv").read_bytes().splitlines()) == 5
    assert not [path for path in cell.iterdir() if path.name in (store_module.REDO, store_module.REDONE)]


def test_a_redo_is_whole_wherever_it_is_cut_off_while_it_replaces(tmp_path, monkeypatch):
    Cell(config(tmp_path)).run()
    cell = tmp_path / "s/digits/laplacian_score"
    scores, started = (cell / "scores.csv").read_bytes(), load_all(tmp_path).trials["fit_s"].tolist()
    original = store_module.replace_file
    for files in range(3):
        seen = []

        def stop(path, data, seen=seen, files=files):
            if path.parent == cell and path.suffix == ".csv":
                if len(seen) == files:
                    raise KeyboardInterrupt
                seen.append(path)
            original(path, data)

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(store_module, "replace_file", stop)
            Cell(config(tmp_path, redo=True)).run()
        Cell(config(tmp_path)).run()
        results = load_all(tmp_path)
        assert (cell / "scores.csv").read_bytes() == scores
        assert len(results.trials) == 4 and results.trials["fit_s"].tolist() != started
        started = results.trials["fit_s"].tolist()


def test_a_copied_cell_whose_rows_were_renamed_is_refused(tmp_path):
    for name in ("mcfs", "ndfs"):
        results = frames([{"dataset": "umist", "method": name, "acc": {50: [0.2, 0.4]}}])
        for frame in results:
            frame["trial"] = "the same"
        store(results, tmp_path)
    with pytest.raises(StoreError, match=r"umist/ndfs/trials\.csv, .* 'the same' is a trial of another cell"):
        load_all(tmp_path)
    assert keys(tmp_path / "nowhere") == set()


def test_a_name_that_is_no_folder_or_a_pattern_has_no_results(tmp_path):
    store(frames([{"dataset": "d", "method": "m", "acc": {50: [0.2]}}], study="s"), tmp_path)
    for study in ("*", "[s]", "?", "/", str(tmp_path / "s"), "../x", "..", "s/", 2024):
        assert load_results(tmp_path / "s" / "..", study).trials.empty, study
    assert len(load_all(tmp_path).trials) == 1


def test_a_damaged_file_of_repeated_fits_is_named(tmp_path):
    path = tmp_path / "stability.csv"
    line = "k,d,m,none,0,5,converged,"
    path.write_text(",".join(refits.COLUMNS[refits.STABILITY]) + f'\n{line}"[1, 2]",ab\n')
    assert json.loads(refits.read(path)["features"].iloc[0]) == [1, 2]
    path.write_text(",".join(refits.COLUMNS[refits.STABILITY]) + f"\n{line}[1,ab\n")
    with pytest.raises(StoreError, match=r"stability.csv, line 2, column features: '\[1' is not JSON"):
        refits.read(path)
    assert refits.read(tmp_path / "none/stability.csv").empty


@pytest.mark.parametrize("names", [["trials"], ["scores"], ["traces"], ["trials", "scores", "traces"]])
def test_a_line_that_stands_twice_counts_once(tmp_path, names):
    points = [{"dataset": "d", "method": "m", "params": {"a": i}, "acc": {50: [0.2]}, "trace": [1.0]} for i in (1, 2)]
    store(frames(points, study="s"), tmp_path)
    expected = load_all(tmp_path)
    for name in names:
        path = tmp_path / f"s/d/m/{name}.csv"
        path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
    for found, frame in zip(load_all(tmp_path), expected, strict=True):
        pd.testing.assert_frame_equal(found, frame)
    with Store(tmp_path / "s/d/m") as opened:
        assert done(opened) == set(expected.trials["trial"])


def test_a_run_whose_lock_was_removed_stops_before_it_writes(tmp_path):
    with Store(tmp_path) as first:
        (tmp_path / ".lock").unlink()
        with Store(tmp_path), pytest.raises(StoreError, match="was removed while this run held it.*run the same"):
            first.append([])


def test_a_rename_that_was_cut_off_leaves_nothing_once_the_cell_is_opened(tmp_path):
    for name in ("trials.csv.1.tmp", "scores.csv.22.tmp"):
        (tmp_path / name).write_text("half")
    with Store(tmp_path):
        assert not list(tmp_path.glob("*.tmp"))


def damaged(text, how):
    lines = text.splitlines()
    fields = lines[1].split(",")
    return {
        "a word for a number": lambda: [lines[0], ",".join([*fields[:-2], "good", *fields[-1:]])],
        "out of range": lambda: [lines[0], ",".join([*fields[:-2], "7", *fields[-1:]])],
        "nan": lambda: [lines[0], ",".join([*fields[:-2], "nan", *fields[-1:]])],
        "a value too few": lambda: [lines[0], ",".join(fields[:-1]), *lines[2:]],
        "a value too many": lambda: [lines[0], ",".join([*fields, "1"]), *lines[2:]],
        "other columns": lambda: [lines[0].replace("acc", "ack"), *lines[1:]],
        "no header": lambda: lines[1:],
        "half a quote": lambda: [lines[0], '"' + lines[1]],
        "a zero byte": lambda: [lines[0], lines[1].replace(fields[0], "a\0b"), *lines[2:]],
    }[how]()


@pytest.mark.parametrize(
    "how, words",
    [
        ("a word for a number", "line 2, column acc: 'good' must be a number"),
        ("out of range", r"line 2, column acc: '7' must be in \[0, 1\]"),
        ("nan", "line 2, column acc: 'nan' must be a number"),
        ("a value too few", "line 2: 7 values instead of 8"),
        ("a value too many", "line 2: 9 values instead of 8"),
        ("other columns", "line 1: the columns are"),
        ("no header", "line 1: the columns are"),
        ("half a quote", "line"),
    ],
)
def test_damaged_scores_are_named_by_file_line_column_value_and_remedy(tmp_path, how, words):
    store(frames([{"dataset": "d", "method": "m", "acc": {50: [0.2, 0.3]}}], study="s"), tmp_path)
    path = tmp_path / "s/d/m/scores.csv"
    path.write_text("\n".join(damaged(path.read_text(), how)) + "\n")
    with pytest.raises(StoreError, match=f"{re.escape(str(path))}, {words}.*run the cell again"):
        load_all(tmp_path)


VALUES = ["", "x", "nan", "-1", "1e999", "null", "[]", "{}", "[0]", '"', "9" * 400, "[" * 10_000, "\0", "é", "a,b"]


def test_whatever_stands_in_a_field_is_read_or_is_a_clear_error(request, tmp_path):
    """Every column of every file with odd values: read, or refused with file and line; never another exception.

    A column has one of them, and the next column the next one; with --slow each has all.
    """
    step = 1 if request.config.getoption("--slow") else len(VALUES)
    store(frames([{"dataset": "d", "method": "m", "acc": {50: [0.2]}, "trace": [1.0]}], study="s"), tmp_path)
    counts = {"read": 0, "refused": 0}
    for name, columns in store_module.COLUMNS.items():
        path = tmp_path / f"s/d/m/{name}.csv"
        whole = pd.read_csv(path, dtype=str, keep_default_na=False)
        for place, column in enumerate(columns):
            for value in VALUES[place % step :: step]:
                whole.assign(**{column: value}).to_csv(path, index=False)
                try:
                    results = load_all(tmp_path)
                    summarise(tidy(results))
                    counts["read"] += 1
                except StoreError as error:
                    lost = column == "trial" and "scores.csv lacks rows" in str(error)
                    assert lost or (str(path) in str(error) and "line 2" in str(error)), error
                    counts["refused"] += 1
        whole.to_csv(path, index=False)
    assert counts["read"] + counts["refused"] == len(VALUES) // step * sum(map(len, store_module.COLUMNS.values()))
    assert counts["refused"] > 300 // step, counts
    assert json.loads(load_all(tmp_path).trials["sizes"].iloc[0]) == [50]


@pytest.mark.parametrize("name", ["trials", "scores", "traces"])
def test_a_file_of_noise_is_a_clear_error_to_readers_and_to_the_resume(tmp_path, name):
    store(frames([{"dataset": "d", "method": "m", "acc": {50: [0.2]}, "trace": [1.0]}], study="s"), tmp_path)
    path = tmp_path / f"s/d/m/{name}.csv"
    path.write_bytes(path.read_bytes() + b"\xff\xfe\x00\x01,,,\n\n\x80\n")
    with pytest.raises(StoreError, match="line 3|line 4"):
        load_all(tmp_path)
    if name == "trials":
        with pytest.raises(StoreError, match="line 3|line 4"), Store(tmp_path / "s/d/m"):
            pass
