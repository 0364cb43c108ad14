"""Says which of our scores cannot be compared with the published ones, and why others differ."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, FAILED
from ufs_bench.scripts.core.published import FOLDER
from ufs_bench.scripts.core.text import CAPPED_CELL

NEAR, HIGHER, LOWER, NOT_RUN, NOT_COMPARABLE = "near", "higher", "lower", "not run", "not comparable"
POINTS = 3.0
ROUNDING = 0.05 + 1e-9  # half of the last decimal that the papers print; decimal numbers are not exact in binary
COLUMN = ["paper", "dataset", "metric"]
KEYS = ["paper", "dataset", "published_method", "metric"]
EXPLANATIONS = FOLDER / "published_explanations.csv"  # known reasons why a published score is not reached
# Evidence by commands and studies that commit ee2f1ea1 has and HEAD lacks.
GONE = ("python -m benchmarks.", "python -m scripts.audit", "python -m scripts.make_table study=reference/dgufs_minmax")


def judge(cells):
    """Add to cells a verdict: "near", "higher", "lower", "not run" or "not comparable".

    A score is near if it differs by 3 points at most, or by two standard deviations of a single K-means run: the root
    mean square of the two sides'.  A cell is not comparable where every fit failed or was capped.  All features depend
    on the data, their scaling and K-means alone: where they are not near in a column, the data or the protocol differ
    from the paper's, and no other method is comparable there.
    """
    difference, stds = cells["difference"], cells[["std", "published_std"]]
    near = difference.abs() - ROUNDING <= np.maximum(2 * np.sqrt((stds**2).mean(axis=1)).fillna(0.0), POINTS)
    verdicts = np.select([difference.isna(), near, difference > 0], [NOT_RUN, NEAR, HIGHER], LOWER)
    verdicts = pd.Series(verdicts, cells.index).mask(cells["status"].isin((FAILED, CAPPED_CELL)), NOT_COMPARABLE)
    columns, is_control = pd.MultiIndex.from_frame(cells[COLUMN]), cells["method"] == ALL
    off = columns.isin(columns[is_control & verdicts.isin((HIGHER, LOWER))])
    return cells.assign(verdict=verdicts.mask(off & ~is_control & difference.notna(), NOT_COMPARABLE))


def load_explanations():
    """Return the explanations, the most particular first; "*" stands for any value."""
    frame = pd.read_csv(EXPLANATIONS, keep_default_na=False)
    stars = (frame[KEYS] == "*").sum(axis=1)
    return frame.iloc[stars.argsort(kind="stable")]


def explain_cells(cells, explanations=None):
    """Return the first explanation that fits each cell that differs; "" where nothing differs, or nothing is known."""
    known = load_explanations() if explanations is None else explanations
    differs, found = cells["verdict"].isin((HIGHER, LOWER, NOT_COMPARABLE)), pd.Series("", cells.index)
    for entry in reversed(known.to_dict("records")):  # the most particular one is written last
        fits = differs.copy()
        for key in [*KEYS, "verdict"]:
            fits &= (cells[key] == entry[key]) | (entry[key] == "*")
        gone = " at ee2f1ea1" if entry["evidence"].startswith(GONE) else ""
        found[fits] = entry["explanation"] + (f" ({entry['evidence']}{gone})" if entry["evidence"] else "")
    return found
