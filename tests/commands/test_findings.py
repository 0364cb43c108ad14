"""The findings are what the shipped results say, and their sentences say what the numbers do, whatever these are."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from scripts.core.conf import ROOT
from scripts.core.study import Study
from scripts.findings import Setting, settings_of, twins, winners
from scripts.findings.__main__ import PART, STUDY, written
from scripts.findings.page import page, readme, sentences
from scripts.ranks.gains import COLUMNS, Gains

DATA = ["umist", "orl", "digits"]


def setting(intervals, size=300):
    """Return a `Setting` of methods with these intervals over random rankings, the same over all features."""
    rows = {name: [(low + high) / 2, low, high, 1, 0, 0, 1] for name, (low, high) in intervals.items()}
    table = pd.DataFrame(rows, index=COLUMNS).T.sort_values("mean", ascending=False)
    points = pd.DataFrame({name: [row["mean"]] * 3 for name, row in table.iterrows()}, index=DATA)
    controls = pd.DataFrame({"all_features": [50.0] * 3, "random_rankings": [49.0] * 3, "min_norm": [40.0] * 3}, DATA)
    scores = points.drop(columns=[name for name in points if name in controls]) + 49
    field = SimpleNamespace(scores=scores, controls=controls, families=dict.fromkeys(DATA, "faces"), left_out=[])
    found = Gains("random_rankings", points, table, [name for name in table.index if name in controls])
    seconds = pd.Series(range(len(table)), index=table.index, dtype=float)
    return Setting("largest_size", size, field, found, found._replace(reference="all_features"), seconds, [])


@pytest.fixture(scope="module")
def stored():
    return settings_of(Study.open(ROOT / "results", STUDY))


def test_the_page_and_the_readme_have_what_the_shipped_results_say(stored):
    again = "run: python -m scripts.findings"
    assert (ROOT / "docs/findings.md").read_text(encoding="utf-8") == page(STUDY, stored), again
    part = PART.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert part[0] == part[1] + readme(STUDY, stored) + part[2], again


def test_a_method_counts_once_as_better_worse_or_undecided(stored):
    for one, text in zip(stored, sentences(stored), strict=False):
        undecided, total = map(int, re.search(r"(\d+) of (\d+) methods cannot be told", text).groups())
        table = one.methods
        assert total == len(table) and undecided == ((table["low"] <= 0) & (table["high"] >= 0)).sum()


def test_who_gains_at_one_size_only_is_not_advised():
    settings = [
        setting({"mcfs": (1, 3), "udfs": (1, 2), "rufs": (-1, 1)}),
        setting({"mcfs": (2, 4), "udfs": (-1, 2)}, 100),
    ]
    assert winners(settings) == ["mcfs"]
    advice = next(text for text in sentences(settings) if "Which method" in text)
    assert "MCFS: it gains at both sizes (300 and 100 features)." in advice and "UDFS" not in advice


def test_where_none_gains_the_sentences_say_so():
    found = " ".join(sentences([setting({"mcfs": (-1, 3), "udfs": (-4, -2)})] * 2))
    assert "1 of 2 methods cannot be told" in found and "No method gains." in found
    assert "UDFS is worse, by 3.0 points" in found
    assert "no interval lies above 0" in found and "No method gains over random rankings at both sizes" in found


def test_a_method_that_scores_as_a_control_does_is_named():
    assert twins(setting({"dgufs": (-12, -6), "mcfs": (1, 3)})) == {"dgufs": "min_norm"}


def test_a_readme_without_its_marks_is_refused(monkeypatch, tmp_path):
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    monkeypatch.setattr("scripts.findings.__main__.ROOT", tmp_path)
    with pytest.raises(ValueError, match=r"README\.md has no part"):
        written(STUDY)
