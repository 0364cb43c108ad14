"""Known reasons why a published score is not reached: results/published_explanations.csv."""

import pandas as pd

from scripts.compare.verdicts import HIGHER, LOWER, NOT_COMPARABLE
from scripts.core.published import FOLDER

PATH = FOLDER / "published_explanations.csv"
KEYS = ["paper", "dataset", "published_method", "metric"]


def load_explanations():
    """Return the explanations, the most particular first; "*" stands for any value."""
    frame = pd.read_csv(PATH, keep_default_na=False)
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
            return entry["explanation"] + (f" ({entry['evidence']})" if entry["evidence"] else "")
    return ""
