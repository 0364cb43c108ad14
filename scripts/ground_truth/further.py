"""Ships what fits select on further data of known truth, without their scores, which no page shows."""

import numpy as np
import pandas as pd

from datasets import read_spec
from datasets.truth import truth_names
from metrics.study import UNSCORED
from metrics.study.frames import of_kmeans
from runners.store import reference
from runners.store.files import StoreError, replace_file
from runners.store.parquet import packed_refits, read_refits
from scripts.core.refits import identity_names

FOLDER = "_further"
DIGITS = 4  # of the SHA-256 of a data set: enough to tell that the values of all were made anew
COLUMNS = ["dataset", "data_sha", "status", "n_selected", "features", "fit_s", "day", "identity"]


def further_rows(study):
    """Return the further rows of a shipped study, with the columns that `recovered` reads; none of another study."""
    paths = sorted((reference.SHIPPED / study.own_name / FOLDER).glob("*.parquet")) if study.is_shipped else []
    frames = [read_refits(path).assign(method=path.stem) for path in paths]
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*COLUMNS, "method"])
    return rows.assign(is_default=True, protocol=reference.protocol_text(study.own_name) if paths else "")


def ship_further(study):
    """Pack the fits of a study on data sets that the shipped study of its name lacks; return their number by method.

    They are those at the default parameters on data of known truth.  A StoreError names a method whose fits are of
    other code, packages or arithmetic than its shipped ones, or which has none, or with a row that `faults` refuses.
    """
    whole = of_kmeans(study.whole)
    whole = whole[whole["is_default"] & whole["dataset"].isin(truth_names())]
    packed = {}
    for method, rows in whole.groupby("method"):
        shipped = reference.read(study.own_name, [method], columns=("trial", "dataset", "identity"))
        rows = rows[~rows["dataset"].isin(shipped["dataset"])]
        if rows.empty:
            continue
        rows = rows.assign(identity=rows["trial"].map(identity_names(rows)))
        if set(rows["identity"]) - set(identity_names(shipped).values()):
            raise StoreError(f"{method} has no shipped fits in {study.own_name} of this code, packages and arithmetic.")
        rows = rows.assign(
            data_sha=rows["data_sha"].str[:DIGITS],
            day=rows["started"].str[:10],
            features=[None if own is None else own.astype(np.int16) for own in rows["features"]],
            fit_s=[np.float32(f"{seconds:.2g}") for seconds in rows["fit_s"]],
        )[COLUMNS]
        target = reference.SHIPPED / study.own_name / FOLDER / f"{method}.parquet"
        before = read_refits(target) if target.exists() else rows.iloc[:0]
        both = pd.concat([before[~before["dataset"].isin(rows["dataset"])], rows])
        both = both.sort_values("dataset", ignore_index=True).astype({"fit_s": np.float32})
        if words := next(faults(both, shipped), ""):
            raise StoreError(f"{method}: {words}")
        target.parent.mkdir(exist_ok=True)
        replace_file(target, packed_refits(both))
        packed[method] = len(rows)
    return packed


def faults(rows, frame):
    """Yield what is wrong with the further rows of a method; `frame` has its other rows."""
    if rows["dataset"].duplicated().any() or rows["dataset"].isin(frame["dataset"]).any():
        yield "two rows are of one data set."
    if strange := sorted(set(rows["dataset"]) - set(truth_names())):
        yield f"{strange[0]!r} is no data set of known truth."
        return
    if strange := sorted(set(rows["identity"]) - set(identity_names(frame).values())):
        yield f"{strange[0]!r} is no identity of its other fits."
    for row in rows.itertuples():
        spec, chosen = read_spec(row.dataset), row.features
        if row.data_sha != (sha := spec["data_sha256"][:DIGITS]):
            yield f"data_sha={row.data_sha} on {row.dataset} must be {sha}, that of conf/truth."
        if (chosen is None) != (row.status in UNSCORED):
            yield f"status={row.status} on {row.dataset} goes {'without' if chosen is None else 'with'} features."
        elif chosen is not None and (
            len(set(chosen)) != row.n_selected or not 0 <= min(chosen) <= max(chosen) < spec["features"]
        ):
            yield f"its features on {row.dataset} are not {row.n_selected} different numbers below {spec['features']}."
