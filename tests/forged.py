"""Rows of the shipped study of `tests/commands/conftest.py`, read, changed and written back."""

import numpy as np

from ufs_bench.runners.store import reference
from ufs_bench.runners.store.parquet import packed


def write(frame, method, lacking=None):
    (reference.SHIPPED / "mine" / f"{method}.parquet").write_bytes(packed(frame, lacking or {}))


def rows(method):
    return reference.read("mine", [method], lists=True)


def with_scores(row, name, values):
    """Give a row other scores, with the means and deviations that belong to them."""
    row[name] = values
    shares = values / row["n_samples"] if name == "acc" else values
    row[f"{name}_mean"] = round(shares.mean(), 7)
    row[f"{name}_std"] = round(np.std(shares, ddof=1), 7) if len(values) > 1 else np.nan
