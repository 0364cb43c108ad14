"""Puts a table together: several files, rows that are features, and labels that are in another file."""

import numpy as np

from ufs_bench.datasets.base import DataError, say
from ufs_bench.datasets.check import from_indicators
from ufs_bench.datasets.formats.arff import arff_frame
from ufs_bench.datasets.formats.frames import csv_frame, npy_frame, parquet_frame, xlsx_frame
from ufs_bench.datasets.formats.tables import (
    UNNAMED,
    are_names,
    as_numbers,
    column_of,
    columns_of,
    labels_in,
    listed,
    listed_labels,
    split_table,
    word,
)  # fmt: skip

FRAMES = {"csv": csv_frame, "xlsx": xlsx_frame, "parquet": parquet_frame, "arff": arff_frame}
LABEL_FRAMES = {**FRAMES, "npy": npy_frame}  # files of labels
LABEL = "\0label"  # the column of labels from another file; no file has one of this name


def read_tables(kind, paths, y=None, ignore=(), ignore_rows=(), onehot=(), names=None, transposed=False, columns="same",
                labels=None, label_paths=(), **reading):  # fmt: skip
    """Return features, labels and names of one table, or of several, one below the other; nan where a value is missing.

    `y`, `ignore` and `onehot` are as in `split_table`; of a transposed table, whose rows are features, they name its
    rows. `ignore_rows` counts from 0 below the names.  `names` is the column that names the rows: samples, or features
    if transposed.  With columns="common" those count that all files have.  `labels`, a `datasets.spec.Labels` whose
    files are `label_paths`, says where the labels are if not here.  Other options are those of the function in
    `FRAMES`.
    """
    paths = paths if isinstance(paths, list | tuple) else [paths]
    keyed = labels is not None and "key" in labels
    given = [_labels_in(path, labels) for path in label_paths]
    found = labels_of(given, label_paths, len(paths)) if keyed else [None] * len(paths)
    tables, asked = [], list(ignore)
    if kind == "csv":
        reading["ignore_rows"] = ignore_rows
    for path, own in zip(paths, found, strict=True):
        if keyed and transposed and kind == "csv" and labels.get("others") == "drop":
            reading["only"] = set(own)  # of a wide table, all else need not become numbers
        # The labels of a transposed table are a row, which no header names.
        table = FRAMES[kind](path, [names] if transposed else [*listed_labels(y), names], **reading)
        nameless = ("row " if names is None else "") if transposed else "" if are_names(table.columns) else "column "
        if not tables and not transposed:  # numbers are those of the file, of which columns are left out below
            y, ignore = columns_of(path, table, y), columns_of(path, table, ignore)
            onehot = onehot if isinstance(onehot, bool) else columns_of(path, table, onehot)
        if transposed:  # what is no row may be a column, such as the Description of a GCT file
            aside = [name for name in asked if name in table.columns]
            table, ignore = table.drop(columns=aside), [name for name in asked if name not in aside]
        table = oriented(path, table, ignore_rows, names, transposed)
        tables.append(table if own is None else labelled(path, table, own, labels))
    table = stacked(paths, tables, columns)
    named = {name for *_, own in given for name in own if isinstance(name, str)}
    if twice := named & {*table.columns} - {column_of(paths[0], table, name) for name in ignore}:
        raise DataError(
            f"{paths[0]} has the labels {min(twice)!r} of labels= itself, which would be a feature: leave labels= out, "
            f"or say ignore={min(twice)}."
        )
    if labels is not None and not keyed:
        default = list(table.columns) == [str(number) for number in range(table.shape[1])]  # as pandas names them
        table = in_order(
            paths[0], table, in_step([own for _, own, _ in given], labels, label_paths, len(table), default)
        )
    return split_table(paths[0], table, y if labels is None else LABEL, ignore, onehot, nameless)


def oriented(path, table, ignore_rows=(), names=None, transposed=False):
    """Return a table with a row for each sample, whose index are the names of the samples where these are known."""
    import pandas as pd

    if wrong := [row for row in ignore_rows if not 0 <= row < len(table)]:
        raise DataError(f"{path} has no row {wrong[0]}; it has {len(table)}, counted from 0 below the names.")
    table = table.drop(index=table.index[list(ignore_rows)])
    if names is not None:
        name = column_of(path, table, names)
        table = table.set_index(table[name].map(word)).drop(columns=[name])
    elif transposed and len(table) and table.dtypes.iloc[0].kind not in "biuf" and table.dtypes.iloc[-1].kind in "biuf":
        raise DataError(f"{path}: the first column has texts: say that they name the features, names=0.")
    elif transposed and _numbers_rows(table):
        say(f"{path}: the first column has no name and numbers the rows: it names the features.")
        table = table.set_index(table.iloc[:, 0].map(word)).iloc[:, 1:]
    elif _numbers_rows(table):
        table = table.iloc[:, 1:]
        say(f"{path}: the first column has no name and numbers the rows, in some order: it is left out.")
    if transposed:
        table = pd.DataFrame(table.to_numpy().T, index=table.columns, columns=table.index)
    return as_numbers(table)


