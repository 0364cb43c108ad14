"""The published numbers: those handed over, and which of them are no evidence of their own."""

import re
from pathlib import Path

import pandas as pd
import pytest

from scripts.core.published import load_published
from scripts.published import mark_inherited

ROOT = Path(__file__).resolve().parents[2]


def test_inherited_marks_follow_from_the_published_numbers_themselves():
    published = load_published()
    assert published["inherited"].tolist() == mark_inherited(published.drop(columns="inherited")).tolist()


def test_inherited_marks_are_those_of_the_papers():
    marks = load_published()["inherited"]
    rules = marks.str.partition(":")[0].value_counts()
    # Twelve pairs of equal means; LUNG's six shared baselines, 2.0 apart; seven baselines of UFSOL on six data sets.
    assert rules.to_dict() == {"": 390, "stated": 42, "equal": 12, "shifted": 6}


def test_a_paper_does_not_inherit_from_a_later_one():
    published = load_published()
    assert not published.loc[published["paper"] == "rufs", "inherited"].any()


@pytest.mark.parametrize("ours, theirs", [("", "_results"), ("_runtimes", "_runtimes")])
def test_published_numbers_are_those_handed_over(data_dir, ours, theirs):
    path = data_dir.parent / "papers" / f"published{theirs}.csv"
    if not path.exists():
        pytest.skip("no papers beside the data")
    handed = pd.read_csv(path, dtype=str)
    ours = pd.read_csv(ROOT / "results" / f"published{ours}.csv", dtype=str).drop(columns="inherited", errors="ignore")
    pd.testing.assert_frame_equal(ours, handed)


def test_published_shapes_stand_in_the_papers_text(data_dir):
    for row in pd.read_csv(ROOT / "results" / "published_datasets.csv").itertuples():
        path = data_dir.parent / "papers" / f"{row.paper}.txt"
        if not path.exists():
            pytest.skip("no papers beside the data")
        shape = [str(value) for value in (row.samples, row.features, row.classes)]
        lines = [re.findall(r"(?<![\w.])\d+(?![\w.])", line) for line in path.read_text().splitlines()]
        assert any(sorted(line[-3:]) == sorted(shape) for line in lines), row
