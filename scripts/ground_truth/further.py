"""Ships what fits select on further data of known truth, without their scores, which no page shows."""

import functools
import hashlib

import numpy as np
import pandas as pd

from ufs_bench.datasets import read_spec
from ufs_bench.datasets.truth import parts_of, truth_names
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store import reference
from ufs_bench.scripts.core.refits import COLUMNS, FURTHER, KEYS, folder_of, identity_names, joined, read, write


def further_rows(study):
    """Return the further rows of a shipped study, with the columns that `recovered` reads; none of another study."""
    rows = read(folder_of(study) if study.is_shipped else None, FURTHER)
    own = pd.DataFrame([_facts(name) for name in rows["dataset"]], rows.index, ["data", "family"])
    return rows.assign(
        data_sha=own["data"].where(own["family"] == rows["family_sha"], rows["family_sha"])
    )  # other data


@functools.cache
def _facts(dataset):
    """Return the SHA-256 of a data set, and a short digest for its family."""
    return read_spec(dataset)["data_sha256"], _family_sha(parts_of(dataset)[0])


@functools.cache
def _family_sha(family):
    own = [read_spec(name)["data_sha256"] for name in truth_names() if parts_of(name)[0] == family]
    return hashlib.sha256("".join(own).encode()).hexdigest()[:16]


def ship_further(study):
    """Pack the fits of a study on data sets that the shipped study of its name lacks; return their number by method.

    They are those at the default parameters on data of known truth, but for all features, which select nothing.  A
    StoreError names a method whose fits are of other code, packages, arithmetic or data than its shipped ones, or which
    has none.
    """
    whole = of_kmeans(study.whole)
    whole = whole[whole["is_default"] & whole["dataset"].isin(truth_names()) & (whole["method"] != "all_features")]
    packed = {}
    for method, rows in whole.groupby("method"):
        shipped = reference.read(study.own_name, [method], columns=("trial", "dataset", "identity"))
        rows = rows[~rows["dataset"].isin(shipped["dataset"])]
        if rows.empty:
            continue
        rows = rows.assign(identity=rows["trial"].map(identity_names(rows)))
        if set(rows["identity"]) - set(identity_names(shipped).values()):
            raise StoreError(f"{method} has no shipped fits in {study.own_name} of this code, packages and arithmetic.")
        for dataset, sha in rows[["dataset", "data_sha"]].itertuples(index=False):
            if sha != (own := _facts(dataset)[0]):
                raise StoreError(f"{method}: data_sha={sha} on {dataset} must be {own}, as in conf/truth.")
        rows = rows.assign(
            family_sha=[_facts(name)[1] for name in rows["dataset"]],
            day=rows["started"].str[:10],
            features=[None if own is None else own.astype(np.int16) for own in rows["features"]],
            fit_s=[float(f"{seconds:.2g}") for seconds in rows["fit_s"]],
        )
        packed[method] = rows
    if packed:
        target = reference.SHIPPED / study.own_name
        both = joined(read(target, FURTHER), pd.concat(packed.values())[COLUMNS[FURTHER]])
        write(target, FURTHER, both.drop_duplicates(KEYS[FURTHER], keep="last"))
    return {method: len(rows) for method, rows in packed.items()}
