"""Files that are handed in: places, names, columns and metadata are those of shipped studies."""

import json
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_data import TRUTH

from ufs_bench.runners.store import reference
from ufs_bench.runners.store.parquet import KEY, identity_of, key_of
from ufs_bench.scripts.ship import REFUSED, UNVERIFIED, files, scores
from ufs_bench.scripts.ship import check as checks
from ufs_bench.scripts.ship.check import check, part


def test_a_method_must_be_in_its_own_file(study, verify):
    (study / "max_variance.parquet").rename(study / "udfs.parquet")
    assert [one.method for one in verify()] == ["udfs"]


@pytest.mark.parametrize("place", ["notes.txt", "unknown_method.parquet", "more/mcfs.parquet", "mcfs.parquet.py"])
def test_only_files_of_methods_may_lie_in_a_study(study, verify, place):
    (study / place).parent.mkdir(exist_ok=True)
    (study / place).write_bytes((study / "mcfs.parquet").read_bytes())
    assert {one.kind for one in verify()} == {REFUSED}


def test_another_protocol_is_refused(study, verify):
    protocol = json.loads((study / "_protocol.json").read_text())
    (study / "_protocol.json").write_text(json.dumps(protocol | {"seed": 1}))
    assert {one.method for one in verify()} >= {"max_variance", "dgufs", "ndfs"}
    (study / "_protocol.json").write_text("[]")
    assert any("is no protocol" in words for _, words in files.faults_of_study("mine"))


def table_of(study, method="mcfs"):
    table = pq.read_table(study / f"{method}.parquet")
    return table, json.loads(pq.read_metadata(study / f"{method}.parquet").metadata[KEY])


def put(study, table, notes, method="mcfs"):
    with pq.ParquetWriter(study / f"{method}.parquet", table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: json.dumps(notes)})


def test_wrong_metadata_and_columns_are_refused(study, verify):
    table, notes = table_of(study)
    ((name, identity),) = notes["identities"].items()
    for true in table, table.drop_columns(["nth_seed", "n_scored"]):  # as files of earlier versions
        put(study, true, notes)
        assert verify() == []
    for wrong in (
        {},
        [],
        {"identities": notes["identities"]},
        notes | {"lacking": {"umist": 1}},
        notes | {"identities": {"other": identity}},
        notes | {"identities": {name: identity, "other": identity}},
        notes | {"identities": {name: identity[:2]}},
        notes | {"identities": {name: [*identity[:2], "no JSON", identity[3]]}},
        notes | {"identities": {name: ["ab" * 8, *identity[1:]]}},
    ):
        put(study, table, wrong)
        assert {(one.kind, one.method) for one in verify(["mcfs"])} == {(REFUSED, "mcfs")}, wrong
    for wrong in (
        table.append_column("more", pa.nulls(len(table), pa.int32())),
        table.drop_columns(["acc"]),
        table.set_column(0, "dataset", table["dataset"].cast(pa.large_string())),
        table.set_column(table.column_names.index("identity"), "identity", pa.array(["other"] * len(table))),
        table.set_column(0, "dataset", pa.nulls(len(table), pa.string())),
        table.select(table.column_names[::-1]),
        table.slice(0, 0),
    ):
        put(study, wrong, notes)
        assert {one.kind for one in verify(["mcfs"])} == {REFUSED}


def test_a_cell_is_of_one_arithmetic_and_two_data_sets_of_a_file_may_be_of_two(study):
    table, notes = table_of(study)
    ((name, identity),) = notes["identities"].items()
    versions = json.loads(identity[2]) | {"arithmetic": "products abc"}
    other = [*identity[:2], json.dumps(versions), ""]
    both = notes | {"identities": {name: identity, key_of(identity_of(other)): other}}

    def said(datasets):
        names = pa.array([name, key_of(identity_of(other))] * (len(table) // 2))
        mixed = table.set_column(table.column_names.index("identity"), "identity", names)
        put(study, mixed.set_column(0, "dataset", pa.array(datasets * (len(table) // 2))), both)
        return [words for words in files.faults_of_file(study / "mcfs.parquet") if "fingerprint" in words]

    assert said([TRUTH, "umist"]) == []
    assert said([TRUTH] * 2) == [f"its rows on {TRUTH} are of machines of several fingerprints: run the cell on one."]


def test_a_damaged_file_is_refused(study, verify):
    whole = (study / "mcfs.parquet").read_bytes()
    for place in (len(whole) // 3, len(whole) - 20):
        (study / "mcfs.parquet").write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert {(one.kind, one.method) for one in verify()} == {(REFUSED, "mcfs")}


def test_without_data_and_beyond_the_budget_nothing_is_verified(study, handed_in, tmp_path, monkeypatch):
    _, found = check("mine", part("mine", None), None, scores.Spent(0), tmp_path, say=lambda line: None)
    assert {one.kind for one in found} == {UNVERIFIED} and "budget" in found[0].words
    monkeypatch.setattr(scores, "data_of", lambda rows, folder: (None, f"{TRUTH} is not on this machine."))
    _, found = check("mine", part("mine", None), None, scores.Spent(), tmp_path, say=lambda line: None)
    assert {one.kind for one in found} == {UNVERIFIED} and {one.method for one in found} == {
        "max_variance",
        "dgufs",
        "mcfs",
        "ndfs",
    }


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
    assert part("mine", base) == []
    table, notes = table_of(study, "ndfs")
    put(study, table.slice(1), notes, "ndfs")
    (study / "mcfs.parquet").rename(study / "udfs.parquet")
    assert part("mine", base) == [(TRUTH, "ndfs"), (TRUTH, "udfs")]
    (study / reference.PROTOCOL).write_text("{}")
    assert {method for _, method in part("mine", base)} == {"max_variance", "dgufs", "ndfs", "udfs"}
    (study.parent / "more").mkdir()
    assert files.strangers() == ["more"]
    with pytest.raises(ValueError, match="base=nowhere and HEAD have no commit in common here"):
        checks.commit_of("nowhere")
