"""Measure what stored selections keep of the structure of all features."""

import logging

import numpy as np

from ufs_bench.metrics.measures import DECIMALS
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import KEPT, NOT_CHOOSING
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.runners.store.row import feature_set_digest
from ufs_bench.scripts.core import refits
from ufs_bench.scripts.core.conf import rows_of
from ufs_bench.scripts.core.data import data_of
from ufs_bench.scripts.core.refits import STRUCTURE, add_refits, folder_of, read, stored, write

log = logging.getLogger(__name__)
KEYS = refits.KEYS[STRUCTURE]  # the last is a digest, of so many digits
DIGITS = 16
OF_SUMMARY = ["trial", "n_selected"]


def kept_of(study):
    """Return the `KEPT` of a study as far as they are stored, by trial and n_selected; None where none is."""
    rows = _by_set(stored(study, STRUCTURE))
    if rows.empty:
        return None
    return selections(study.whole).join(rows, on=KEYS).set_index(OF_SUMMARY)[list(KEPT)]


def _by_set(rows):
    return rows.drop_duplicates(KEYS).set_index(KEYS)


def selections(whole):
    """Return the rows of a frame whose features were chosen, with these as `chosen` and their digests as features."""
    rows = of_kmeans(whole)
    rows = rows[rows["features"].notna() & ~rows["method"].isin(NOT_CHOOSING)]
    digests = [feature_set_digest(features)[:DIGITS] for features in rows["features"]]
    return rows.assign(chosen=rows["features"], features=digests)


def measure(study, methods=None, datasets=None):
    """Measure the selections of a study, and store what is new.

    Selections that several methods have are measured once.  A shipped study keeps none that its rows no longer have.
    Returns sentences on what could not be done, and why.
    """
    from ufs_bench.datasets.scaling import scale
    from ufs_bench.metrics.kmeans import load_engine
    from ufs_bench.metrics.study.kept import Structure
    from ufs_bench.metrics.threads import one_thread  # here, as readers need no compiled loops

    rows, problems = selections(study.filled().whole), []
    selected = rows.set_index(KEYS).index  # before any are left out
    rows = rows_of(rows, methods, datasets).drop_duplicates(KEYS)
    load_engine()
    protocol, known = Protocol(**study.protocol), _by_set(stored(study, STRUCTURE))
    for dataset, own in rows.groupby("dataset"):
        lacking = own[~own.set_index(KEYS).index.isin(known.index)]
        if lacking.empty:
            continue
        data, reason = data_of(own, study.data_dir)
        if data is None or data.y is None:
            problems.append(reason or f"{dataset} has no labels, and so no number of clusters.")
            continue
        clusters = protocol.clusters_of(len(np.unique(data.y)))
        with one_thread():
            structure = Structure(scale(data.X, protocol.scaling), clusters)
            found = np.round([structure.kept(features) for features in lacking["chosen"]], DECIMALS)
        add_refits(study, STRUCTURE, lacking[KEYS].assign(**dict(zip(KEPT, found.T, strict=True))))
        log.info("%s: %d selections", dataset, len(lacking))
    if study.is_shipped:
        keep_selected(folder_of(study), selected)
    return problems


def keep_selected(folder, selected):
    """Keep only the rows of a study, in its folder, that are of some selections, given by `KEYS`."""
    rows = read(folder, STRUCTURE)
    kept = rows[rows.set_index(KEYS).index.isin(selected)]
    if len(kept) < len(rows):
        write(folder, STRUCTURE, kept)
