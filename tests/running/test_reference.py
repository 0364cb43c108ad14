"""Shipped results: packed once, read as any study, taken by runs of the same code, and never written to."""

import json
import os
import shutil

import forked
import pandas as pd
import pytest

from runners import reference
from runners.files import StoreError
from runners.plan import Times
from runners.provenance import RUN
from runners.reference import folder_of, manifest, shipped_cells, stamped, unpacked
from runners.store import load_results
from scripts import ship
from scripts.core.conf import ROOT
from scripts.core.study import Study

CELL = ["method=max_variance", "dataset=digits", "protocol=smoke", "study=mine", "runner.n_jobs=1"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder of results with one finished cell."""
    folder = tmp_path_factory.mktemp("results")
    forked.printed(["run.py", *CELL, f"results_dir={folder}"], ROOT)
    return folder


@pytest.fixture
def shipped(results, shipping):
    """Ship the cell into a folder of the test's own, and return that folder."""
    assert ship.ship(results, "mine") == (["digits/max_variance"], [], [])
    return shipping / "mine"


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_shipped_study_reads_as_the_one_that_was_packed(results, shipped):
    ours, theirs = load_results(results, "mine"), Study.open(results, "reference/mine").results
    for name in ours._fields:
        assert getattr(ours, name).equals(getattr(theirs, name))


def test_an_unchanged_cell_is_not_packed_again_and_its_file_keeps_its_bytes(results, shipped):
    before = contents(shipped)
    assert ship.ship(results, "mine") == ([], ["digits/max_variance"], [])
    assert contents(shipped) == before


def test_a_damaged_file_is_packed_again(results, shipped):
    before = contents(shipped)
    (shipped / "digits" / "max_variance.tar.xz").write_bytes(b"cut off")
    assert ship.ship(results, "mine") == (["digits/max_variance"], [], [])
    assert contents(shipped) == before


def test_one_file_of_a_method_holds_all_its_cells_and_takes_in_further_ones(results, shipped, tmp_path):
    def with_cell(name, dataset):
        folder = tmp_path / name / "many"
        shutil.copytree(results / "mine" / "digits" / "max_variance", folder / dataset / "max_variance")
        shutil.copy(results / "mine" / "protocol.json", folder)
        path = folder / dataset / "max_variance" / "trials.csv"
        path.write_text(path.read_text().replace(",digits,", f",{dataset},"))
        return tmp_path / name

    first, second = with_cell("first", "one"), with_cell("second", "two")
    assert ship.ship(first, "many", by_method=True) == (["one/max_variance"], [], [])
    assert ship.ship(second, "many") == (["two/max_variance"], [], [])  # it stays so
    files = sorted(path.name for path in (tmp_path / "reference" / "many").rglob("*") if path.is_file())
    assert files == ["MANIFEST.csv", "max_variance.tar.xz", "protocol.json"]
    before = contents(tmp_path / "reference")
    assert ship.ship(first, "many") == ([], ["one/max_variance"], [])
    assert contents(tmp_path / "reference") == before
    for folder, dataset in ((first, "one"), (second, "two")):
        ((_, path),) = shipped_cells(dataset, "max_variance")
        ours = folder / "many" / dataset / "max_variance"
        assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == {
            file.name: file.read_bytes() for file in ours.glob("*.csv")
        }
    packed = tmp_path / "reference" / "many" / "max_variance.tar.xz"
    packed.write_bytes(b"cut off")
    with pytest.raises(StoreError, match="is not the file that its manifest lists: restore it"):
        ship.ship(first, "many")  # the other cell would be lost
    assert packed.read_bytes() == b"cut off"


def test_a_study_of_one_file_for_each_cell_is_not_packed_by_method_beside_them(results, shipped):
    before = contents(shipped)
    with pytest.raises(ValueError, match="one file for each cell.*: ship without it; or, .* delete that folder first"):
        ship.ship(results, "mine", by_method=True)
    assert contents(shipped) == before


def test_shipped_seconds_count_where_this_machine_has_none_at_the_same_parameters(results, shipped, tmp_path):
    (row,) = load_results(results, "mine").trials.to_dict("records")
    seconds = row["fit_s"] + row["eval_s"]
    point = "digits", (1797, 64), json.loads(row["params"])
    assert Times(tmp_path / "none", "max_variance").of(*point) == (seconds, "its shipped fits on digits")
    own = Times(results, "max_variance")
    assert own.of(*point) == (seconds, "its fits on digits") and own.measured("digits", point[2]) == seconds
    further, source = Times(tmp_path / "none", "max_variance").of("further", (1797, 4 * 64), {})
    assert further == pytest.approx(seconds * 4**1.5) and source.startswith("its shipped fits on digits, times")


def test_reading_leaves_the_shipped_files_as_they_are(results, shipped):
    before = contents(shipped)
    study = Study.open(results, "reference/mine")
    assert len(study.select()) and study.output_dir == results / "reference-mine"
    assert contents(shipped) == before


def test_what_earlier_manifests_listed_is_forgotten_when_nothing_has_read_it_for_long(results, shipped):
    kept = unpacked("mine")
    folders = [kept.with_name(name) for name in ("old", "lately", "other")]
    for folder, study in zip(folders, ("mine", "mine", "another"), strict=True):
        (folder / study).mkdir(parents=True)
    for folder in (kept, folders[0], folders[2]):
        os.utime(folder, (0, 0))
    assert unpacked("mine") == kept  # which marks it as used
    with open(shipped / reference.MANIFEST, "a") as file:
        file.write("\n")
    unpacked("mine")
    assert [folder.exists() for folder in (kept, *folders)] == [True, False, True, True]


def test_a_damaged_file_is_refused_with_the_remedy(shipped):
    file = shipped / "digits" / "max_variance.tar.xz"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StoreError, match="max_variance.tar.xz is not the file that its manifest lists: restore it"):
        unpacked("mine")
    file.unlink()
    with pytest.raises(StoreError, match="cannot be read .*restore it"):
        unpacked("mine")


