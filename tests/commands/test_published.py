"""The published numbers: all are there, and those that are not evidence of their own are marked."""

import re

import numpy as np
import pandas as pd
import pytest
from paper_studies import published_pixels

from ufs_bench.datasets import load_dataset
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.papers import YEARS, load_published

# Section 5.2 of the UFSOL paper: its baselines' results are those of "their published works".
STATED = ("all_features", "laplacian_score", "mcfs", "udfs", "ndfs", "rufs", "socfs")
TIES = 2  # one equal mean on a data set may be chance: unrelated papers have 1 among the 78 cells that they share


def mark_inherited(published):
    """Return the marks of the cells of `load_published`, as docs/reading.md explains them."""
    marks = pd.Series("", index=published.index)
    marks[(published["paper"] == "ufsol") & published["method"].isin(STATED)] = "stated"
    for paper in YEARS:
        for earlier in sorted((name for name in YEARS if YEARS[name] < YEARS[paper]), key=YEARS.get, reverse=True):
            pairs = shared_cells(published, paper, earlier)
            for _, group in pairs.groupby(["dataset", "metric"]):
                differences = group["difference"].round(6)
                same_sizes = (group["n_features"].fillna(0) == group["n_features_earlier"].fillna(0)).all()
                if len(group) >= 3 and same_sizes and differences.nunique() == 1 and differences.iloc[0] != 0:
                    marks[group["row"]] = f"shifted:{earlier}"
            # The earliest paper comes last, so that a number is attributed to the paper that printed it first.
            equal = pairs[np.isclose(pairs["difference"], 0)]
            marks[equal.loc[equal.groupby("dataset")["row"].transform("size") >= TIES, "row"]] = f"equal:{earlier}"
    return marks


def shared_cells(published, paper, earlier):
    frame, keys = published.assign(row=published.index), ["dataset", "method", "metric"]
    pairs = frame[frame["paper"] == paper].merge(frame[frame["paper"] == earlier], on=keys, suffixes=("", "_earlier"))
    return pairs.assign(difference=pairs["mean_percent"] - pairs["mean_percent_earlier"])


def test_inherited_marks_follow_from_the_published_numbers_themselves():
    published = load_published()
    assert published["inherited"].tolist() == mark_inherited(published.drop(columns="inherited")).tolist()


def test_inherited_marks_are_those_of_the_papers():
    marks = load_published()["inherited"]
    rules = marks.str.partition(":")[0].value_counts()
    # Eleven pairs of equal means; LUNG's six shared baselines, 2.0 apart; seven baselines of UFSOL on six data sets.
    assert rules.to_dict() == {"": 391, "stated": 42, "equal": 11, "shifted": 6}


def test_what_ufsol_takes_from_published_works_is_not_in_the_one_at_hand():
    pairs = (
        load_published()
        .query("paper == 'ufsol' and inherited == 'stated'")
        .merge(load_published().query("paper == 'rufs'"), on=["dataset", "method", "metric"], suffixes=("", "_rufs"))
    )
    difference = (pairs["mean_percent"] - pairs["mean_percent_rufs"]).abs()
    assert len(pairs) == 18 and difference.min() > 0.05 and difference.median() == pytest.approx(1.0)


def test_rows_were_judged_as_the_papers_say():
    published = load_published()
    own = published[published["evaluated_by"] != "kmeans"]
    assert set(zip(own["paper"], own["method"], strict=True)) == {("dgufs", "dgufs")} and len(own) == 12
    assert set(own["std_over"]) == {"eigensolver starts"}
    others = published.drop(index=own.index)[["evaluated_by", "std_over"]].drop_duplicates()
    assert others.to_numpy().tolist() == [["kmeans", "kmeans restarts"]]
    sections = published.groupby("paper")["section"].unique().map(list).to_dict()
    assert sections == {"rufs": ["5.3"], "ufsol": ["5.2"], "dgufs": ["5.1"], "jgufs": ["3.1"], "kmeans_ufs": ["V-B"]}


def test_the_sections_say_how_often_and_over_what(data_dir):
    said = {
        "rufs": "repeat clustering 20 times with random initialization",
        "ufsol": "all experiments are repeated 20 times with random initialization",
        "dgufs": "eigen-decomposition uses a random start, which is varied",
        "jgufs": "run ten times *K*-means clustering",
        "kmeans_ufs": "repeat the clustering 20 times with random initialization",
    }
    for paper, words in said.items():
        path = data_dir.parent / "papers" / f"{paper}.txt"
        if not path.exists():
            pytest.skip("no papers beside the data")
        assert words in path.read_text()


@pytest.mark.parametrize("ours, theirs", [("", "_results"), ("_runtimes", "_runtimes")])
def test_published_numbers_are_those_handed_over(data_dir, ours, theirs):
    path = data_dir.parent / "papers" / f"published{theirs}.csv"
    if not path.exists():
        pytest.skip("no papers beside the data")
    handed = pd.read_csv(path, dtype=str)
    added = ["inherited", "evaluated_by", "std_over", "section"]
    ours = pd.read_csv(ROOT / "results" / f"published{ours}.csv", dtype=str).drop(columns=added, errors="ignore")
    pd.testing.assert_frame_equal(ours, handed)


def test_published_pixels_are_those_handed_over_in_nested_sets(data_dir):
    dataset, sets = published_pixels()
    assert dataset == "umist" and {size: len(set(features)) for size, features in sets.items()} == {
        size: size for size in range(50, 301, 50)
    }
    assert all(set(sets[size]) < set(sets[size + 50]) for size in range(50, 300, 50))
    path = data_dir.parent / "papers" / "dgufs_table4.csv"
    if not path.exists():
        pytest.skip("no papers beside the data")
    handed = pd.read_csv(path)
    stored = pd.read_csv(ROOT / "results" / "published_pixels.csv")
    pd.testing.assert_frame_equal(stored[["n_selected", "feature"]], handed[["n_selected", "feature"]])
    image = load_dataset(dataset, data_dir, download=False).image(np.arange(644))
    np.testing.assert_array_equal(image[handed["row"], handed["column"]], handed["feature"])


def test_published_shapes_stand_in_the_papers_text(data_dir):
    for row in pd.read_csv(ROOT / "results" / "published_datasets.csv").itertuples():
        path = data_dir.parent / "papers" / f"{row.paper}.txt"
        if not path.exists():
            pytest.skip("no papers beside the data")
        shape = [str(value) for value in (row.samples, row.features, row.classes)]
        lines = [re.findall(r"(?<![\w.])\d+(?![\w.])", line) for line in path.read_text().splitlines()]
        assert any(sorted(line[-3:]) == sorted(shape) for line in lines), row
