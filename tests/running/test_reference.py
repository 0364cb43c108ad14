"""Shipped results: packed once, read as any study, taken by runs of the same code, and never written to."""

import json
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from frames import change, load_results
from small_data import TRUTH

from ufs_bench.metrics.measures import OF_SET
from ufs_bench.runners.experiment.notes import RUN
from ufs_bench.runners.experiment.plan import Times
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.fits import FILE, load_fits
from ufs_bench.runners.store.parquet import SCHEMA
from ufs_bench.runners.store.row import to_json
from ufs_bench.runners.store.tidy import COLUMNS, fit_of
from ufs_bench.scripts.core import refits
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.ship import pack

QUICK = ["protocol=smoke", "runner.n_jobs=1"]
CELL = [*QUICK, "method=max_variance", f"dataset={TRUTH}", "study=mine"]


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_cells):
    """Return a folder of results with one finished cell."""
    folder = tmp_path_factory.mktemp("results")
    run_cells(*CELL, f"results_dir={folder}")
    return folder


@pytest.fixture
def shipped(results, shipping):
    """Ship the cell into a folder of the test's own, and return that folder."""
    assert pack.ship(results, "mine") == ([f"{TRUTH}/max_variance"], [], [])
    return shipping / "mine"


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_shipped_study_reads_as_the_one_that_was_packed(results, shipped):
    ours, theirs = (Study.open(results, name) for name in ("mine", "reference/mine"))
    for mine, shipped_one in ((ours.summary, theirs.summary), (ours.whole, theirs.whole)):
        both = [frame.drop(columns=["feature_set", "shared"], errors="ignore") for frame in (mine, shipped_one)]
        pd.testing.assert_frame_equal(
            *both, check_like=True, check_dtype=False, rtol=1e-6
        )  # seconds are stored as a float32
        exact = ["acc_mean", "acc_std", "nmi_mean", "nmi_std", "objective", "rise", *OF_SET]
        assert both[0][exact].equals(both[1][exact])
    fits, (stored,) = [fit_of(study.whole) for study in (ours, theirs)], load_fits(results, "mine")
    for name in ("ranking", "feature_sets", "sizes", "labels", "sets", "facts"):
        assert fits[0][name] == fits[1][name] == stored[name]


def test_a_cell_that_is_read_or_packed_again_unchanged_keeps_its_bytes(results, shipped):
    before = contents(shipped)
    study = Study.open(results, "reference/mine")
    assert len(study.select()) and study.output_dir == results / "mine"
    assert pack.ship(results, "mine") == ([], [f"{TRUTH}/max_variance"], [])
    assert contents(shipped) == before


def test_one_file_of_a_method_holds_all_its_cells_and_takes_in_further_ones(shipping, tmp_path, run_cells):
    def with_cell(name, dataset):
        words = [*QUICK, "method=max_variance", f"dataset={dataset}", "study=many", f"results_dir={tmp_path / name}"]
        run_cells(*words)
        return tmp_path / name

    one, two = (TRUTH.replace("s0", seed) for seed in ("s1", "s2"))
    first, second = with_cell("first", one), with_cell("second", two)
    assert pack.ship(first, "many") == ([f"{one}/max_variance"], [], [])
    assert pack.ship(second, "many") == ([f"{two}/max_variance"], [], [])
    assert [path.name for path in (shipping / "many").iterdir()] == ["max_variance.parquet"]
    before = contents(shipping)
    assert pack.ship(first, "many") == ([], [f"{one}/max_variance"], [])
    assert contents(shipping) == before
    tidy_frame = pd.read_parquet(shipping / "many")  # one line, as docs/shipped.md says
    assert list(tidy_frame) == [column.name for column in COLUMNS]
    assert tidy_frame["dataset"].unique().tolist() == [one, two]


def test_shipped_seconds_count_where_this_machine_has_none_at_the_same_parameters(results, shipped, tmp_path):
    (row,) = load_results(results, "mine").trials.to_dict("records")
    seconds = float(np.float32(row["fit_s"])) + float(np.float32(row["eval_s"]))
    point = TRUTH, (300, 100), json.loads(row["params"])
    assert Times(tmp_path / "none", "max_variance").of(*point) == (seconds, f"its shipped fits on {TRUTH}")
    own = Times(results, "max_variance")
    assert own.of(*point) == (pytest.approx(seconds), f"its fits on {TRUTH}")
    further, source = Times(tmp_path / "none", "max_variance").of("further", (300, 4 * 100), {})
    assert further == pytest.approx(seconds * 4**1.5) and source.startswith(f"its shipped fits on {TRUTH}, times")