def test_what_is_not_shipped_names_what_is(shipped):
    with pytest.raises(StoreError, match="no shipped study reference/other; there are: reference/mine"):
        folder_of("results", "reference/other")


def test_a_cell_that_lacks_trials_is_left_out_unless_it_is_asked_for(results, shipped, tmp_path):
    cut = tmp_path / "cut"
    shutil.copytree(results, cut)
    folder = cut / "mine" / "digits" / "max_variance"
    for name in ("trials", "scores", "traces", "facts", "measures"):
        path = folder / f"{name}.csv"
        path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert ship.ship(cut, "mine") == ([], [], ["digits/max_variance"])


def test_what_a_cell_lacks_of_its_last_run_counts_as_missing_in_its_study_and_where_it_is_shipped(
    results, shipped, tmp_path
):
    assert Study.open(results, "mine").select()["n_missing"].tolist() == [0]
    shutil.copytree(results, tmp_path / "cut")
    note = tmp_path / "cut/mine/digits/max_variance" / RUN
    asked = json.loads(note.read_text())
    note.write_text(json.dumps(asked | {"trials": [*asked["trials"], "one more", "and another"]}))
    shutil.rmtree(shipped)
    assert ship.ship(tmp_path / "cut", "mine", partial=True)[0] == ["digits/max_variance"]
    for folder, name in ((tmp_path / "cut", "mine"), (tmp_path / "none", "reference/mine")):
        study = Study.open(folder, name)
        assert study.lacking == {("digits", "max_variance"): 2}
        assert study.select()["n_missing"].tolist() == [2] and pd.notna(study.select()["mean"]).all()


def test_a_fit_without_scores_costs_what_it_took(results, shipped, tmp_path):
    shutil.copytree(results, tmp_path / "capped")
    path = tmp_path / "capped/mine/digits/max_variance/trials.csv"
    rows = pd.read_csv(path, dtype=str, keep_default_na=False).assign(fit_s="60.0", eval_s="nan")
    rows.to_csv(path, index=False)
    assert ship.ship(tmp_path / "capped", "mine")[0] == ["digits/max_variance"]
    assert reference.shipped_costs("mine") == {("digits", "max_variance"): 60.0}


def test_another_protocol_is_not_shipped_under_the_same_name(results, shipped, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(results, other)
    path = other / "mine" / "protocol.json"
    path.write_text(path.read_text().replace('"restarts": 2', '"restarts": 3'))
    with pytest.raises(ValueError, match="ship under another study's name"):
        ship.ship(other, "mine")


def test_a_stamp_names_the_later_code_of_one_cell(shipped):
    (row,) = manifest(shipped)
    old = row["code_fit"], row["code_evaluation"]
    (shipped / "STAMPS.csv").write_text(
        "dataset,method,old_fit,old_evaluation,new_fit,new_evaluation,sample,date\n"
        f"digits,max_variance,{old[0]},{old[1]},new,{old[1]},3 of 3,2026-11-22\n"
    )
    assert stamped("mine", "digits", "max_variance") == {old: {("new", old[1])}}
    assert not stamped("mine", "digits", "mcfs")
    ((name, path),) = shipped_cells("digits", "max_variance")
    assert name == "mine" and path.exists() and shipped_cells("digits", "mcfs") == []


def test_what_is_shipped_is_below_40_megabytes():
    files = [path for path in (ROOT / "results/reference").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 40e6
