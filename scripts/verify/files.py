"""The files of a shipped study, before any of their rows is looked at: names, places, sizes, columns and metadata."""

import json
import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from datasets import dataset_names
from metrics.protocol import Protocol
from metrics.study import KEPT
from runners.store import reference
from runners.store.columns import LISTS
from runners.store.files import StoreError
from runners.store.identity import ARITHMETIC, Identity
from runners.store.parquet import ADDED, KEY, SCHEMA, key_of, read_refits
from runners.store.row import REPORTED
from scripts import kept
from scripts.core.conf import names
from scripts.core.refits import COLUMNS as OF_REFITS
from scripts.core.refits import identity_names
from scripts.ground_truth import further

# The largest shipped file today has 0.4 MB, 10,000 rows and 4 MB when unpacked; a hundred times as much is no result.
MOST_BYTES, MOST_ROWS, MOST_UNPACKED, MOST_NOTES = 50 * 2**20, 10**6, 2**30, 4 * 2**20
YOUNGER = (*REPORTED, *ADDED)  # columns that a file of an earlier version may lack
BATCH = 1000  # rows that are unpacked at once, so that a file that lies about its sizes is noticed early
STUDY = re.compile(r"[a-z][a-z0-9_]{0,60}")
DIGEST = re.compile(r"[0-9a-f]{0,64}")
FINGERPRINT = re.compile(r"\w+ [0-9a-f]+(, \w+ [0-9a-f]+)*")
BESIDE = ("LICENSE",)
REFITS = {f"_{file.removesuffix('.csv')}": file for file in OF_REFITS}
FOLDERS = (*REFITS, kept.FOLDER, further.FOLDER)


def strangers():
    """Return the names of what lies in results/reference and is neither a study nor a description of all of them."""
    known = {*BESIDE, *reference.shipped_studies()}
    return sorted(path.name for path in reference.SHIPPED.iterdir() if path.is_symlink() or path.name not in known)


def faults_of_study(name):
    """Yield (method, words) of what a study's folder must not hold; the method is "" where it is no method's file."""
    folder = reference.SHIPPED / name
    if not STUDY.fullmatch(name):
        yield "", f"{name!r} must be small letters, digits and _."
    if folder.is_symlink():
        yield "", "the study is a link: only files may be handed in."
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        inside = place.rpartition("/")[0]
        if path.is_symlink():
            yield "", f"{place} is a link: only files may be handed in."
        elif path.is_dir():
            if place not in FOLDERS:
                yield "", f"{place}/ is no folder of a study; there may be {', '.join(FOLDERS)}."
        elif inside or place not in (reference.PROTOCOL, reference.STAMPS, reference.VERIFIED):
            if path.suffix != ".parquet" or path.stem not in names("method") or inside not in ("", *FOLDERS):
                yield "", f"{place} is not METHOD.parquet of a method in conf/method."
            elif fault := fault_of_size(path):
                yield path.stem, fault
        elif path.stat().st_size > MOST_NOTES:
            yield "", f"{place} has {path.stat().st_size} bytes, more than {MOST_NOTES}."
    try:
        json.loads((folder / reference.PROTOCOL).read_text(), object_pairs_hook=_once)
        Protocol.from_json(reference.protocol_text(name))
    except (ValueError, OSError, RecursionError) as error:
        yield "", f"{reference.PROTOCOL} is no protocol ({error})."