def stacked(paths, tables, columns="same"):
    """Return tables one below the other, with the features that all have in the order of the first."""
    import pandas as pd

    first = tables[0].columns
    if len(tables) == 1:
        return tables[0]
    for path, table in zip(paths, tables, strict=True):
        if columns == "same" and list(table.columns) != list(first):
            other = sorted(set(map(str, first)) ^ set(map(str, table.columns)))
            what = f"{len(other)} are in one only ({listed(other)})" if other else "their order differs"
            raise DataError(
                f"{path} has other columns than {paths[0]}: {what}. columns=common takes those that all files have."
            )
        if not table.columns.is_unique:
            twice = table.columns[table.columns.duplicated()][0]
            raise DataError(f"{path} has two columns {twice!r}: files are joined by names, which must differ.")
    return pd.concat(tables, join="inner")[[name for name in first if all(name in one.columns for one in tables)]]


def labels_of(given, paths, n_files):
    """Return, for each file of samples, its labels as a mapping of the names of samples; `given` is of `_labels_in`.

    As many files of labels as of samples belong to each other in order; otherwise all labels count for every file.
    """
    found = [_add({}, zip(keys, own, strict=True), path) for path, (keys, own, _) in zip(paths, given, strict=True)]
    if len(found) == n_files:
        return found
    whole = {}
    for path, own in zip(paths, found, strict=True):
        _add(whole, own.items(), path)
    return [whole] * n_files


def labels_in_order(labels, paths, n_samples):
    """Return the labels in all files, one below the other."""
    return in_step([_labels_in(path, labels)[1] for path in paths], labels, paths, n_samples)


def in_step(found, labels, paths, n_samples, default=False):
    """Return labels of several files, without first lines that are names where each file has a label too many.

    Such a line is a name where its label has no other sample, or where the samples have the names that pandas gives by
    `default`.  A DataError asks the user where it could be a label.
    """
    found = [list(own) for own in found]
    extra = sum(map(len, found)) - n_samples == len(found) and all(map(len, found))
    if not extra or labels.get("options", {}).get("header") is not None:
        return [label for own in found for label in own]
    for path, own in zip(paths, found, strict=True):
        if own[0] in own[1:] and not (default and word(own[0]) == "0"):
            raise DataError(
                f"{path} has {len(own)} lines, one too many for the samples: say label_header=true if the first, "
                f"{word(own[0])}, is a name."
            )
        say(f"{path}: the first line ({word(own[0])}) is taken as a name, as there is one label too many.")
    return [label for own in found for label in own[1:]]


def in_order(path, table, own):
    """Return the table with the column `LABEL`; a DataError says that there are more or fewer labels."""
    if len(own) != len(table):
        turned = len(own) in (table.shape[1], table.shape[1] + 1)  # one column may have the names of the features
        hint = " Samples are rows: say transposed=true for a file that has them as columns." if turned else ""
        raise DataError(
            f"{path}: {len(table)} samples have {len(own)} labels in files of their own: they must be as many.{hint}"
        )
    return table.assign(**{LABEL: np.array(own, dtype=object)})


def _labels_in(path, labels):
    """Return the names of samples, or None without a key, the labels in a file, and the names of their columns."""
    kind = labels.get("format", "csv")
    named = labels.get("y")
    options = labels.get("options", {}) | ({"option": "label_header"} if kind in ("csv", "xlsx") else {})
    table = LABEL_FRAMES[kind](path, [*listed_labels(named), labels.get("key")], **options)
    key = column_of(path, table, labels["key"]) if "key" in labels else None
    if named is None:
        rest = [name for name in table.columns if name != key]
        classes = from_indicators(path, table[rest].to_numpy(), len(table)) if kind == "npy" else None
        if np.ndim(classes) == 1:
            return None, classes, []
        if len(rest) != 1:
            known = listed([str(one) for one in rest])
            raise DataError(f"{path} has {len(rest)} columns that may be labels ({known}): name one.")
        named = rest[0]
    columns = columns_of(path, table, named)
    return None if key is None else table[key].map(word), labels_in(path, table, columns), columns


def _add(whole, items, path):
    """Add labels to a mapping; a DataError says that a sample has two."""
    for key, value in items:
        if whole.setdefault(key, value) != value:
            raise DataError(f"{path}: sample {key!r} has two labels, {word(whole[key])!r} and {word(value)!r}.")
    return whole


def labelled(path, table, own, labels):
    """Return a table with the column `LABEL`; a DataError says that a sample has none."""
    keys = [word(key) for key in table.index]
    absent = [key for key in keys if key not in own]
    if absent and labels.get("others") != "drop":
        raise DataError(
            f"{path}: {len(absent)} of {len(keys)} samples have no label, the first being {absent[0]!r}. Say "
            "names=COLUMN for the column that names the samples; others=drop leaves those without a label out."
        )
    if len(absent) == len(keys):
        raise DataError(f"{path}: no sample has a label; the names of samples are {listed(keys)}.")
    values = np.array([own.get(key) for key in keys], dtype=object)
    return table.assign(**{LABEL: values})[[key in own for key in keys]]


def _numbers_rows(table):
    """Return True if the first column has no name and distinct whole numbers, as pandas writes an index."""
    if not str(table.columns[0]).startswith(UNNAMED):
        return False
    column = as_numbers(table.iloc[:, :1]).iloc[:, 0]
    return column.dtype.kind == "f" and column.is_unique and (column >= 0).all() and (column % 1 == 0).all()
