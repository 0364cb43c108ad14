"""Files that are handed in: one that cannot be read, or is not the file of a method, is refused."""

import subprocess

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged import rows, with_scores, write
from small_data import TRUTH

from ufs_bench.datasets import load_dataset
from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.measures import OF_SET, of_set
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.parquet import KEY
from ufs_bench.runners.store.row import stored_nmi
from ufs_bench.runners.workers.data import Data
from ufs_bench.scripts.ship import REFUSED, UNVERIFIED, scores
from ufs_bench.scripts.ship import check as checks
from ufs_bench.scripts.ship.check import check, run_again


def test_a_file_is_of_the_method_of_its_name_which_conf_has(study, verify):
    for name in ("udfs", "unknown_method"):
        (study / "mcfs.parquet").rename(study / f"{name}.parquet")
        assert [(one.kind, one.method) for one in verify([name])] == [(REFUSED, name)]
        (study / f"{name}.parquet").rename(study / "mcfs.parquet")


def test_wrong_metadata_and_columns_are_refused(study, verify):
    table, notes = pq.read_table(study / "mcfs.parquet"), pq.read_metadata(study / "mcfs.parquet").metadata[KEY]

    def put(table, notes):
        with pq.ParquetWriter(study / "mcfs.parquet", table.schema) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({KEY: notes})

    for wrong, note in (
        (table, "{}"),
        (table, "[]"),
        (table.append_column("more", pa.nulls(len(table), pa.int32())), notes),
        (table.drop_columns(["acc"]), notes),
        (table.set_column(table.column_names.index("identity"), "identity", pa.array(["other"] * len(table))), notes),
        (table.set_column(0, "dataset", pa.array(["digit"] * len(table))), notes),
        (table.slice(0, 0), notes),
    ):
        put(wrong, note)
        assert [(one.kind, one.method) for one in verify(["mcfs"])] == [(REFUSED, "mcfs")], wrong
    put(table, notes)
    assert verify(["mcfs"]) == []


def test_a_damaged_file_is_refused(study, verify):
    whole = (study / "mcfs.parquet").read_bytes()
    for place in (len(whole) // 3, len(whole) - 20):
        (study / "mcfs.parquet").write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert [(one.kind, one.method) for one in verify()] == [(REFUSED, "mcfs")]


def test_without_data_nothing_is_verified(study, monkeypatch):
    frame, found = check("mine", reference.files_of("mine"))
    assert found == []
    monkeypatch.setattr(scores, "data_of", lambda rows, folder: (None, f"{TRUTH} is not on this machine."))
    said = list(scores.faults(frame, None, say=lambda line: None))
    assert {(kind, method) for kind, _, method, *_ in said} == {(UNVERIFIED, name) for name in set(frame["method"])}


def test_only_files_that_differ_from_a_commit_are_checked(study, monkeypatch):
    root = study.parents[1]
    monkeypatch.setattr(checks, "ROOT", root)

    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=b", *words], cwd=root, check=True, capture_output=True
        )

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    base = checks.commit_of("main")
    assert checks.changed("mine", base) == {}
    (study / "ndfs.parquet").write_bytes(b"")
    (study / "mcfs.parquet").rename(study / "udfs.parquet")
    assert set(checks.changed("mine", base)) == {"ndfs", "udfs"}
    (study.parent / reference.PROTOCOLS).write_text('{"mine": {}}')
    assert set(checks.changed("mine", base)) == {"max_variance", "dgufs", "ndfs", "udfs"}
    with pytest.raises(ValueError, match="base=nowhere and HEAD have no commit in common here"):
        checks.commit_of("nowhere")


def other_ranking(study):
    """Give a fit of max_variance another ranking, with the scores that belong to it."""
    frame = rows("max_variance")
    sets = frame.to_dict("records")
    protocol, data = Protocol.from_json(sets[0]["protocol"]), load_dataset(TRUTH)
    scaled = Data.scaled(data, protocol, "max_variance")
    ranking = np.arange(20, 40, dtype=np.int32)
    for row in sets:
        row["features"] = ranking[: row["n_selected"]]
        values, _ = evaluate(row["features"], scaled.X, data.y, protocol)
        with_scores(row, "acc", np.rint(values[0] * len(data.y)).astype(np.int32))
        with_scores(row, "nmi", stored_nmi(values[1]))
        row |= dict(zip(OF_SET, of_set(values), strict=True))
    write(pd.DataFrame(sets, columns=frame.columns), "max_variance")


def test_another_ranking_with_its_own_scores_is_found_by_the_draw_of_fits_alone(study, verify):
    other_ranking(study)
    assert verify() == []
    lines = []
    found = run_again(reference.read("mine", lists=True), 0, 100, None, None, 1, lines.append)
    assert [(one.kind, one.method) for one in found] == [(REFUSED, "max_variance")] and "features" in found[0].words


def test_true_fits_that_are_drawn_are_accepted(study):
    lines = []
    assert run_again(reference.read("mine", lists=True), 0, 3, None, None, 1, lines.append) == []
    assert "3 of 3 gave what is stored" in lines[-1]


def test_fits_that_a_cap_ended_are_not_drawn(study):
    rows_now, lines = reference.read("mine", lists=True), []
    assert run_again(rows_now.assign(status="timeout"), 0, 3, None, None, 1, lines.append) == []
    assert lines[0].startswith("0 of 0 fits")
