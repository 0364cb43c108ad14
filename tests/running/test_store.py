"""The store of a cell: nothing is lost, and nothing unfinished is taken for done."""

import errno
import os
import re
import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest
from fits import DATA, PROTOCOL, config, outcomes_of, trials_of
from frames import done, load_all

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.store import row
from ufs_bench.runners.store.files import StoreError
from ufs_bench.runners.store.folder import Store, claim_study, load_results
from ufs_bench.runners.workers.fit import run_trial

CELL = "s/blobs/misbehaving"


def commit(folder, *batches):
    with Store(folder) as store:
        for outcomes in batches:
            store.append(outcomes)


def lines(folder):
    return sorted((folder / "scores.csv").read_bytes().splitlines())


@pytest.fixture(scope="module")
def outcomes():
    """Return those of the first two trials; the seconds of another run need not have as many digits."""
    return [run_trial(trial, DATA.X, DATA.y) for trial in trials_of()[:2]]


def test_floats_come_back_as_they_went(outcomes, tmp_path):
    outcome = outcomes[0]
    values = np.random.default_rng(0).uniform(size=len(outcome.scores))
    rows = [(*row[:-1], float(value)) for row, value in zip(outcome.scores, values, strict=True)]
    commit(tmp_path / CELL, [replace(outcome, scores=rows)])
    np.testing.assert_array_equal(np.sort(load_all(tmp_path).scores[row.SCORES[-1]]), np.sort(values))


def test_a_crash_at_any_byte_loses_the_unfinished_trial_only(outcomes, tmp_path):
    first = outcomes[0].trial["trial"]
    commit(tmp_path / "whole", outcomes)
    commit(tmp_path / "first", outcomes[:1])
    # The bytes that storing the second trial adds, in the order they reach the disk; a crash may fall behind any.
    added = [
        (name, (tmp_path / "whole" / name).read_bytes()[len((tmp_path / "first" / name).read_bytes()) :])
        for name in ("scores.csv", "traces.csv", "facts.csv", "measures.csv", "trials.csv")
    ]
    total = sum(len(text) for _, text in added)
    ends = np.cumsum([len(text) for _, text in added])  # a byte before, at and after the end of each file, and others
    for cut in sorted({*range(0, total, 61), *(ends[:-1] - 1), *ends[:-1], *(ends[:-1] + 1), total - 1}):
        folder = tmp_path / f"cut{cut}" / CELL
        folder.mkdir(parents=True)
        left = cut
        for name, text in added:
            (folder / name).write_bytes((tmp_path / "first" / name).read_bytes() + text[:left])
            left = max(0, left - len(text))
        before = load_all(tmp_path / f"cut{cut}")
        assert list(before.trials["trial"]) == [first]
        assert set(before.scores["trial"]) == {first}
        with Store(folder) as store:
            assert done(store) == {first}
            store.append(outcomes[1:])
        assert lines(folder) == lines(tmp_path / "whole")


@pytest.mark.parametrize("name", ["scores", "measures"])
def test_a_trial_whose_rows_went_missing_is_not_done(outcomes, tmp_path, name):
    commit(tmp_path / CELL, *([outcome] for outcome in outcomes))
    path = tmp_path / CELL / f"{name}.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with Store(tmp_path / CELL) as store:
        assert done(store) == {outcomes[0].trial["trial"]}


