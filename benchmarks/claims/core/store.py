"""The measured numbers: results/published_claims.csv, one line a number."""

import pandas as pd
from filelock import FileLock

from scripts.core.published import FOLDER

PATH = FOLDER / "published_claims.csv"
COLUMNS = ["claim", "variant", "dataset", "quantity", "value", "commit"]


def load():
    """The stored numbers.

    Returns
    -------
    DataFrame
        `COLUMNS`, in the order of measuring.
    """
    return pd.read_csv(PATH, dtype={"commit": str}) if PATH.exists() else pd.DataFrame(columns=COLUMNS)


def replaced(stored, name, dataset, measured, commit, order):
    """The stored numbers with those of a claim on one data set exchanged.

    Parameters
    ----------
    stored : DataFrame
    name, dataset : str
    measured : iterable of (variant, {quantity: number})
    commit : str
    order : list of (claim, dataset)
        In which the lines are kept.

    Returns
    -------
    DataFrame
    """
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
    """The numbers of a claim by variant and data set, in the stored order.

    Returns
    -------
    dict of (variant, dataset) to dict of quantity to float
    """
    found = {}
    for line in stored[stored["claim"] == name].itertuples():
        found.setdefault((line.variant, line.dataset), {})[line.quantity] = line.value
    return found
