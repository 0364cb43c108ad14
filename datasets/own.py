"""Specifications of data that no file of conf/dataset describes: somebody's own table, or an OpenML data set."""

import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np

from datasets.base import LARGEST_WHOLE, DataError, check_dataset, first_of, say
from datasets.files import checksum, looks_like
from datasets.formats.tables import are_names
from datasets.joined import LABEL_FRAMES
from datasets.loaders import read_source
from datasets.spec import COLUMNS, FILLS, check_spec, dataset_names

SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".data": "csv", ".tab": "csv", ".npz": "npz",
    ".mat": "mat", ".arff": "arff",
    ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
    ".h5ad": "h5ad", ".xlsx": "xlsx", ".rdata": "rdata", ".rda": "rdata", ".rds": "rdata",
    ".npy": "npy", ".mtx": "mtx",
}  # fmt: skip
FEW, ENOUGH = (
    10,
    10,
)  # values that tell whether a column has whole numbers; samples of which distinct ones say something
ABSENT = (-9, -99, -999, -9999, -99999, 999, 9999, 99999)  # numbers that often stand for a missing value
IDENTIFIERS = 3  # columns: where more have distinct whole numbers, they are counts
NONE = "none"  # as a label: the data have none
OPENML = re.compile(r"openml:([1-9]\d*)")
TEXTS = ("csv", "libsvm", "arff", "mtx")
PACKED = (".gz", ".zip", ".bz2", ".xz")  # of a text
ROWS = ("names", "ignore_rows", "columns")
TAKES = {  # what has a meaning for some formats only
    "csv": ("ignore", "onehot", "header", "skip_rows", "decimal", "thousands", "max_unpacked_mb", *ROWS),
    "xlsx": ("ignore", "onehot", "header", "skip_rows", "sheet", *ROWS), "parquet": ("ignore", "onehot", *ROWS),
    "arff": ("ignore", "onehot", "columns", "sparse", "max_unpacked_mb"), "rdata": ("x", "ignore", "onehot"),
    "npz": ("x", "sparse"), "mat": ("x", "sparse"), "libsvm": ("sparse", "max_unpacked_mb"), "h5ad": ("x", "sparse"),
    "npy": (), "mtx": ("sparse", "max_unpacked_mb"),
}  # fmt: skip
READING = ("header", "skip_rows", "sheet", "decimal", "thousands", "max_unpacked_mb")  # how a table of text is written
OPTIONS = ("x", "ignore", "onehot", "names", "ignore_rows", *READING)  # those of a reader; others are of the source


def own_spec(data, label=None, name=None, fill=None, clusters=None, x=None, ignore=None, header=None,
             sparse=None, format=None, labels=None, key=None, others=None, names=None, ignore_rows=None, onehot=None,
             transposed=None, columns=None, missing=None, label_pattern=None, steps=None, label_header=None,
             skip_rows=None, sheet=None, decimal=None, thousands=None, max_unpacked_mb=None):  # fmt: skip
    """Return the specification of a file, of several, or of an OpenML data set without reading it, and the folder.

    `data` is a file, whose format is that of its suffix (`SUFFIXES`, also packed), a list of files in one folder, whose
    samples are put below each other, or ``openml:NUMBER``, which is in no folder: None.  What the options do is on
    docs/own_data.md, and what they become in `datasets.spec.Source`.  A list may be a single value, too.
    """
    found = OPENML.fullmatch(str(data))
    paths = [] if found else _paths(data)
    kind = "npz" if found else _format(paths, format)
    reading = dict(zip(READING, (header, skip_rows, sheet, decimal, thousands, max_unpacked_mb), strict=True))
    absent = _listed(missing) or []
    words = [one for one in absent if isinstance(one, str)]
    numbers = [one for one in absent if not isinstance(one, str)]
    options = {
        "x": x, "ignore": _listed(ignore), "onehot": onehot if onehot is True else _listed(onehot), **reading,
        "names": names, "ignore_rows": _listed(ignore_rows), "missing": words or None, "sparse": sparse,
        "transposed": transposed, "columns": columns, "label_pattern": label_pattern, "key": key, "others": others,
        "label_header": label_header,
    }  # fmt: skip
    given = {one: value for one, value in options.items() if value is not None}
    _check_meaning(data, kind, given, bool(found), labels)
    _check_values(given, len(paths))
    if isinstance(fill, str) and fill not in FILLS:
        raise DataError(f"fill={fill!r} must be a number or one of {', '.join(FILLS)}.")
    own = {one: given[one] for one in ("transposed", "columns", "label_pattern", "sparse") if one in given}
    own |= {"fill": fill} if fill is not None else {}
    if all_steps := [*([{"missing": numbers}] if numbers else []), *(steps or [])]:
        own["steps"] = all_steps
    if found:
        name, source = name or f"openml_{found[1]}", _openml_source(found[1], label)
    else:
        name = name or _name_of(paths[0])
        read = {one: given[one] for one in (*OPTIONS, "missing") if one in given}
        source = _source(paths, kind, label, read, labels, given, format)
    _check_name(name)
    own = {"name": name, "sources": [source | own]} | ({"clusters": clusters} if clusters is not None else {})
    return check_spec(own), paths[0].parent if paths else None


