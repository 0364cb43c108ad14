"""The store of a cell: nothing is lost, and nothing unfinished is taken for done."""

import csv
import errno
import json
import os
import re
import shutil
import threading
from dataclasses import replace

import pytest
from fits import DATA, PROTOCOL, config, outcomes_of, trials_of
from frames import done, frames, load_all, load_results, store

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store import row
from ufs_bench.runners.store.fits import FILE, Store, check_study, load_fits
from ufs_bench.runners.workers.fit import run_trial

CELL = "s/blobs/misbehaving"


def commit(folder, *batches):
    with Store(folder) as opened:
        for fits in batches:
            opened.append(fits)


def texts(folder):
    """Return the rows of the tables beside the fits of a cell, as dictionaries of texts."""
    return {name: list(csv.DictReader((folder / f"{name}.csv").open(newline=""))) for name in row.COLUMNS}


@pytest.fixture(scope="module")
def fits():
    """Return the first two; the seconds of another run need not have as many digits."""
    return [run_trial(trial, DATA.X, DATA.y).trial for trial in trials_of()[:2]]


def test_a_fit_comes_back_as_it_went(fits, tmp_path):
    commit(tmp_path / CELL, fits)
    assert repr(load_fits(tmp_path, "s")) == repr(fits)  # nan is not equal to itself


def test_what_a_fit_reports_of_itself_is_stored_with_it(tmp_path):
    method = {"name": "ndfs", "target": "methods.ndfs.NDFS", "params": {}, "grid": {}}
    (trial,) = expand("s", DATA, method, PROTOCOL)
    commit(tmp_path / "s" / "blobs" / "ndfs", [run_trial(trial, DATA.X, DATA.y).trial])
    facts = load_all(tmp_path).facts
    assert facts["trial"].unique().tolist() == [trial.key]
    reported = facts.set_index("name")["value"]
    assert sorted(reported.index) == ["indicator_change", "n_scored"] and 0 <= reported["indicator_change"] <= 1


def test_the_tables_beside_the_fits_have_all_digits_and_no_row_more(fits, tmp_path):
    commit(tmp_path / CELL, fits[:1], fits[1:], fits[:1])
    found = texts(tmp_path / CELL)
    assert [one["trial"] for one in found["trials"]] == [fits[1]["trial"], fits[0]["trial"]]
    assert {name: list(rows[0]) for name, rows in found.items() if rows} == {
        name: columns for name, columns in row.COLUMNS.items() if found[name]
    }
    for fit, line in zip(fits[::-1], found["trials"], strict=True):
        assert {name: str(fit[name]) for name in row.TRIALS} == line
    acc = [value for fit in fits[::-1] for one in fit["sets"] for value in one["acc"]]
    assert [float(line["acc"]) for line in found["scores"]] == acc


def test_the_tables_go_when_a_fit_is_added_and_come_when_the_cell_ends(fits, tmp_path):
    commit(tmp_path / CELL, fits[:1])
    with pytest.raises(KeyboardInterrupt), Store(tmp_path / CELL) as opened:
        assert (tmp_path / CELL / "trials.csv").exists()
        opened.append(fits[1:])
        assert not list((tmp_path / CELL).glob("*.csv"))
        raise KeyboardInterrupt
    assert len(texts(tmp_path / CELL)["trials"]) == 2


def test_a_crash_at_any_byte_loses_the_unfinished_fit_only(fits, tmp_path):
    commit(tmp_path / "whole" / CELL, fits)
    whole = (tmp_path / "whole" / CELL / FILE).read_bytes()
    first = len(whole.splitlines(keepends=True)[0])
    for cut in sorted({*range(first, len(whole), 61), first + 1, len(whole) - 1}):
        folder = tmp_path / f"cut{cut}" / CELL
        folder.mkdir(parents=True)
        (folder / FILE).write_bytes(whole[:cut])
        assert load_fits(tmp_path / f"cut{cut}", "s")[0]["trial"] == fits[0]["trial"]
        with Store(folder) as opened:
            assert done(opened) == {fits[0]["trial"]}
            opened.append(fits[1:])
        assert (folder / FILE).read_bytes() == whole


