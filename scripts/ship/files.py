"""The files of a shipped study, before any of their rows is looked at: names, places, columns and metadata."""

from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ufs_bench.datasets import dataset_names
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import KEPT
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import StoreError
from ufs_bench.runners.store.identity import ARITHMETIC
from ufs_bench.runners.store.parquet import ADDED, SCHEMA, about, identity_of, key_of, read_refits, read_table
from ufs_bench.runners.store.row import REPORTED, from_json
from ufs_bench.scripts import kept
from ufs_bench.scripts.core.conf import names
from ufs_bench.scripts.core.refits import COLUMNS as OF_REFITS
from ufs_bench.scripts.core.refits import identity_names
from ufs_bench.scripts.ground_truth import further

YOUNGER = (*REPORTED, *ADDED)  # columns that a file of an earlier version may lack


def strangers():
    """Return the names of what lies in results/reference and is not a study."""
    return sorted({path.name for path in reference.SHIPPED.iterdir()} - {"LICENSE", *reference.shipped_studies()})


def faults_of_study(name):
    """Yield (method, words) of what a study's folder must not hold; the method is "" where it is no method's file."""
    folder, beside = reference.SHIPPED / name, (reference.PROTOCOL, reference.STAMPS)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = path.relative_to(folder).as_posix()
        inside = place.rpartition("/")[0]
        is_method = path.suffix == ".parquet" and path.stem in names("method") and inside in ("", *FOLDERS)
        if not is_method and place not in beside:
            yield "", f"{place} is not METHOD.parquet of a method in conf/method."
    try:
        Protocol.from_json(reference.protocol_text(name))
    except (ValueError, OSError) as error:
        yield "", f"{reference.PROTOCOL} is no protocol ({error})."


def faults_of_file(path):
    """Yield what is wrong with the columns or the metadata of a method's file."""
    try:
        schema, table, notes = pq.read_schema(path), read_table(path), about(path)
        named = {name: identity_of(fields) for name, fields in notes["identities"].items()}
        machines = {name: from_json(one.versions).get(ARITHMETIC) for name, one in named.items()}
        lacking = set(notes["lacking"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, StoreError) as error:
        yield f"it is damaged, or its metadata are ({type(error).__name__}: {str(error).splitlines()[0]})."
        return
    known = [field for field in SCHEMA if field.name in schema.names]
    if list(schema) != known or {field.name for field in SCHEMA if field not in known} - {*YOUNGER}:
        odd = {field.name for field in set(schema) ^ set(SCHEMA)}
        yield f"its columns are not those of runners/store/columns.py, in their order: {', '.join(sorted(odd))}."
        return
    used = {tuple(row.values()) for row in table.select(["dataset", "identity"]).to_pylist()}
    datasets = {dataset for dataset, _ in used}
    if not used:
        yield "it has no rows."
    if unknown := datasets - set(dataset_names(truth=True)):
        yield f"{sorted(map(str, unknown))[0]!r} is no file of conf/dataset."
    if set(named) != {name for _, name in used} or any(key_of(one) != name for name, one in named.items()):
        yield f"its metadata have the identities {sorted(named)}, which are not those of its rows."
        return
    # The best of a grid is then of one arithmetic; between data sets nothing is compared byte by byte.
    of_cell = Counter(dataset for dataset, _ in {(dataset, machines[name]) for dataset, name in used})
    if mixed := sorted(str(dataset) for dataset, count in of_cell.items() if count > 1):
        yield f"its rows on {', '.join(mixed)} are of machines of several fingerprints: run the cell on one."
    if strange := lacking - datasets:
        yield f"its metadata say that {', '.join(sorted(strange))} lacks trials, and has no rows."


def datasets_of(path):
    """Return the names of the data sets in a file; "" for a damaged one."""
    try:
        return pc.unique(read_table(path, ["dataset"])["dataset"]).to_pylist() or [""]
    except StoreError:
        return [""]


def faults_beside(name, path, frame):
    """Yield what is wrong with the files beside that of a method, which `FOLDERS` have; `frame` has its rows."""
    for inside, (columns, faults) in FOLDERS.items():
        if not (beside := path.parent / inside / path.name).exists():
            continue
        try:
            rows = read_refits(beside)
        except StoreError as error:
            yield str(error)
            continue
        if list(rows) != columns:
            yield f"the columns of {inside} are {', '.join(rows)}, not {', '.join(columns)}."
            continue
        if "method" in columns and (rows["method"] != path.stem).any():
            yield f"{inside} has rows of another method."
        yield from (f"{inside}: {words}" for words in faults(rows, frame))


def faults_of_refits(rows, frame):
    """Yield what is wrong with the refits of a method; `frame` has its rows."""
    known = identity_names(frame)
    if unknown := sorted(set(rows["trial"]) - known.keys()):
        yield f"it has refits of {unknown[0]!r}, which is no trial of the study."
    elif (other := rows["identity"] != rows["trial"].map(known)).any():
        yield (
            f"it has {other.sum()} refits of other code or machines than their trials, the first of "
            f"{rows.loc[other, 'trial'].iloc[0]!r}: nothing would count them."
        )


def faults_of_kept(rows, frame):
    """Yield what is wrong with the measures of a method's selections; `frame` has its rows, with features."""
    own = set(kept.selections(frame)[kept.KEYS].itertuples(index=False, name=None))
    strange = [key for key in rows[kept.KEYS].itertuples(index=False, name=None) if key not in own]
    if strange:
        yield f"it has features {strange[0][-1]} on {strange[0][0]}, which its rows have not selected."
    if not (np.abs(rows[list(KEPT)].to_numpy(dtype=float)) <= 1).all():
        yield "it has shares beyond 1."


# The folders inside that of a study: the columns of their files, and what checks their rows.
FOLDERS = {f"_{file.removesuffix('.csv')}": (columns, faults_of_refits) for file, columns in OF_REFITS.items()} | {
    kept.FOLDER: ([*kept.KEYS, *KEPT], faults_of_kept),
    further.FOLDER: (further.COLUMNS, further.faults),
}