def _name_of(path):
    """Return a name that Hydra reads, made of the name of a file or, without letters of ASCII, of its content."""
    stem = unicodedata.normalize("NFKD", path.name.lstrip(".").split(".")[0]).encode("ascii", "ignore").decode()
    name = re.sub(r"\W+", "_", stem).strip("_").lower() or checksum(path)[:8]
    return name if name[0].isalpha() else f"data_{name}"


def _paths(data, word="data"):
    """Return the files of samples or labels, which must be there, in one folder."""
    given = data if isinstance(data, list | tuple) else [data]
    if not given:
        raise DataError(f"{word}=[] names no file.")
    paths = [Path(one).expanduser().resolve() for one in given]
    for path in paths:
        if not path.is_file():
            each = [one for one in str(data).split(",") if Path(one).expanduser().is_file()]
            hint = " One run takes one data set; several parts of one are a list, [FILE,FILE]." if len(each) > 1 else ""
            raise DataError(f"{word}={str(path)!r} is no file.{hint}")
        if path.parent != paths[0].parent:
            raise DataError(f"{path} and {paths[0]} must be in one folder: copy or link them there.")
    return paths


def _listed(value):
    return list(value) if isinstance(value, list | tuple) else None if value is None else [value]


def _check_meaning(data, kind, given, openml, labels):
    """Refuse an option that the format cannot have."""
    known = {"missing": ("csv", "xlsx")} | {
        name: [one for one, names in TAKES.items() if name in names] for name in ("sparse", "columns", *OPTIONS)
    }
    for name in given:
        least = name in ("key", "others", "label_header") and labels is None
        other = name in known and kind not in known[name]
        if least or other or (openml and name != "label_pattern"):
            raise DataError(f"{name}={given[name]!r} has no meaning for {data}: leave it out.")


def _check_values(given, n_files):
    """Refuse values that an option cannot have, as YAML reads `maybe` as a text."""
    flags = ("header", "label_header", "sparse", "transposed")
    marks = ("decimal", "thousands")
    wrong = [(name, "true or false") for name in flags if not isinstance(given.get(name, True), bool)]
    wrong += [(name, "',' or '.'") for name in marks if given.get(name, ",") not in (",", ".")]
    for name, least in (("skip_rows", 0), ("max_unpacked_mb", 1)):
        value = given.get(name, least)
        wrong += [] if type(value) is int and value >= least else [(name, f"a whole number, {least} or more")]
    for name, right in wrong:
        raise DataError(f"{name}={given[name]!r} must be {right}.")
    if given.get("decimal") and given["decimal"] == given.get("thousands"):
        raise DataError(f"decimal={given['decimal']!r} and thousands must be different marks.")
    if given.get("columns") in COLUMNS and n_files < 2:
        raise DataError(f"columns={given['columns']} is about several files, and data= names one: leave it out.")


