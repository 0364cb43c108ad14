"""The measured numbers: results/published_claims.csv, one line a number."""

from typing import NamedTuple

import pandas as pd
from filelock import FileLock

from scripts.core.published import FOLDER

PATH = FOLDER / "published_claims.csv"
COLUMNS = ["claim", "variant", "dataset", "quantity", "value", "commit"]


class Row(NamedTuple):
    """The numbers measured for a variant on a data set, at one setting."""

    variant: str
    dataset: str
    numbers: dict


def load():
    """Return the stored numbers, with `COLUMNS`, in the order of measuring."""
    return pd.read_csv(PATH, dtype={"commit": str}) if PATH.exists() else pd.DataFrame(columns=COLUMNS)


def replaced(stored, name, dataset, measured, commit, order):
    """Return the stored numbers with those of a claim on one data set exchanged, in the given order."""
    lines = [
        (name, variant, dataset, quantity, float(f"{value:.6g}"), commit)
        for variant, numbers in measured
        for quantity, value in numbers.items()
    ]
    kept = stored[(stored["claim"] != name) | (stored["dataset"] != dataset)]
    frames = [frame for frame in (kept, pd.DataFrame(lines, columns=COLUMNS)) if len(frame)]
    everything = pd.concat(frames, ignore_index=True)
    place = {pair: index for index, pair in enumerate(order)}
    places = [place.get(pair, -1) for pair in zip(everything["claim"], everything["dataset"], strict=True)]
    everything = everything.assign(place=places)
    return everything[everything["place"] >= 0].sort_values("place", kind="stable")[COLUMNS].reset_index(drop=True)


def store(name, dataset, measured, commit, order):
    """Exchange the stored numbers of a claim on one data set; other processes may do so at the same time."""
    with FileLock(f"{PATH}.lock"):
        replaced(load(), name, dataset, measured, commit, order).to_csv(PATH, index=False, lineterminator="\n")


def rows(stored, name):
    """Return the numbers of a claim, in the stored order; a new setting begins where a quantity repeats."""
    found = []
    for line in stored[stored["claim"] == name].itertuples():
        if not found or found[-1][:2] != (line.variant, line.dataset) or line.quantity in found[-1].numbers:
            found.append(Row(line.variant, line.dataset, {}))
        found[-1].numbers[line.quantity] = line.value
    return found
