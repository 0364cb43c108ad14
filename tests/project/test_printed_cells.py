"""The printed numbers alone: impossible cells, and the reading that fits the row of all features."""

import itertools
import re

import numpy as np
import pytest

from benchmarks import printed
from scripts.core.conf import ROOT


def test_copies_say_how_far_they_are_and_whose_std_and_size_stand_beside_a_mean():
    rows = {tuple(row[1:3]): row[3:] for row in printed.copies()}
    assert rows["lung", "shifted:ufsol"] == ["2.0", "6", "", ""]
    assert rows["umist", "equal:rufs"][-1] == "mcfs 3.21 at 150 (UFSOL), udfs 2.74 at 300 (UFSOL)"


@pytest.mark.parametrize("mean, decimals", [(70.4, 1), (66.67, 2), (50.0, 1)])
def test_the_least_std_is_that_of_the_best_of_all_runs(mean, decimals):
    n_samples, runs = 6, 3
    sums = itertools.product(range(n_samples + 1), repeat=runs)
    accuracies = [100 * np.array(correct) / n_samples for correct in sums]
    fitting = [run.std() for run in accuracies if abs(run.mean() - mean) <= 0.5 * 10.0**-decimals + 1e-9]
    least = printed.least_std(mean, decimals, n_samples, runs)
    assert least == pytest.approx(min(fitting)) if fitting else np.isnan(least)


def test_one_printed_accuracy_has_a_std_that_no_runs_can_have():
    n_cells, rows = printed.impossible()
    assert n_cells > 200 and [row[:4] for row in rows] == [["DGUFS", "table2", "allaml", "udfs"]]


def test_the_page_is_what_the_command_prints(data_dir, monkeypatch):
    """The scores by labels, of a minute of K-means, are taken from the page; what is printed above them is not."""
    page = (ROOT / "docs/printed.md").read_text(encoding="utf-8")
    shown = r"([\d.]+) \(([\d.]+)\) +\|"
    rows = re.findall(rf"^\| (\w+) +\| {shown} {shown}", page.split("## Above")[1], re.MULTILINE)
    best = {name: {"F test": (float(f), float(f_error)), "mutual information": (float(mi), float(mi_error))}
            for name, f, f_error, mi, mi_error in rows}  # fmt: skip
    monkeypatch.setattr(printed, "by_labels", best.get)
    monkeypatch.setenv("UFS_DATA_DIR", str(data_dir))
    assert printed.page() == page, "run: python -m benchmarks.printed > docs/printed.md"