def fault_of_size(path):
    """Say what is too large in a Parquet file, or damaged; "" where nothing is.  Only its last bytes are read."""
    if path.stat().st_size > MOST_BYTES:
        return f"it has {path.stat().st_size} bytes, more than {MOST_BYTES}."
    try:
        about = pq.read_metadata(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        return f"it is no Parquet file ({str(error).splitlines()[0]})."
    if not about.num_rows:
        return "it has no rows."
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    sizes = (
        ("rows", about.num_rows, MOST_ROWS),
        ("bytes of metadata", about.serialized_size, MOST_NOTES),
        ("bytes unpacked", sum(column.total_uncompressed_size for column in columns), MOST_UNPACKED),
        ("values", sum(column.num_values for column in columns), MOST_UNPACKED // 4),
    )
    return " ".join(f"it has {size} {what}, more than {most}." for what, size, most in sizes if size > most)


def faults_of_file(path):
    """Yield what is wrong with the columns, the metadata or the unpacked size of a method's file."""
    file = pq.ParquetFile(path, page_checksum_verification=True)
    schema = file.schema_arrow
    known = [name for name in SCHEMA.names if name in schema.names]
    if schema.names != known or set(SCHEMA.names) - {*known, *YOUNGER}:
        odd = sorted(set(schema.names) ^ set(SCHEMA.names))
        yield f"its columns are not those of runners/store/columns.py: {', '.join(odd) or 'they are in another order'}."
        return
    for name in known:
        if schema.field(name).type != SCHEMA.field(name).type:
            yield f"{name} is {schema.field(name).type}, not {SCHEMA.field(name).type}."
            return
    unpacked, used = 0, set()
    try:
        for batch in file.iter_batches(BATCH, use_threads=False):
            unpacked += batch.nbytes
            if unpacked > MOST_UNPACKED:
                yield f"it unpacks to more than {MOST_UNPACKED} bytes, other than it says."
                return
            yield from _empty(batch)
            used |= set(zip(batch["dataset"].to_pylist(), batch["identity"].to_pylist(), strict=True))
    except (OSError, ValueError, pa.ArrowException) as error:
        yield f"it is damaged ({str(error).splitlines()[0]})."
        return
    if unknown := {dataset for dataset, _ in used} - set(dataset_names(truth=True)):
        yield f"{sorted(map(str, unknown))[0]!r} is no file of conf/dataset."
    yield from _faults_of_notes(file.metadata.metadata.get(KEY), used)


def _empty(batch):
    for name in batch.schema.names:
        column = batch[name]
        if name in LISTS:
            if column.flatten().null_count:
                yield f"{name} has a list with an empty place."
        elif not pa.types.is_floating(column.type) and column.null_count:
            yield f"{name} is empty in {column.null_count} rows."


def _faults_of_notes(text, used):
    """Yield what is wrong with the metadata of a file, whose rows have these pairs of a data set and an identity."""
    datasets, own = {dataset for dataset, _ in used}, {name for _, name in used}
    try:
        notes = json.loads(text, object_pairs_hook=_once)
        identities, lacking = notes["identities"], notes["lacking"]
        named = {name: Identity(*fields) for name, fields in identities.items()}
        versions = {name: json.loads(one.versions) for name, one in named.items()}
        right = set(notes) == {"identities", "lacking"} and all(isinstance(one, dict) for one in versions.values())
        right = right and all(isinstance(field, str) for one in named.values() for field in one)
        right = right and all(map(_is_readable, named.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        right = False
    if not right:
        yield "its metadata are not the identities of its rows, and what its cells lack."
        return
    if set(named) != own:
        yield f"its metadata have the identities {sorted(named)}, and its rows {sorted(map(str, own))}."
        return
    for name, identity in named.items():
        if key_of(identity) != name:
            yield f"the identity {name!r} must be called {key_of(identity)!r}, as what it consists of says."
        for field in ("code_fit", "code_evaluation"):
            if not DIGEST.fullmatch(getattr(identity, field)):
                yield f"{field} of the identity {name!r} is no digest."
    # The best of a grid is then of one arithmetic; between data sets nothing is compared byte by byte.
    of_cell = Counter(dataset for dataset, _ in {(dataset, versions[name].get(ARITHMETIC)) for dataset, name in used})
    if mixed := sorted(str(dataset) for dataset, count in of_cell.items() if count > 1):
        yield f"its rows on {', '.join(mixed)} are of machines of several fingerprints: run the cell on one."
    for dataset, count in lacking.items() if isinstance(lacking, dict) else [("", 0)]:
        if dataset not in datasets or type(count) is not int or count < 1:
            yield f"its metadata say that {dataset!r} lacks {count!r} trials."


def _is_readable(identity):
    """Return True where versions and files of an identity have the form that the suite writes."""
    versions = json.loads(identity.versions)
    files = json.loads(identity.files_read) if identity.files_read else {".": ""}
    return (
        all(isinstance(value, str) for value in versions.values())
        and FINGERPRINT.fullmatch(versions.get(ARITHMETIC, "none 0")) is not None
        and isinstance(files, dict) and bool(files)
        and all(path and isinstance(digest, str) and DIGEST.fullmatch(digest) for path, digest in files.items())
    )  # fmt: skip


def _once(pairs):
    """Return the dict of an object of JSON; a ValueError says that it has a name twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice")
    return found


def faults_beside(name, path, frame):
    """Yield what is wrong with the files beside that of a method, which `FOLDERS` have; `frame` has its rows."""
    for inside, file in REFITS.items():
        if (refits := path.parent / inside / path.name).exists():
            yield from faults_of_refits(name, file, refits, frame)
    for inside, faults_of in ((kept.FOLDER, faults_of_kept), (further.FOLDER, faults_of_further)):
        if (beside := path.parent / inside / path.name).exists():
            yield from faults_of(beside, frame)


def _rows(path, wanted):
    """Return the rows of a file beside a method's own; None after what is yielded as wrong with it."""
    found = pq.read_schema(path).names
    if found != wanted:
        yield f"the columns of {path.parent.name} are {', '.join(found)}, not {', '.join(wanted)}."
        return None
    try:
        return read_refits(path)
    except StoreError as error:
        yield str(error)
        return None


def faults_of_refits(name, file, path, frame):
    """Yield what is wrong with the refits of a method; `frame` has its rows."""
    rows = yield from _rows(path, OF_REFITS[file])
    if rows is None:
        return
    known = identity_names(frame)
    if unknown := sorted(set(rows["trial"]) - known.keys()):
        yield f"{path.parent.name} has refits of {unknown[0]!r}, which is no trial of {name}."
    elif (other := rows["identity"] != rows["trial"].map(known)).any():
        yield (
            f"{path.parent.name} has {other.sum()} refits of other code or machines than their trials, the first of "
            f"{rows.loc[other, 'trial'].iloc[0]!r}: nothing would count them."
        )
    if (rows["method"] != path.stem).any():
        yield f"{path.parent.name} has rows of another method."


def faults_of_kept(path, frame):
    """Yield what is wrong with the measures of a method's selections; `frame` has its rows, with features."""
    rows = yield from _rows(path, [*kept.KEYS, *KEPT])
    if rows is None:
        return
    own = set(kept.selections(frame)[kept.KEYS].itertuples(index=False, name=None))
    strange = [key for key in rows[kept.KEYS].itertuples(index=False, name=None) if key not in own]
    if strange:
        yield f"{path.parent.name} has features {strange[0][-1]} on {strange[0][0]}, which its rows have not selected."
    values = rows[list(KEPT)].to_numpy(dtype=float)
    if not (np.abs(values) <= 1).all():
        yield f"{path.parent.name} has shares beyond 1."


def faults_of_further(path, frame):
    """Yield what is wrong with what a method selects on further data of known truth; `frame` has its other rows."""
    rows = yield from _rows(path, further.COLUMNS)
    if rows is not None:
        yield from (f"{path.parent.name}: {words}" for words in further.faults(rows, frame))
