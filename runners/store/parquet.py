"""The Parquet files of results/reference: tidy frames as bytes, and back without loss."""

import hashlib
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ufs_bench.metrics.measures import DECIMALS, OF_SET
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import NMI_PARTS, from_json, to_json
from ufs_bench.runners.store.tidy import COLUMNS, LISTS, SUMMARY

RESTORE = "restore it, for example with `git checkout results/reference`"
LEFT_OUT = (
    "a wheel has the shipped results without features, labels, traces and scores of single restarts, which this needs: "
    "take a checkout of the repository."
)
KEY = b"ufs_bench"  # of the metadata
ADDED = {"nth_seed": 0}  # what rows have in columns that were added since their file was shipped; others are empty


def _type(text):
    return pa.list_(_type(text[:-2])) if text.endswith("[]") else pa.type_for_alias(text)


SCHEMA = pa.schema([(column.name, _type(column.type)) for column in COLUMNS])
# Numbers that differ from row to row are stored with their bytes of the same place together, or as they are; of all
# other columns each value is stored once.
SPLIT = [name for name in SCHEMA.names if SCHEMA.field(name).type == pa.float32()]
SPLIT += [f"{name}.list.element" for name in LISTS]
PLAIN = ("objective", "rise", *SPLIT, *LISTS)
ONCE = [name for name in SCHEMA.names if name not in PLAIN]


def _table(file, columns):
    """Return columns of `SCHEMA` as a table of Arrow; what was added since a file was written is empty, or `ADDED`."""
    there = file.schema_arrow.names
    table = file.read([name for name in columns if name in there], use_threads=False)
    lacking = set(columns) - set(there)
    if lacking & set(LISTS):
        raise StoreError(LEFT_OUT)
    for name in lacking:
        value = pa.scalar(ADDED.get(name), SCHEMA.field(name).type)
        table = table.append_column(SCHEMA.field(name), pa.repeat(value, len(table)))
    return table.select(columns)


def read_refits(path):
    """Return a file of `packed_refits` as a frame, with its own columns; a StoreError says that it is damaged.

    Numbers of single precision have the decimals again that were rounded to it.
    """
    frame = _read(path, lambda file: file.read(use_threads=False)).to_pandas()
    rounded = list(frame.select_dtypes("float32"))
    return frame.astype(dict.fromkeys(rounded, float)).round(dict.fromkeys(rounded, DECIMALS))


def about(path):
    """Return what a file says of its rows: their identities, and the number of trials that its cells lack."""
    return _read(path, _about)


def _about(file):
    return from_json(file.metadata.metadata[KEY])


def _read(path, what):
    try:
        return what(pq.ParquetFile(path, page_checksum_verification=True))
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise StoreError(f"{path} cannot be read ({str(error).splitlines()[0]}): {RESTORE}.") from error


def read_frame(paths, lists=False, columns=None):
    """Return the tidy frame of some files, or some of its columns, without study and protocol, which they lack."""
    names = columns or [name for name in SCHEMA.names if lists or name not in LISTS]
    read = [_read(path, lambda file: (_table(file, names), _about(file)["identities"])) for path in paths]
    frame = _restored(pa.concat_tables([table for table, _ in read] or [SCHEMA.empty_table().select(names)]))
    identities = {key: one for _, own in read for key, one in own.items()}
    codes, known = pd.factorize(frame["identity"])
    known = [identity_of(identities[name]) for name in known]
    # As objects, for each of which one text stands: a column of these long texts is copied at every choice of rows.
    fields = {
        field: pd.Series(np.array([one[place] for one in known], dtype=object)[codes], dtype=object)
        for place, field in enumerate(Identity._fields)
    }
    return frame.drop(columns="identity").assign(**fields)


def _restored(table):
    """Return a table as a frame, with the decimals that were rounded to a float32."""
    frame = table.to_pandas()
    wider = {np.dtype(np.float32): float, np.dtype(np.int32): int}
    frame = frame.astype({name: wider[kind] for name, kind in frame.dtypes.items() if kind in wider})
    frame = frame.assign(**{name: frame[name].round(DECIMALS) for name in (*SUMMARY, *OF_SET) if name in frame})
    if "nmi" in frame:
        frame["nmi"] = [None if own is None else own / NMI_PARTS for own in frame["nmi"]]
    return frame


def packed(frame, lacking):
    """Return the tidy frame of a method, with its lists, as the bytes of its file; the same rows give the same bytes.

    `lacking` is how many trials were asked for and are not there, by data set, where some are.
    """
    frame = frame.sort_values(["dataset", "params", "trial", "n_selected", "clusterer"], kind="stable")
    identities = [Identity(*row) for row in frame[list(Identity._fields)].itertuples(index=False, name=None)]
    names = {identity: key_of(identity) for identity in sorted(set(identities))}
    parts = pd.Series([_parts(own) for own in frame["nmi"]], frame.index, dtype=object)
    frame = frame.assign(
        identity=[names[identity] for identity in identities], feature_set=from_one(frame["feature_set"]), nmi=parts
    )
    arrays = [pa.array(frame[field.name], type=field.type, from_pandas=field.name not in LISTS) for field in SCHEMA]
    notes = to_json({"identities": {name: fields_of(one) for one, name in names.items()}, "lacking": lacking})
    return _bytes_of(pa.table(arrays, SCHEMA), ONCE, notes, column_encoding=dict.fromkeys(SPLIT, "BYTE_STREAM_SPLIT"))


def from_one(sets):
    """Return the numbers of feature sets from 1 on, in the order of their rows; 0 stays."""
    return pd.factorize(sets.where(sets > 0))[0] + 1


def _parts(nmi):
    """Return NMI of restarts in ten-thousandths; None where there are no labels."""
    return None if nmi is None or np.isnan(nmi).any() else np.rint(nmi * NMI_PARTS).astype(np.int32)


def packed_refits(frame):
    """Return the refits of a method as the bytes of their file."""
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
    split = [field.name for field in table.schema if field.type == pa.float32()]
    once = [name for name in table.column_names if name not in split]
    return _bytes_of(table, once, column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"))


def _bytes_of(table, once, notes="", **how):
    buffer = io.BytesIO()
    # Brotli takes a twentieth less room than zstd, and is read as fast where no lists are.
    how |= {"compression": "brotli", "compression_level": 11, "write_statistics": False, "write_page_checksum": True}
    with pq.ParquetWriter(buffer, table.schema, use_dictionary=once, store_schema=False, **how) as writer:
        writer.write_table(table, row_group_size=max(len(table), 1))
        writer.add_key_value_metadata({KEY: notes})
    return buffer.getvalue()


def key_of(identity):
    """Return a short name of an identity, of unknown code, too."""
    return identity.name or hashlib.sha256(to_json(fields_of(identity)).encode()).hexdigest()[:16]


def fields_of(identity):
    """Return an identity as the metadata of a file have it, with a last field that is always empty."""
    return [*identity, ""]


def identity_of(fields):
    """Return the `Identity` that `fields_of` has written."""
    return Identity(*fields[:-1])
