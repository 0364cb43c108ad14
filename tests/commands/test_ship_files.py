"""Files that are handed in: one that cannot be read, or is not the file of a method, is refused."""

import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_data import TRUTH

from ufs_bench.runners.store import reference
from ufs_bench.runners.store.parquet import KEY
from ufs_bench.scripts.ship import REFUSED, UNVERIFIED, scores
from ufs_bench.scripts.ship import check as checks
from ufs_bench.scripts.ship.check import check


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


def test_without_data_and_beyond_the_budget_nothing_is_verified(study, monkeypatch):
    frame, found = check("mine", reference.files_of("mine"))
    assert found == []
    said = list(scores.faults(frame, None, scores.Spent(0), say=lambda line: None))
    assert {kind for kind, *_ in said} == {UNVERIFIED} and "budget" in said[0][-1]
    monkeypatch.setattr(scores, "data_of", lambda rows, folder: (None, f"{TRUTH} is not on this machine."))
    said = list(scores.faults(frame, None, scores.Spent(), say=lambda line: None))
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
    (study / reference.PROTOCOL).write_text("{}")
    assert set(checks.changed("mine", base)) == {"max_variance", "dgufs", "ndfs", "udfs"}
    with pytest.raises(ValueError, match="base=nowhere and HEAD have no commit in common here"):
        checks.commit_of("nowhere")
