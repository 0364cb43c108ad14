"""Verdicts on reproduced scores beside published ones: the rule, and the reasons why some cannot be compared."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, FAILED, POOR
from ufs_bench.scripts.core.published import FOLDER
from ufs_bench.scripts.core.text import signed
from ufs_bench.scripts.core.words import CAPPED_CELL

NEAR, HIGHER, LOWER, NOT_RUN, NOT_COMPARABLE = "near", "higher", "lower", "not run", "not comparable"
POINTS = 3.0
EXPLANATIONS = FOLDER / "published_explanations.csv"  # known reasons why a published score is not reached
# Evidence by commands and studies that only commit ee2f1ea1 has.
GONE = ("python -m benchmarks.", "python -m scripts.make_table study=reference/dgufs_minmax")
KEYS = ["paper", "dataset", "published_method", "metric"]
CELL = ["table", *KEYS]  # the columns of a published cell
ROUNDING = 0.05  # half of the last decimal that the papers print


def common_std(ours, published):
    """Return the spread of one K-means run: the root mean square of the two sides' stds, the one there is, or 0."""
    squares = pd.DataFrame({"ours": ours, "published": published}) ** 2
    return np.sqrt(squares.mean(axis=1)).fillna(0.0)


def verdict(difference, std):
    """Return "near", "higher" or "lower" of a cell that has both numbers; difference and std are in points.

    It is near if the difference is no larger than 3 points or than two `common_std`, and half of the last printed
    decimal.  The std is that of single K-means runs, not the much smaller error of the mean of 20: would a reader of
    the paper be surprised?
    """
    if abs(difference) - ROUNDING - 1e-9 <= max(2 * std, POINTS):  # 1e-9: decimal numbers are not exact in binary
        return NEAR
    return HIGHER if difference > 0 else LOWER


def judge(cells):
    """Add common_std, verdict and reason ("" where there is none) to cells of one study.

    A cell without scores is "not run", or "not comparable" where every fit failed or was capped.  All features depend
    on the data, their scaling and K-means alone: where their own verdict on a data set and metric is "higher" or
    "lower", the data or the protocol are not those of the paper, and every other method is "not comparable" there.
    Their own row keeps its verdict.
    """
    cells = cells.assign(common_std=common_std(cells["std"], cells["published_std"]), reason="")
    cells["verdict"] = [
        NOT_RUN if pd.isna(difference) else verdict(difference, std)
        for difference, std in zip(cells["difference"], cells["common_std"], strict=True)
    ]
    for status, reason in ((FAILED, "every fit failed"), (CAPPED_CELL, "no fit ended within its cap")):
        cells.loc[cells["status"] == status, ["verdict", "reason"]] = NOT_COMPARABLE, reason
    off = cells[(cells["method"] == ALL) & cells["verdict"].isin((HIGHER, LOWER))]
    for control in off.itertuples():
        same = (cells["paper"] == control.paper) & (cells["dataset"] == control.dataset)
        same &= (cells["metric"] == control.metric) & (cells["method"] != ALL) & cells["difference"].notna()
        reason = f"all features, which depend on data and protocol alone, are {signed(control.difference)} points away"
        cells.loc[same, ["verdict", "reason"]] = NOT_COMPARABLE, reason
    return cells


def is_hollow(comparison):
    """Return True where the fit behind a cell collapsed or diverged, so that its score says nothing of the method."""
    return comparison["trial_status"].isin(POOR)


def load_explanations():
    """Return the explanations, the most particular first; "*" stands for any value."""
    frame = pd.read_csv(EXPLANATIONS, keep_default_na=False)
    stars = (frame[KEYS] == "*").sum(axis=1)
    return frame.iloc[stars.argsort(kind="stable")]


def explain_cells(comparison, explanations=None):
    """Return the first explanation that fits each cell that differs; "" where nothing differs, or nothing is known."""
    known = (load_explanations() if explanations is None else explanations).to_dict("records")
    return [_explain(cell, known) for cell in comparison.to_dict("records")]


def _explain(cell, known):
    if cell["verdict"] not in (HIGHER, LOWER, NOT_COMPARABLE):
        return ""
    for entry in known:
        if all(entry[key] in ("*", cell[key]) for key in [*KEYS, "verdict"]):
            gone = " at ee2f1ea1" if entry["evidence"].startswith(GONE) else ""
            return entry["explanation"] + (f" ({entry['evidence']}{gone})" if entry["evidence"] else "")
    return ""