def test_a_full_disk_leaves_the_files_as_they_were(outcomes, tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with Store(tmp_path) as store:
        store.append(outcomes[:1])
        before = (tmp_path / "scores.csv").read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", refuse)
            with pytest.raises(StoreError, match="No space left.*make room"):
                store.append(outcomes[1:])
        assert (tmp_path / "scores.csv").read_bytes() == before
        store.append(outcomes[1:])
    commit(tmp_path / "again", outcomes)
    assert lines(tmp_path) == lines(tmp_path / "again")


def test_a_run_that_a_full_disk_ends_says_that_no_trial_is_lost(tmp_path, monkeypatch):
    """And not that its note, which the disk does not take either, was not written."""

    def refuse(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    append = Store.append
    monkeypatch.setattr(Store, "append", lambda *given: monkeypatch.setattr(os, "fsync", refuse) or append(*given))
    with pytest.raises(StoreError, match="No space left.*All earlier trials are safe"):
        Cell(config(tmp_path)).run()


def test_failed_trials_are_stored_with_an_error_of_one_line_are_not_done_and_can_be_forgotten(tmp_path):
    trials, folder = trials_of(what="fail"), tmp_path / CELL
    commit(folder, outcomes_of(trials, 1))
    stored = load_all(tmp_path).trials
    assert stored["status"].value_counts().to_dict() == {"converged": 3, "failed": 1}
    assert stored.loc[stored["status"] == "failed", "error"].item() == 'RuntimeError: two, is not "allowed"'
    with Store(folder) as store:
        assert trials[1].key not in done(store) and len(done(store)) == 3
        store.forget([trials[0].key, trials[1].key])
        assert done(store) == {trials[2].key, trials[3].key}
    assert trials[0].key not in (folder / "scores.csv").read_text()


def test_a_store_of_other_columns_is_refused_and_left_alone(tmp_path):
    (tmp_path / "trials.csv").write_text("trial,other\n1,2\n")
    with pytest.raises(StoreError, match="other columns"), Store(tmp_path):
        pass
    assert (tmp_path / "trials.csv").read_text() == "trial,other\n1,2\n"


def test_a_second_writer_waits_for_the_first(tmp_path):
    waited, order = threading.Event(), []

    def second():
        with Store(tmp_path, on_wait=waited.set):
            order.append("second")

    with Store(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        assert waited.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_study_belongs_to_one_protocol(tmp_path):
    claim_study(tmp_path / "s", PROTOCOL)
    claim_study(tmp_path / "s", PROTOCOL)
    with pytest.raises(StoreError, match="restarts: stored 3, asked 5.*study=NAME"):
        claim_study(tmp_path / "s", replace(PROTOCOL, restarts=5))


def test_a_row_of_another_protocol_is_refused_before_the_work_by_any_cell_of_its_study(outcomes, tmp_path):
    commit(tmp_path / CELL, outcomes)
    claim_study(tmp_path / "s", PROTOCOL)
    path = tmp_path / CELL / "trials.csv"
    edited = path.read_text().replace('""restarts"": 3', '""restarts"": 5')
    path.write_text(edited)
    refusal = rf"{re.escape(str(path))}, column protocol: .*restarts: stored 5, asked 3.*move .*misbehaving away"
    with pytest.raises(StoreError, match=refusal):
        claim_study(tmp_path / "s", PROTOCOL)
    (tmp_path / "s" / "protocol.json").unlink()  # which is not written again for the rows of another
    with pytest.raises(StoreError, match=refusal):
        claim_study(tmp_path / "s", PROTOCOL)
    assert not (tmp_path / "s" / "protocol.json").exists()
    claim_study(tmp_path / "s", replace(PROTOCOL, restarts=5))
    assert path.read_text() == edited


def test_a_sweep_reads_the_rows_of_its_other_cells_once(outcomes, tmp_path, monkeypatch):
    commit(tmp_path / CELL, outcomes)
    shutil.copytree(tmp_path / CELL, tmp_path / "s/other/misbehaving")
    looked = []
    monkeypatch.setattr(
        "ufs_bench.runners.store.folder.check_rows", lambda path, protocol: looked.append(path.parts[-3])
    )
    for _ in range(2):
        claim_study(tmp_path / "s", PROTOCOL, tmp_path / CELL)
    assert looked == ["blobs", "other", "blobs"]


def test_a_cell_that_was_copied_from_another_study_is_named(outcomes, tmp_path):
    commit(tmp_path / CELL, outcomes)
    shutil.copytree(tmp_path / CELL, tmp_path / "t/blobs/misbehaving")
    assert len(load_results(tmp_path, "t").trials) == 2, "a whole study may be renamed"
    other = tmp_path / "t/other/misbehaving"
    shutil.copytree(tmp_path / CELL, other)
    for name in ("trials", "scores"):
        text = (other / f"{name}.csv").read_text().replace(",blobs,", ",other,")
        (other / f"{name}.csv").write_text(text.replace(",s,", ",t,"))
    with pytest.raises(StoreError, match=r"t/blobs/misbehaving/trials.csv, column study: 's' must be 't'"):
        load_results(tmp_path, "t")


def test_no_results_are_empty_frames_with_their_columns(tmp_path):
    results = load_all(tmp_path / "nowhere")
    columns = [row.TRIALS, row.SCORES, row.TRACES, row.FACTS, row.MEASURES]
    assert [list(frame.columns) for frame in results] == columns
    assert all(frame.empty for frame in results)
