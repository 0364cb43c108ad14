"""Files that are handed in: places, names, columns, metadata and sizes are bounded before a row is believed."""

import json
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_data import TRUTH

from runners.store import reference
from runners.store.identity import Identity
from runners.store.parquet import KEY, key_of
from scripts.verify import REFUSED, UNVERIFIED, Finding, changed, files, scores, stamps
from scripts.verify.__main__ import _against
from scripts.verify.check import check, part


def test_a_method_must_be_in_its_own_file(study, verify):
    (study / "max_variance.parquet").rename(study / "udfs.parquet")
    assert [one.method for one in verify()] == ["udfs"]


@pytest.mark.parametrize("place", ["notes.txt", "unknown_method.parquet", "more/mcfs.parquet", "mcfs.parquet.py"])
def test_only_files_of_methods_may_lie_in_a_study(study, verify, place):
    (study / place).parent.mkdir(exist_ok=True)
    (study / place).write_bytes((study / "mcfs.parquet").read_bytes())
    assert {one.kind for one in verify()} == {REFUSED}


def test_a_link_and_another_protocol_are_refused(study, verify, tmp_path):
    (tmp_path / "away").write_bytes((study / "mcfs.parquet").read_bytes())
    (study / "mcfs.parquet").unlink()
    (study / "mcfs.parquet").symlink_to(tmp_path / "away")
    assert any("is a link" in one.words for one in verify())
    protocol = json.loads((study / "_protocol.json").read_text())
    (study / "_protocol.json").write_text(json.dumps(protocol | {"seed": 1}))
    assert {one.method for one in verify()} >= {"max_variance", "dgufs", "ndfs"}
    (study / "_protocol.json").write_text(json.dumps(protocol)[:-1] + ', "seed": 0}')
    assert any("a name is there twice" in words for _, words in files.faults_of_study("mine"))
    (study / "_protocol.json").write_text("[]")
    assert any("is no protocol" in words for _, words in files.faults_of_study("mine"))


def test_a_study_that_is_a_link_is_refused(study, verify, tmp_path):
    study.rename(tmp_path / "away")
    study.symlink_to(tmp_path / "away")
    assert [(one.kind, one.words) for one in verify()] == [
        (REFUSED, "the study is a link: only files may be handed in.")
    ]
    (study.parent / "LICENSE").symlink_to(tmp_path / "away")
    assert files.strangers() == ["LICENSE", "mine"]


def table_of(study, method="mcfs"):
    table = pq.read_table(study / f"{method}.parquet")
    return table, json.loads(pq.read_metadata(study / f"{method}.parquet").metadata[KEY])


def put(study, table, notes, method="mcfs"):
    with pq.ParquetWriter(study / f"{method}.parquet", table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: json.dumps(notes)})


def test_forged_metadata_and_columns_are_refused(study, verify):
    table, notes = table_of(study)
    ((name, identity),) = notes["identities"].items()
    for true in table, table.drop_columns(["nth_seed", "n_scored"]):  # as files of earlier versions
        put(study, true, notes)
        assert verify() == []
    put(study, table, {})
    assert {(one.kind, one.method) for one in verify()} == {(REFUSED, "mcfs")}
    for forged in (
        {},
        [],
        {"identities": notes["identities"]},
        notes | {"more": 1},
        notes | {"lacking": {TRUTH: -1}},
        notes | {"lacking": {"umist": 1}},
        notes | {"lacking": {TRUTH: "1"}},
        notes | {"identities": {"other": identity}},
        notes | {"identities": {name: identity, "other": identity}},
        notes | {"identities": {name: identity[:2]}},
        notes | {"identities": {name: [1, 2, 3, 4]}},
        notes | {"identities": {name: [*identity[:2], "no JSON", identity[3]]}},
        notes | {"identities": {name: ["ab" * 8, *identity[1:]]}},
        *(
            notes | {"identities": {key_of(Identity(*own)): own}}
            for own in (
                *([*identity[:3], read] for read in ("[1]", "null", "no JSON", "{}", '{"a": 1}', '{"": "ab"}')),
                *(
                    [*identity[:2], text, ""]
                    for text in ('{"arithmetic": "abc"}', '{"arithmetic": 5}', '{"numpy": []}')
                ),
            )
        ),
    ):
        put(study, table, forged)
        assert {one.kind for one in verify(["mcfs"])} == {REFUSED}, forged
    for forged in (
        table.append_column("more", pa.nulls(len(table), pa.int32())),
        table.drop_columns(["acc"]),
        table.set_column(0, "dataset", table["dataset"].cast(pa.large_string())),
        table.set_column(table.column_names.index("identity"), "identity", pa.array(["other"] * len(table))),
        table.set_column(0, "dataset", pa.nulls(len(table), pa.string())),
        table.select(table.column_names[::-1]),
        table.slice(0, 0),
    ):
        put(study, forged, notes)
        assert {one.kind for one in verify(["mcfs"])} == {REFUSED}


