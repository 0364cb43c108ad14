"""Computing on stored trials again: their data, and the rows that come of it.

There is one file for each kind of rows, such as _seeds.parquet, in the folder of the study.

`scripts.refit` makes them, under the key of the stored trial, by other seeds, on a moved X, or over more starts of
K-means.  `scripts.ship` packs what is selected on further data.
"""

from contextlib import nullcontext

import numpy as np
import pandas as pd

from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import held, replace_file
from ufs_bench.runners.store.identity import Identity

KINDS = SEEDS, RESTARTS, SENSITIVE, FURTHER = "seeds", "restarts", "sensitive", "further"
OF_TRIALS = KINDS[:3]
# The columns of a kind, and those that a row is known by.  Of sensitive fits: how far a fit on an X that is moved by
# 1e-14 of itself is from the fit: the share of features that it keeps, at the size with the fewest, how far ACC moves,
# in points and standard errors, and the objective, as a share of itself.
COLUMNS = {
    SEEDS: "trial dataset method n_selected clusterer seed status acc_mean nmi_mean identity",
    RESTARTS: "trial dataset method n_selected clusterer metric n_starts n_groups n_candidates mean std group_std "
    "identity",
    SENSITIVE: "trial dataset method kept acc_moved acc_errors objective_moved identity",
    FURTHER: "method dataset family_sha status n_selected features fit_s day identity",
}
COLUMNS = {kind: names.split() for kind, names in COLUMNS.items()}
KEYS = {
    SEEDS: ["trial", "n_selected", "clusterer", "seed"], RESTARTS: ["dataset", "method", "metric"],
    SENSITIVE: ["trial"], FURTHER: ["method", "dataset", "n_selected"],
}  # fmt: skip
ENOUGH, ERRORS = 0.95, 1.0  # a fit is sensitive that keeps fewer of its features, or moves by more standard errors


def data_of(trials, data_dir):
    """Return the data set of trials, and ""; or None and why it is not here, or not theirs. Nothing is downloaded."""
    from ufs_bench.datasets import DataError, dataset_names, load_dataset  # here, as most commands read no data

    name = trials["dataset"].iloc[0]
    if name not in dataset_names(truth=True):
        return None, f"{name} is no file of conf/dataset; python -m scripts.add_data data=FILE name={name} makes one."
    try:
        loaded = load_dataset(name, data_dir=data_dir, download=False)
    except DataError as error:
        return None, f"{str(error).splitlines()[0].rstrip(':.')}."
    if set(trials["data_sha"]) != {loaded.sha}:
        return None, "the data here are not those of the stored trials."
    return loaded, ""


def read(folder, kind):
    """Return the rows of a kind in the folder of a study; none where it has none, StoreError where it is damaged."""
    from ufs_bench.runners.store.parquet import read_refits  # here, as most studies have none

    path = folder and folder / f"_{kind}.parquet"
    return read_refits(path) if path and path.exists() else pd.DataFrame(columns=COLUMNS[kind])


def folder_of(study):
    """Return the folder with the rows of a study; None where it is not stored."""
    return reference.SHIPPED / study.own_name if study.is_shipped else study.folder


def load_refits(study, kind):
    """Return the stored rows of a kind that are of the code and machine of their trial."""
    rows = read(folder_of(study), kind)
    if study.taken:  # cells of the shipped study
        rows = joined(rows, read(reference.SHIPPED / study.own_name, kind))
    known = identity_names(study.trials[study.trials["trial"].isin(rows["trial"])])
    return rows[rows["identity"] == rows["trial"].map(known)].drop_duplicates(KEYS[kind])


def identity_names(trials):
    """Return the name of the identity of each trial, by its key; their refits have the same."""
    fields = list(zip(*(trials[name] for name in Identity._fields), strict=True))  # a few, in thousands of trials
    names = {one: Identity.stored(dict(zip(Identity._fields, one, strict=True))).name for one in set(fields)}
    return dict(zip(trials["trial"], map(names.get, fields), strict=True))


def is_sensitive(kept, errors):
    """Return True where a fit on an X that rounding moves selects other features, or has another ACC."""
    return (kept < ENOUGH) | (errors > ERRORS)


def add_refits(study, kind, rows):
    """Add rows to those of a study, in the place of those that are of the same fit, as `KEYS` says."""
    folder = folder_of(study)
    with nullcontext() if study.is_shipped else held(folder / f"_{kind}.parquet"):
        add(folder, kind, pd.DataFrame(rows, columns=COLUMNS[kind]))


def add(folder, kind, rows):
    """Add rows to those of a kind in a folder, in the place of those that are of the same fit."""
    both = joined(read(folder, kind), rows[COLUMNS[kind]])
    write(folder, kind, both.drop_duplicates(KEYS[kind], keep="last"))


def joined(one, other):
    """Return the rows of two frames of a kind; the columns of an empty one have no type."""
    return pd.concat([one, other], ignore_index=True) if len(one) and len(other) else one if len(one) else other


def write(folder, kind, rows):
    """Write the rows of a kind in the place of those that are there."""
    from ufs_bench.runners.store.parquet import packed_refits

    rows = rows.sort_values(KEYS[kind], ignore_index=True)[COLUMNS[kind]]
    folder.mkdir(parents=True, exist_ok=True)
    single = {"fit_s": np.float32} if "fit_s" in rows else {}  # stored with single precision
    replace_file(folder / f"_{kind}.parquet", packed_refits(rows.astype(single)))
