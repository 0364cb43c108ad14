"""Measure what stored selections keep of the structure of all features."""

import logging
from contextlib import nullcontext

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import DECIMALS
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import KEPT, NOT_CHOOSING
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.runners.store.files import held, replace_file
from ufs_bench.runners.store.parquet import packed_refits, read_refits
from ufs_bench.runners.store.reference import SHIPPED
from ufs_bench.runners.store.row import feature_set_digest
from ufs_bench.scripts.compare import shipped_names
from ufs_bench.scripts.core.conf import rows_of
from ufs_bench.scripts.core.data import data_of

log = logging.getLogger(__name__)
FOLDER = "_kept"
KEYS = ["dataset", "data_sha", "features"]  # the last is a digest, of so many digits
DIGITS = 16
OF_SUMMARY = ["trial", "n_selected"]


def studies_of(given):
    """Return the names of studies that an option gives: one, a list, or "reference" for those of the papers."""
    return list(shipped_names().values()) if given == "reference" else [given] if isinstance(given, str) else given


def kept_of(study):
    """Return the `KEPT` of a study as far as they are stored, by trial and n_selected; None where none is."""
    stored = _stored(study)
    if stored.empty:
        return None
    return selections(study.whole).join(stored, on=KEYS).set_index(OF_SUMMARY)[list(KEPT)]


def _stored(study):
    """Return what is stored of a study, by `KEYS`."""
    folders = [_folder(study)] if study.is_shipped or study.folder else []
    folders += [SHIPPED / study.name / FOLDER] if study.taken else []
    paths = [path for folder in folders for path in sorted(folder.glob("*.parquet"))]
    rows = pd.concat([read_refits(path) for path in paths]) if paths else pd.DataFrame(columns=[*KEYS, *KEPT])
    return rows.drop_duplicates(KEYS).set_index(KEYS)


def selections(whole):
    """Return the rows of a frame whose features were chosen, with these as `chosen` and their digests as features."""
    rows = of_kmeans(whole)
    rows = rows[rows["features"].notna() & ~rows["method"].isin(NOT_CHOOSING)]
    digests = [feature_set_digest(features)[:DIGITS] for features in rows["features"]]
    return rows.assign(chosen=rows["features"], features=digests)


def measure(study, methods=None, datasets=None):
    """Measure the selections of a study, and store what is new; a file for every method.

    Selections that several methods have are measured once.  A shipped study keeps none that its rows no longer have, as
    the check of `scripts.ship` asks.  Returns sentences on what could not be done, and why.
    """
    from ufs_bench.datasets.scaling import scale
    from ufs_bench.metrics.kmeans import load_engine
    from ufs_bench.metrics.study.kept import Structure
    from ufs_bench.metrics.threads import one_thread  # here, as readers need no compiled loops

    rows, problems = selections(study.filled().whole), []
    selected = {method: own.set_index(KEYS).index for method, own in rows.groupby("method")}  # before any are left out
    rows = rows_of(rows, methods, datasets)
    load_engine()
    protocol = Protocol(**study.protocol)
    for dataset, own in rows.groupby("dataset"):
        known = _stored(study)
        own = own.drop_duplicates([*KEYS, "method"])
        lacking = own[~own.set_index(KEYS).index.isin(known.index)].drop_duplicates(KEYS)
        if len(lacking):
            data, reason = data_of(own, study.data_dir)
            if data is None or data.y is None:
                problems.append(reason or f"{dataset} has no labels, and so no number of clusters.")
                continue
            clusters = protocol.clusters_of(len(np.unique(data.y)))
            with one_thread():
                structure = Structure(scale(data.X, protocol.scaling), clusters)
                found = np.round([structure.kept(features) for features in lacking["chosen"]], DECIMALS)
            known = pd.concat([known, pd.DataFrame(found, lacking.set_index(KEYS).index, list(KEPT))])
            log.info("%s: %d selections", dataset, len(lacking))
        for method, its in own.groupby("method"):
            _store(study, method, known.loc[pd.MultiIndex.from_frame(its[KEYS])].reset_index(), selected[method])
    return problems


def _store(study, method, rows, selected):
    """Add rows to the file of a method, of which a shipped one keeps what is selected."""
    path = _folder(study) / f"{method}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    with nullcontext() if study.is_shipped else held(path):
        before = read_refits(path) if path.exists() else rows.iloc[:0]
        left = before[before.set_index(KEYS).index.isin(selected)] if study.is_shipped else before
        both = pd.concat([left, rows]).drop_duplicates(KEYS).sort_values(KEYS, ignore_index=True)
        if len(left) < len(before) or len(both) > len(left):
            replace_file(path, packed_refits(both.astype(dict.fromkeys(KEPT, "float32"))))


def _folder(study):
    return (SHIPPED / study.own_name if study.is_shipped else study.folder) / FOLDER