def _source(paths, kind, label, options, labels, given, format=None):
    """Return the source of files of one's own, with the checksums that they have now."""
    files = [_file(path) for path in paths]
    source = (files[0] if len(files) == 1 else {"files": files}) | {"format": kind}
    if labels is None:
        return source | _options(paths[0], kind, label, options)
    if label == NONE or kind == "libsvm":
        raise DataError(f"labels={labels} has no meaning for {paths[0].name} with label={label}: leave one out.")
    others = _paths([*paths[:1], *_listed(labels)], "labels")[1:]
    its = {"files": [_file(path) for path in others], "format": _label_format(others, format)}
    its |= {"options": {"header": given["label_header"]}} if "label_header" in given else {}
    its |= {"y": label} if label is not None else {}
    its |= {name: given[name] for name in ("key", "others") if name in given}
    return source | {"labels": its} | ({"options": options} if options else {})


def _file(path):
    if not path.stat().st_size:
        raise DataError(f"{path} is empty.")
    return {"file": path.name, "checksum": f"sha256:{checksum(path)}", "bytes": path.stat().st_size}


def _check_name(name):
    if not re.fullmatch(r"[a-z_]\w*", str(name), re.ASCII):  # as Hydra reads no others in dataset=NAME
        raise DataError(f"name={name!r} must be letters, digits and _ of ASCII, and begin with a letter: name=my_data.")
    if name in dataset_names(truth=True):
        raise DataError(
            f"name={name!r} is that of a data set of conf/dataset: give another one, name=my_{name}, or say "
            f"dataset={name}."
        )


def as_dataset(X, y=None, name=None, clusters=None):
    """Return arrays as a data set.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        Finite numbers, unscaled: the protocol scales them.
    y : array-like of shape (n_samples,), optional
        Classes.  Without them the scores that need none are taken.
    name : str, optional
        By default "data_" and the first digits of the checksum of the values.
    clusters : int, optional
        Without y: the number of clusters to look for.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        For values that are no samples or no classes.
    """
    given = {} if clusters is None else {"clusters": clusters}
    if name is not None:
        _check_name(name)
    columns = getattr(X, "columns", None)  # of a DataFrame
    if columns is not None and hasattr(X, "iloc"):
        _check_frame(X, y)
    names = map(str, columns) if columns is not None and are_names(columns) else None
    data = check_dataset({"name": name or "data", **given}, X, y, names)
    return data if name else replace(data, name=f"data_{data.sha[:8]}")


def _check_frame(X, y):
    """Refuse a DataFrame with columns of no numbers, or with the rows of y in another order."""
    odd = [j for j, kind in enumerate(X.dtypes) if kind.kind not in "biuf"]
    texts = [str(X.columns[j]) for j in odd if not _is_numeric(X.iloc[:, j])]
    if texts:
        raise DataError(f"X has columns that hold no numbers ({first_of(texts)}): leave them out, or encode them.")
    if not hasattr(y, "iloc") or X.index.equals(y.index):
        return
    if set(X.index) == set(y.index):
        raise DataError("X and y have the same index in different orders, and are paired row by row: y.loc[X.index].")
    common = len(X.index.intersection(y.index))
    if common or not (_is_default(X.index) or _is_default(y.index)):
        raise DataError(
            f"X and y have different indices ({common} of {len(X)} rows of X are in y), "
            "and are paired row by row: choose their common rows, or give y.to_numpy() where the rows are the same."
        )
    if len(X) == len(y):
        say("X and y have different indices, one of which only numbers the rows: they are paired row by row.")


def _is_default(index):
    """Return True for the index that pandas gives to rows without one."""
    return getattr(index, "step", None) == 1 and index.start == 0


def _is_numeric(column):
    try:
        column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError):
        return False
    return column.dtype.kind not in "mM"