def test_a_cell_is_of_one_arithmetic_and_two_data_sets_of_a_file_may_be_of_two(study):
    table, notes = table_of(study)
    ((name, identity),) = notes["identities"].items()
    versions = json.loads(identity[2]) | {"arithmetic": "products abc"}
    other = [*identity[:2], json.dumps(versions), ""]
    both = notes | {"identities": {name: identity, key_of(Identity(*other)): other}}

    def said(datasets):
        names = pa.array([name, key_of(Identity(*other))] * (len(table) // 2))
        mixed = table.set_column(table.column_names.index("identity"), "identity", names)
        put(study, mixed.set_column(0, "dataset", pa.array(datasets * (len(table) // 2))), both)
        return [words for words in files.faults_of_file(study / "mcfs.parquet") if "fingerprint" in words]

    assert said([TRUTH, "umist"]) == []
    assert said([TRUTH] * 2) == [f"its rows on {TRUTH} are of machines of several fingerprints: run the cell on one."]


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_before_it_is_read(study, verify, monkeypatch):
    table, notes = table_of(study)
    put(study, pa.table({"dataset": pa.repeat(table["dataset"][0], 2_000_000)}), notes)
    assert (study / "mcfs.parquet").stat().st_size < 50_000
    monkeypatch.setattr(pq.ParquetFile, "read", None)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)
    assert "2000000 rows, more than 1000000" in files.fault_of_size(study / "mcfs.parquet")
    (study / "mcfs.parquet").write_bytes(b"PAR1" + bytes(100))
    assert "no Parquet file" in files.fault_of_size(study / "mcfs.parquet")


def test_a_file_that_lies_about_what_it_unpacks_to_is_noticed_while_it_is_read(study, verify, monkeypatch):
    monkeypatch.setattr(files, "MOST_UNPACKED", 10_000)
    monkeypatch.setattr(files, "fault_of_size", lambda path: "")
    assert any("unpacks to more than 10000 bytes" in one.words for one in verify())


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


def test_a_file_is_noted_as_verified_where_nothing_was_found_and_until_it_changes(study):
    frame = reference.read("mine", lists=True)
    found = [Finding(UNVERIFIED, "mine", "mcfs", TRUTH, "", "no data")]
    assert not reference.is_verified("mine", "ndfs")
    assert stamps.write(frame[frame["trial"] != frame["trial"].iloc[0]], found) == 2  # one file is not whole
    assert not reference.is_verified("mine", "mcfs")
    assert stamps.write(frame, found) == 3 and reference.is_verified("mine", "ndfs")
    table, notes = table_of(study, "ndfs")
    put(study, table, notes, "ndfs")
    assert not reference.is_verified("mine", "ndfs")


def test_only_cells_that_differ_from_a_commit_are_verified_and_lost_rows_are_named(study, monkeypatch):
    root = study.parents[1]
    monkeypatch.setattr(changed, "ROOT", root)

    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=b", *words], cwd=root, check=True, capture_output=True
        )

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    base = changed.commit_of("main")
    assert part("mine", base) == [] and changed.gone("mine", base) == [] and changed.lost_studies(base) == []
    table, notes = table_of(study, "ndfs")
    put(study, table, notes, "ndfs")  # other bytes, the same rows
    assert part("mine", base) == []
    place, kind = table.schema.get_field_index("trace"), table.schema.field("trace")
    put(study, table.set_column(place, kind, pa.nulls(len(table), kind.type)), notes, "ndfs")
    assert table["trace"].null_count < len(table) and part("mine", base) == []  # its traces alone are left out
    other = [None if one is None else [*one[:-1], 0.0] for one in table["trace"].to_pylist()]
    put(study, table.set_column(place, kind, pa.array(other, kind.type)), notes, "ndfs")
    assert part("mine", base) == [(TRUTH, "ndfs")]
    put(study, table.slice(1), notes, "ndfs")
    (study / "mcfs.parquet").unlink()
    assert part("mine", base) == [(TRUTH, "ndfs")] and changed.gone("mine", base) == [(TRUTH, "mcfs")]
    assert not changed.is_changed(study / reference.VERIFIED, base)
    (study / reference.VERIFIED).write_text("{}")
    assert changed.is_changed(study / reference.VERIFIED, base) and files.strangers() == []
    (study / reference.STAMPS).write_text("dataset,method\n")
    (study / "_seeds").mkdir()
    (study / "_seeds" / "ndfs.parquet").write_bytes(b"forged")
    found = [(one.kind, one.words.split()[0]) for one in _against("mine", base, stamping=False) if one.method != "mcfs"]
    assert found == [(REFUSED, reference.VERIFIED), (REFUSED, reference.STAMPS), (UNVERIFIED, "_seeds/ndfs.parquet")]
    assert len(list(_against("mine", base, stamping=True))) == 2
    (study.parent / "more").mkdir()
    assert files.strangers() == ["more"]
    with pytest.raises(ValueError, match="base=nowhere and HEAD have no commit in common here"):
        changed.commit_of("nowhere")