def full(descriptor):
    """Stand for `os.fsync` on a disk that is full."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_the_fits_as_they_were(fits, tmp_path, monkeypatch):
    folder = tmp_path / CELL
    with Store(folder) as opened:
        opened.append(fits[:1])
        before = (folder / FILE).read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(StoreError, match="No space left.*make room"):
                opened.append(fits[1:])
        assert (folder / FILE).read_bytes() == before
        opened.append(fits[1:])
    assert len(load_fits(tmp_path, "s")) == 2


def test_a_run_that_a_full_disk_ends_says_that_no_trial_is_lost(tmp_path, monkeypatch):
    """And not that its note and its tables, which the disk does not take either, were not written."""
    append = Store.append
    monkeypatch.setattr(Store, "append", lambda *given: monkeypatch.setattr(os, "fsync", full) or append(*given))
    with pytest.raises(StoreError, match="No space left.*All earlier trials are safe"):
        Cell(config(tmp_path)).run()


def test_failed_trials_are_stored_with_an_error_of_one_line_are_not_done_and_can_be_forgotten(tmp_path):
    trials, folder = trials_of(what="fail"), tmp_path / CELL
    commit(folder, [outcome.trial for outcome in outcomes_of(trials, 1)])
    stored = load_all(tmp_path).trials
    assert stored["status"].value_counts().to_dict() == {"converged": 3, "failed": 1}
    assert stored.loc[stored["status"] == "failed", "error"].item() == 'RuntimeError: two, is not "allowed"'
    with Store(folder) as opened:
        assert trials[1].key not in done(opened) and len(done(opened)) == 3
        opened.forget([trials[0].key, trials[1].key])
        assert done(opened) == {trials[2].key, trials[3].key}
    assert trials[0].key not in (folder / "scores.csv").read_text()


def test_the_last_line_of_a_point_counts_whatever_its_target(fits, tmp_path):
    commit(tmp_path / CELL, fits, [fits[0] | {"trial": "of another target", "objective": 7.0}])
    assert {fit["trial"] for fit in load_fits(tmp_path, "s")} == {"of another target", fits[1]["trial"]}


def test_a_second_writer_waits_for_the_first(tmp_path):
    waited, order = threading.Event(), []

    def second():
        with Store(tmp_path / CELL, on_wait=waited.set):
            order.append("second")

    with Store(tmp_path / CELL):
        thread = threading.Thread(target=second)
        thread.start()
        assert waited.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_study_belongs_to_one_protocol_and_a_name_to_one_data_set(fits, tmp_path):
    commit(tmp_path / CELL, fits)
    for name in ("misbehaving", "other"):
        cell = tmp_path / "s/blobs" / name
        check_study(cell, DATA, PROTOCOL)
        with pytest.raises(StoreError, match="restarts: stored 3, asked 5.*study=NAME"):
            check_study(cell, DATA, replace(PROTOCOL, restarts=5))
        DATA.sha, before = "cd34", DATA.sha
        try:
            with pytest.raises(StoreError, match="misbehaving holds trials of other data that were called 'blobs'"):
                check_study(cell, DATA, PROTOCOL)
        finally:
            DATA.sha = before
    with pytest.raises(StoreError, match="restarts: stored 3, asked 5"):
        check_study(tmp_path / "s/further/other", DATA, replace(PROTOCOL, restarts=5))


def test_a_study_may_be_renamed_and_gone_on_with_and_a_cell_may_not(fits, tmp_path):
    commit(tmp_path / CELL, fits)
    shutil.copytree(tmp_path / "s", tmp_path / "t")
    assert {fit["study"] for fit in load_fits(tmp_path, "t")} == {"t"}
    with Store(tmp_path / "t/blobs/misbehaving") as opened:
        assert len(done(opened)) == 2
    shutil.copytree(tmp_path / CELL, tmp_path / "t/blobs/other")
    words = r"t/blobs/other/fits.jsonl, line 1: it is of misbehaving on blobs, and the folder is called blobs/other"
    with pytest.raises(StoreError, match=words):
        load_fits(tmp_path, "t")
    damaged = []
    assert len(load_fits(tmp_path, "t", damaged=damaged)) == 2 and len(damaged) == 1


def test_a_study_or_data_set_whose_folder_is_a_link_is_gone_on_with(fits, tmp_path):
    commit(tmp_path / CELL, fits)
    for folder, place in ((tmp_path / "s/blobs", tmp_path / "data"), (tmp_path / "s", tmp_path / "large")):
        folder.rename(place)
        folder.symlink_to(place)
        with Store(tmp_path / CELL) as opened:
            assert len(done(opened)) == 2


@pytest.mark.parametrize(
    "line, words",
    [
        ("{", "Expecting property name"),
        ("[1]", "has no attribute"),
        ("{}", "trial=None must be of type str"),
        ("\xff\0", "(Expecting value|can't decode)"),
        ({"n_iter": "many"}, "n_iter='many' must be of type int"),
        ({"sets": 3}, "sets=3 must be of type list"),
    ],
)
def test_a_damaged_line_is_named_by_file_line_and_remedy(fits, tmp_path, line, words):
    commit(tmp_path / CELL, fits)
    path = tmp_path / CELL / FILE
    damaged = json.dumps(fits[0] | line) if isinstance(line, dict) else line
    path.write_bytes(path.read_bytes() + f"{damaged}\n".encode("latin-1"))
    refusal = rf"{re.escape(str(path))}, line 3: .*{words}.*[Rr]estore the file, or remove this line and run the cell"
    for read in (lambda: load_fits(tmp_path, "s"), lambda: Store(tmp_path / CELL).__enter__()):
        with pytest.raises(StoreError, match=refusal):
            read()


def test_a_name_that_is_no_folder_or_a_pattern_has_no_results(tmp_path):
    store(frames([{"dataset": "d", "method": "m", "acc": {50: [0.2]}}], study="s"), tmp_path)
    for study in ("*", "[s]", "?", "/", str(tmp_path / "s"), "../x", "..", "s/", 2024):
        assert load_results(tmp_path / "s" / "..", study).trials.empty, study
    assert len(load_all(tmp_path).trials) == 1


def test_a_rename_that_was_cut_off_leaves_nothing_once_the_cell_is_opened(tmp_path):
    (tmp_path / CELL).mkdir(parents=True)
    for name in ("trials.csv.1.tmp", "scores.csv.22.tmp"):
        (tmp_path / CELL / name).write_text("half")
    with Store(tmp_path / CELL):
        assert not list((tmp_path / CELL).glob("*.tmp"))


def test_a_cell_of_an_earlier_version_is_refused_and_left_alone(tmp_path):
    (tmp_path / CELL).mkdir(parents=True)
    path = tmp_path / CELL / "trials.csv"
    path.write_text("trial,other\n1,2\n")
    for read in (lambda: Store(tmp_path / CELL).__enter__(), lambda: load_fits(tmp_path, "s")):
        with pytest.raises(StoreError, match="misbehaving has a trials.csv and no fits.jsonl.*rename or delete it"):
            read()
    assert path.read_text() == "trial,other\n1,2\n" and not (tmp_path / CELL / FILE).exists()


def stop_after(monkeypatch, count):
    """Let a run end as by Ctrl-C once it has stored `count` times."""
    original, calls = Store.append, []

    def append(self, lines):
        if lines:
            if len(calls) == count:
                raise KeyboardInterrupt
            calls.append(1)
        original(self, lines)

    monkeypatch.setattr(Store, "append", append)


def test_a_redo_that_is_cut_off_loses_nothing(tmp_path, monkeypatch):
    Cell(config(tmp_path)).run()
    cell = tmp_path / "s/digits/laplacian_score"
    before, started = (cell / "scores.csv").read_text(), set(load_all(tmp_path).trials["fit_s"])
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        stop_after(patch, 1)
        Cell(config(tmp_path, redo=True)).run()
    assert sorted((cell / "scores.csv").read_text().splitlines()) == sorted(before.splitlines())
    assert len(load_all(tmp_path).trials) == 4
    Cell(config(tmp_path, redo=True)).run()
    assert not started & set(load_all(tmp_path).trials["fit_s"])
    assert sorted((cell / "scores.csv").read_text().splitlines()) == sorted(before.splitlines())