def complete(spec, data):
    """Return a specification with the shape and checksum of loaded data, from which it then cannot differ."""
    shape = {"samples": data.n_samples, "features": data.n_features}
    return spec | shape | {"classes": None if data.y is None else data.n_classes, "data_sha256": data.sha}


def _format(paths, given):
    if given is not None and given not in SUFFIXES.values():
        raise DataError(f"format={given!r} must be one of {', '.join(dict.fromkeys(SUFFIXES.values()))}.")
    kinds = {given or SUFFIXES.get(_suffix(path)) for path in paths}
    if None in kinds:
        path = next(path for path in paths if _suffix(path) not in SUFFIXES)
        raise DataError(f"{path} must end with one of {', '.join(SUFFIXES)}, which says its format; or say format=csv.")
    if len(kinds) > 1:
        raise DataError(f"{paths[0]} and others have the formats {', '.join(sorted(kinds))}: they must have one.")
    (kind,) = kinds
    for path in paths:
        looks = looks_like(path) if path.stat().st_size else None
        if looks and not (kind in TEXTS and looks == "a text file"):
            raise DataError(f"{path} is {looks}, and no file of the format {kind}.")
    return kind


def _label_format(paths, given):
    """Return the format of files of labels: that of their endings, or else the one that is given for all files."""
    kind = _format(paths, given if any(_suffix(path) not in SUFFIXES for path in paths) else None)
    if kind not in LABEL_FRAMES:
        raise DataError(f"{paths[0]}: labels= are read from {', '.join(sorted(LABEL_FRAMES))}, not from {kind}.")
    return kind


def _suffix(path):
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return suffixes[-2] if suffixes[-1:] and suffixes[-1] in PACKED and len(suffixes) > 1 else "".join(suffixes[-1:])


def _openml_source(number, label):
    if label not in (None, NONE):
        raise DataError(f"label={label!r}: an OpenML data set states its label: leave it out, or label=none.")
    names = {"x": "X"} if label == NONE else {"x": "X", "y": "y"}
    return {"file": f"openml_{number}.npz", "format": "npz", "options": names, "openml": int(number)}


def _options(path, kind, label, given):
    """Return the options of the reader, in a mapping of their own; empty where there are none."""
    if kind == "libsvm":
        if label not in (None, NONE):
            raise DataError(f"label={label!r}: a LIBSVM file begins every line with its label: leave it out, or none.")
        return {"options": {"y": False}} if label == NONE else {}
    if label is None:
        raise DataError(
            f"{path.name}: say what its labels are, label=NAME{_candidates(path, kind)}; label=none for data without."
        )
    options = given if label == NONE else {**given, "y": label}
    return {"options": options} if options else {}


def _candidates(path, kind):
    """Return, in brackets, what may be a label, as the error of a reader names it; "" where that is not known."""
    try:
        read_source({"format": kind, "options": {"y": "\0"}}, path)
    except DataError as error:
        found = re.search(r"(it (?:has|holds) .*)\.$", str(error))
        return f" ({found[1]})" if found else ""
    return ""