def test_a_damaged_file_is_refused_with_the_remedy(results, shipped):
    file = shipped / "max_variance.parquet"
    whole = file.read_bytes()
    column = pq.ParquetFile(file).metadata.row_group(0).column(SCHEMA.get_field_index("acc_mean"))
    # The last byte of a page, as not every byte of its header matters.
    for place in (column.data_page_offset + column.total_compressed_size - 1, len(whole) - 20):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with pytest.raises(StoreError, match="max_variance.parquet cannot be read .*restore it"):
            reference.read("mine", lists=True)
        with pytest.raises(StoreError, match="restore it"):
            pack.ship(results, "mine")


def test_what_is_not_shipped_names_what_is(shipped):
    with pytest.raises(StoreError, match="no shipped study reference/other; there are: reference/mine"):
        Study.open("results", "reference/other")


def test_a_cell_that_lacks_trials_is_left_out_unless_it_is_asked_for(results, shipped, tmp_path):
    cut = tmp_path / "cut"
    shutil.copytree(results, cut)
    folder = cut / "mine" / TRUTH / "max_variance"
    (folder / FILE).write_text("")
    assert pack.ship(cut, "mine") == ([], [], [f"{TRUTH}/max_variance"])


def test_what_a_cell_lacks_of_its_last_run_counts_as_missing_in_its_study_and_where_it_is_shipped(
    results, shipped, tmp_path
):
    assert Study.open(results, "mine").select()["n_missing"].tolist() == [0]
    shutil.copytree(results, tmp_path / "cut")
    note = tmp_path / f"cut/mine/{TRUTH}/max_variance" / RUN
    asked = json.loads(note.read_text())
    note.write_text(json.dumps(asked | {"trials": [*asked["trials"], "one more", "and another"]}))
    shutil.rmtree(shipped)
    assert pack.ship(tmp_path / "cut", "mine", partial=True)[0] == [f"{TRUTH}/max_variance"]
    for folder, name in ((tmp_path / "cut", "mine"), (tmp_path / "none", "reference/mine")):
        study = Study.open(folder, name)
        assert study.lacking == {(TRUTH, "max_variance"): 2}
        assert study.select()["n_missing"].tolist() == [2] and pd.notna(study.select()["mean"]).all()


def test_shipped_refits_read_as_they_were_packed(results, shipped, tmp_path):
    shutil.copytree(results, tmp_path / "more")
    rows = pd.DataFrame(
        [("ab", TRUTH, method, 5, "kmeans", 7, "converged", 0.5, 0.25, "01") for method in ("max_variance", "other")],
        columns=refits.COLUMNS[refits.SEEDS],
    )
    refits.write(tmp_path / "more/mine", refits.SEEDS, rows)
    pack.ship(tmp_path / "more", "mine")
    pd.testing.assert_frame_equal(refits.read(shipped, refits.SEEDS), rows[:1], check_dtype=False)


def test_a_cell_that_verify_refuses_is_not_shipped_and_nothing_is_written(results, shipping, tmp_path, run_cells):
    """The others of its study wait, too."""
    folder = tmp_path / "rest" / "mine"
    shutil.copytree(results, tmp_path / "rest")
    run_cells(*QUICK, "method=pfa", f"dataset={TRUTH}", "study=mine", f"results_dir={tmp_path}/rest")
    change(folder / TRUTH / "pfa", n_features=7)
    with pytest.raises(StoreError, match="pfa .*: n_features=7 must be 100, as conf/dataset says"):
        pack.ship(tmp_path / "rest", "mine")
    assert not shipping.exists()


def test_another_protocol_is_not_shipped_under_the_same_name(results, shipped, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(results, other)
    cell = other / "mine" / TRUTH / "max_variance"
    protocol = json.loads(load_fits(other, "mine")[0]["protocol"]) | {"restarts": 3}
    change(cell, protocol=to_json(protocol))
    with pytest.raises(ValueError, match="ship under another study's name"):
        pack.ship(other, "mine")


def test_what_is_shipped_is_below_40_megabytes():
    """It is a download of everybody; what is shipped of a paper's table takes one to three of these."""
    files = [path for path in (ROOT / "results/reference").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 40e6


def test_every_data_set_of_fair_has_the_random_rankings_that_a_gain_is_over():
    rows = pd.read_parquet(ROOT / "results/reference/fair", columns=["dataset", "method"])
    assert set(rows["dataset"]) == set(rows.loc[rows["method"] == "random_rankings", "dataset"])
