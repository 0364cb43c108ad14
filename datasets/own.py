"""Specifications of data that no file of conf/dataset describes: somebody's own table, or an OpenML data set."""

import re
import unicodedata
from pathlib import Path

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.files import checksum, looks_like
from ufs_bench.datasets.joined import LABEL_FRAMES
from ufs_bench.datasets.loaders import read_source
from ufs_bench.datasets.spec import COLUMNS, FILLS, check_spec, dataset_names

SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".data": "csv", ".tab": "csv", ".npz": "npz",
    ".mat": "mat", ".arff": "arff",
    ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
    ".h5ad": "h5ad", ".xlsx": "xlsx", ".rdata": "rdata", ".rda": "rdata", ".rds": "rdata",
    ".npy": "npy", ".mtx": "mtx",
}  # fmt: skip
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
    check_name(name)
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


def check_name(name):
    if not re.fullmatch(r"[a-z_]\w*", str(name), re.ASCII):  # as Hydra reads no others in dataset=NAME
        words = "must be letters, digits and _ of ASCII, the first one a small letter: name=my_data."
        raise DataError(f"name={name!r} {words}")
    if name in dataset_names(truth=True):
        raise DataError(
            f"name={name!r} is that of a data set of conf/dataset: give another one, name=my_{name}, or say "
            f"dataset={name}."
        )


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