def remarks(data):
    """Return lines on features and samples that say nothing: constant ones, copies, numbers of samples, such labels."""
    lowest, highest = (np.asarray(part.todense() if hasattr(part, "todense") else part).ravel()
                       for part in (data.X.min(axis=0), data.X.max(axis=0)))  # fmt: skip
    names = data.feature_names or [f"number {j}" for j in range(data.n_features)]
    how = "" if data.feature_names else ", counted from 0"
    lines, varying = [], np.flatnonzero(lowest < highest)
    if constant := [names[j] for j in np.flatnonzero(lowest == highest)]:
        what = "1 feature is" if len(constant) == 1 else f"{len(constant)} features are"
        lines.append(f"{data.name}: {what} constant ({first_of(constant)}{how}): no method can tell samples by it.")
    if copies := [f"{names[j]} of {names[other]}" for j, other in _copies(data.X.T, varying)]:
        what = "1 feature is a copy" if len(copies) == 1 else f"{len(copies)} features are copies"
        lines.append(f"{data.name}: {what} ({first_of(copies)}{how}): scores of single features select both.")
    if copies := [f"{i} of {other}" for i, other in _copies(data.X, np.arange(data.n_samples))]:
        what = "1 sample is a copy" if len(copies) == 1 else f"{len(copies)} samples are copies"
        lines.append(f"{data.name}: {what} ({first_of(copies)}, counted from 0).")
    columns = {j: column for j in varying if len(column := _whole_numbers(data.X, j)) > 2}
    counting = [j for j, column in columns.items() if _counts(column)]
    if counting:
        what = f"a feature numbers the samples ({names[counting[0]]}{how})"
        lines.append(f"{data.name}: {what}: give the name or number of its column in ignore=[...].")
    large = [j for j, column in columns.items() if np.abs(column).max() >= LARGEST_WHOLE]
    distinct = [j for j, column in columns.items() if j not in counting and len(np.unique(column)) == len(column)]
    distinct = sorted({*distinct, *large})  # large ones are rounded, and may be equal then
    if 0 < len(distinct) <= IDENTIFIERS and data.n_samples >= ENOUGH:
        what = f"distinct whole numbers in {first_of([names[j] for j in distinct])}{how}"
        lines.append(f"{data.name}: {what} look like identifiers of samples: if so, say ignore=[...].")
    for j in np.flatnonzero(np.isin(lowest, ABSENT) | np.isin(highest, ABSENT)):
        values = np.unique(data.X[:, [j]].toarray() if hasattr(data.X, "toarray") else data.X[:, j])
        rest = values[~np.isin(values, ABSENT)]
        if len(rest) and (odd := values[np.isin(values, ABSENT) & (np.abs(values) > FEW * np.abs(rest).max())]).size:
            what = f"{odd[0]:g} in {names[j]}{how} is far from its other values"
            lines.append(f"{data.name}: {what}: if it stands for a missing value, say missing=[{odd[0]:g}].")
            break
    sizes = np.zeros(0) if data.y is None else np.bincount(data.y)
    if (sizes == 1).any() and not (sizes == 1).all():
        alone = np.flatnonzero(np.isin(data.y, np.flatnonzero(sizes == 1)))
        what = "1 sample is" if len(alone) == 1 else f"{len(alone)} samples are each"
        lines.append(
            f"{data.name}: {what} the only one of its class ({first_of(alone)}, counted from 0): is that right?"
        )
    if data.y is not None and data.n_classes == data.n_samples > 1:
        lines.append(f"{data.name}: every sample has a label of its own, so that scores say nothing: is label= right?")
    return lines


def _copies(X, numbers):
    """Return pairs of numbers of rows, of those given: a row, and the first one of the same values."""
    sums = np.asarray(X @ np.random.default_rng(0).normal(size=X.shape[1]))[numbers]
    order = np.argsort(sums, kind="stable")
    near = np.diff(sums[order]) <= 1e-9 * np.abs(sums).max(initial=0.0)  # only these can be equal
    seen, found = {}, []
    for place in sorted({*order[1:][near], *order[:-1][near]}):
        row = X[[numbers[place]]]
        key = ((row.toarray() if hasattr(row, "toarray") else row) + 0.0).tobytes()  # without -0
        if seen.setdefault(key, place) != place:
            found.append((numbers[place], numbers[seen[key]]))
    return found


def _whole_numbers(X, j):
    """Return a column of whole numbers; an empty array where it has others."""
    if (X[:FEW, [j]] % 1 if isinstance(X, np.ndarray) else X[:FEW, [j]].toarray() % 1).any():
        return np.array([])
    column = X[:, [j]]
    values = np.asarray(column.todense() if hasattr(column, "todense") else column).ravel()
    return values if (values % 1 == 0).all() else np.array([])


def _counts(values):
    """Return True for numbers that rise by 1 from sample to sample, or do so in each of a few files."""
    begins = np.flatnonzero(np.diff(values) != 1) + 1
    return len(begins) <= len(values) / FEW and bool((values[begins] == values[0]).all())
