"""The rows of fits that were done again, in files of their own, under the key of the stored trial.

`scripts.refit` makes them, by other seeds, on a moved X, or over more starts of K-means.
"""

from pathlib import Path

import pandas as pd

from ufs_bench.runners.errors import StoreError
from ufs_bench.runners.store.files import held, replace_file, write_rows
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.reference import read_refits, refits_of
from ufs_bench.runners.store.row import from_json

SEEDS, STABILITY, RESTARTS, SENSITIVE = "seeds.csv", "stability.csv", "restarts.csv", "sensitive.csv"
OF_SEEDS = "n_selected clusterer seed status acc_mean nmi_mean feature_set git_sha identity".split()
OF_STABILITY = "change repeat n_selected status features identity".split()
OF_RESTARTS = "n_selected clusterer metric n_starts n_groups n_candidates mean std group_std identity".split()
# How far a fit on an X that is moved by 1e-14 of itself is from the fit: the share of features that it keeps, at the
# size with the fewest, how far ACC moves, in points and standard errors, and the objective, as a share of itself.
OF_SENSITIVE = "kept acc_moved acc_errors objective_moved identity".split()
OF_FILE = {SEEDS: OF_SEEDS, STABILITY: OF_STABILITY, RESTARTS: OF_RESTARTS, SENSITIVE: OF_SENSITIVE}
COLUMNS = {file: ["trial", "dataset", "method", *own] for file, own in OF_FILE.items()}
KINDS = dict.fromkeys("n_selected repeat seed n_starts n_groups n_candidates".split(), int) | dict.fromkeys(
    "acc_mean nmi_mean mean std group_std kept acc_moved acc_errors objective_moved".split(), float
)  # of the columns that are no texts
IDENTITY = {  # the columns that a row of each file of a cell is known by
    SEEDS: ["trial", "n_selected", "clusterer", "seed"], STABILITY: ["change", "repeat"], RESTARTS: ["metric"],
    SENSITIVE: ["trial"],
}  # fmt: skip
KEPT, ERRORS = 0.95, 1.0  # a fit is sensitive that keeps fewer of its features, or moves by more standard errors


def read(path):
    """Return the rows of a file of refits; none where it is missing, and StoreError where it is damaged."""
    path = Path(path)
    names = COLUMNS[path.name]
    if not path.exists():
        return empty(path.name)
    try:
        kinds = {name: KINDS.get(name, str) for name in names}
        numbers = {name: float for name, kind in kinds.items() if kind is float}  # it reads back what was written
        texts = {name: kind for name, kind in kinds.items() if name not in numbers}
        frame = pd.read_csv(path, dtype=texts, converters=numbers, keep_default_na=False)
        if list(frame) != names:
            raise ValueError(f"its columns are not {','.join(names)}")
    except (OSError, ValueError, OverflowError) as error:
        raise StoreError(
            f"{path} is damaged ({str(error).strip()}): restore it, or remove it and run its command again."
        ) from error
    return frame


def empty(file):
    """Return the frame of a file of refits without rows."""
    return pd.DataFrame({name: pd.Series(dtype=KINDS.get(name, object)) for name in COLUMNS[file]})


def load_refits(study, file):
    """Return the rows of all cells of a study, sorted, that are of the code and machine of their trial."""
    shipped = read_refits(study.own_name, file) if study.is_shipped or study.taken else None
    if study.taken and shipped is not None:
        cells = pd.MultiIndex.from_frame(shipped[["dataset", "method"]])
        shipped = shipped[cells.isin(list(study.taken))]
    paths = sorted(study.folder.glob(f"*/*/{file}")) if study.folder else []
    found = [read(path) for path in paths] + ([] if shipped is None else [shipped])
    if not found:
        return empty(file)
    rows = pd.concat(found, ignore_index=True)
    known = identity_names(study.trials[study.trials["trial"].isin(rows["trial"])])
    rows = rows[rows["identity"] == rows["trial"].map(known)]
    return rows.assign(features=rows["features"].map(from_json)) if file == STABILITY else rows


def identity_names(trials):
    """Return the name of the identity of each trial, by its key; their refits have the same."""
    fields = list(zip(*(trials[name] for name in Identity._fields), strict=True))  # a few, in thousands of trials
    names = {one: Identity.stored(dict(zip(Identity._fields, one, strict=True))).name for one in set(fields)}
    return dict(zip(trials["trial"], map(names.get, fields), strict=True))


def is_sensitive(kept, errors):
    """Return True where a fit on an X that rounding moves selects other features, or has another ACC."""
    return (kept < KEPT) | (errors > ERRORS)


def add_refits(study, file, rows, by="trial"):
    """Add rows to a file of refits, of the cells of a study or, as `ship_refits` does, of the shipped study."""
    new = pd.DataFrame(rows, columns=COLUMNS[file])
    for (dataset, method), own in new.groupby(["dataset", "method"]):
        if study.is_shipped:
            ship_refits(study.own_name, file, method, own, by, own[by])
        else:
            add_rows(study.folder / dataset / method / file, own)


def add_rows(path, rows):
    """Add rows to the file of a cell, in the place of those that are of the same fit, as `IDENTITY` says."""
    with held(path):
        known = _by_identity(path, read(path)) | _by_identity(path, pd.DataFrame(rows, columns=COLUMNS[path.name]))
        write_rows(path, COLUMNS[path.name], [known[key] for key in sorted(known)])


def ship_refits(name, file, method, rows, by, values):
    """Put refits of a method into its file of a shipped study, in the place of those with `values` in column `by`."""
    from ufs_bench.runners.store.parquet import packed_refits

    path, before = refits_of(name, file) / f"{method}.parquet", read_refits(name, file, method)
    rows = rows if before is None else pd.concat([before[~before[by].isin(values)], rows])
    path.parent.mkdir(exist_ok=True)
    replace_file(path, packed_refits(rows.sort_values(COLUMNS[file], ignore_index=True)))


def _by_identity(path, frame):
    """Return the rows of a frame as tuples, by the values of their `IDENTITY` columns."""
    keys = frame[IDENTITY[path.name]].itertuples(index=False, name=None)
    return dict(zip(keys, frame[COLUMNS[path.name]].itertuples(index=False, name=None), strict=True))
