"""Settles a cell after a run: rows whose place its trials have taken go, and one point is the default."""

from ufs_bench.runners.progress import log
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import to_json
from ufs_bench.runners.words import counted

POINT = ("params", "sizes", "nth_seed")


def settle(store, settings, n_classes, keys):
    """Drop rows whose place the trials with these keys have taken, and note which rows are of the default parameters.

    Dropped are rows of the same parameters by another target, as of a method whose file was moved, and former defaults
    by other code, as of a function that was edited together with its default.  Other points of a grid stay.
    """
    rows = store.rows()
    own = {_point_of(row) for row in rows if row["trial"] in keys}
    others = [row for row in rows if row["trial"] not in keys]
    gone = {row["trial"] for row in others if _point_of(row) in own}
    if settings.runner.changed == "redo":
        code = Identity.of(settings.method.cls).code_fit
        gone |= {row["trial"] for row in others if row["is_default"] == "True" and row["code_fit"] != code}
    if gone:
        log.info("  %s of another target, or of a former default by other code, dropped", counted(len(gone), "trial"))
        store.forget(gone)
    n_clusters = settings.protocol.clusters_of(n_classes)
    store.note_default(to_json(settings.method.params_at({}, n_clusters)))


def _point_of(row):
    return tuple(row[name] for name in POINT)
