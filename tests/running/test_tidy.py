"""The tidy frame: what it rounds, what it refuses, and the pages that describe it."""

import io
import re
import tomllib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from frames import frames
from hypothesis import given
from hypothesis import strategies as st

from ufs_bench.runners.store.parquet import _restored, packed
from ufs_bench.runners.store.row import FIELDS, REPORTED, stored_nmi, subsets_of
from ufs_bench.runners.store.tidy import COLUMNS, _rounded, fit_of, tidy
from ufs_bench.runners.workers.fit import FACTS
from ufs_bench.scripts.core.text import pipes

ROOT = Path(__file__).resolve().parents[2]
POINT = {"dataset": "umist", "method": "mcfs", "acc": {50: [0.4, 0.6], 100: [0.5, 0.9]}, "ranking": [*range(100)]}


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2))
def test_a_rounded_trace_never_rises_where_the_trace_falls(values):
    first, second = _rounded(np.sort(values))
    assert first <= second
    for before, after in zip(np.sort(values), (first, second), strict=True):
        assert abs(after - before) <= 2**-24 * abs(before) or abs(before) < 1e-300


def test_a_trace_stands_once_and_the_largest_rise_is_that_of_the_exact_one():
    frame = tidy(frames([POINT | {"trace": [2.0, 1.0, 1.0 + 1e-9, 0.5]}]))
    assert [trace is None for trace in frame["trace"]] == [False, True]
    assert frame["rise"].tolist() == pytest.approx([1e-9] * 2, rel=1e-6)


def test_the_rows_of_a_fit_come_back_as_they_were_stored():
    (fit,) = frames([POINT | {"facts": {"indicator_change": 0.25}, "trace": [2.0, 1.0]}])
    names = [name for name in FIELDS if name != "feature_sets"]  # of which the made-up fit has none
    back = fit_of(tidy([fit]))
    assert back.keys() == FIELDS.keys() and [back[name] for name in names] == [fit[name] for name in names]


def test_a_stored_ranking_is_one_list_or_one_for_each_size():
    assert subsets_of("[4, 2, 9]", [2, 3]) == {2: [4, 2], 3: [4, 2, 9]}
    assert subsets_of('{"2": [4, 2], "3": [1, 2, 3]}', [3]) == {3: [1, 2, 3]}


def test_the_means_of_a_fit_are_the_same_alone_and_in_a_study():
    counts = np.random.default_rng(0).integers(30, 60, (50, 100)) / 72
    points = [POINT | {"acc": {50: own.tolist()}, "params": {"n": n}} for n, own in enumerate(counts)]
    means = ["acc_mean", "nmi_mean"]
    study = tidy(frames(points)).set_index("params")[means]
    for point in points:
        alone = tidy(frames([point])).set_index("params")[means]
        assert alone.iloc[0].tolist() == study.loc[alone.index[0]].tolist()


def test_nmi_of_a_restart_is_stored_in_ten_thousandths_and_comes_back_from_parquet():
    stored = stored_nmi([0.1234499, 0.1234501, 0.0, 1.0, 0.29999999999999993])
    assert stored.tolist() == [0.1234, 0.1235, 0.0, 1.0, 0.3] == stored_nmi(stored).tolist()
    frame = tidy(frames([POINT]))
    back = _restored(pq.read_table(io.BytesIO(packed(frame, {})), columns=["nmi", "nmi_mean", "nmi_std", "acc_std"]))
    for name in back:
        assert np.array_equal(np.stack(back[name]), np.stack(frame[name]))


def test_a_fact_without_a_column_is_refused_and_all_that_fits_report_have_one():
    with pytest.raises(ValueError, match="'unheard' is no column of the tidy frame: add it to runners/store/tidy.py"):
        tidy(frames([POINT | {"facts": {"unheard": 1.0}}]))
    assert set(FACTS) <= set(REPORTED) <= {column.name for column in COLUMNS}


def test_the_first_release_of_the_changelog_is_the_version_of_the_package():
    """Changes after it stand before it; the files for citations name the same version."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert re.search(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'"version": "{version}"' in (ROOT / ".zenodo.json").read_text("utf-8")


def test_the_page_of_shipped_results_has_the_table_of_all_columns():
    lines = [(f"`{column.name}`", column.type, column.unit, column.words) for column in COLUMNS]
    assert pipes([("column", "type", "unit", "what it is"), *lines]) in (ROOT / "docs/shipped.md").read_text("utf-8")
