"""Specifications of data that no file of conf/dataset describes: somebody's own table, or an OpenML data set."""

import re
from dataclasses import replace
from pathlib import Path

from datasets.base import DataError, check_dataset
from datasets.files import checksum, looks_like
from datasets.loaders import read_source
from datasets.spec import FILLS, check_spec, dataset_names

SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".data": "csv", ".npz": "npz", ".mat": "mat", ".arff": "arff",
    ".parquet": "parquet", ".pq": "parquet", ".libsvm": "libsvm", ".svm": "libsvm", ".svmlight": "libsvm",
    ".h5ad": "h5ad",
}  # fmt: skip
NONE = "none"  # as a label: the data have none
OPENML = re.compile(r"openml:([1-9]\d*)")
TEXTS = ("csv", "libsvm", "arff")
TAKES = {
    "csv": ("ignore", "header"), "parquet": ("ignore",), "npz": ("x", "sparse"), "mat": ("x", "sparse"),
    "libsvm": ("sparse",), "h5ad": ("sparse",),
}  # fmt: skip


def own_spec(data, label=None, name=None, fill=None, clusters=None, x=None, ignore=None, header=None,
             sparse=None):  # fmt: skip
    """Return the specification of a file, or of an OpenML data set, without reading the samples.

    Parameters
    ----------
    data : str or path
        A file, whose format is that of its suffix (`SUFFIXES`, also with .gz after a text), or ``openml:NUMBER``.
    label : str or int, optional
        The column or array of labels, and ``none`` where there are none.  LIBSVM files and OpenML data sets state it
        themselves.
    name : str, optional
        Made of the name of the file by default.
    fill : {"error", "median", "drop"}, optional
    clusters : int, optional
        Number of clusters to look for where there are no labels.
    x : str, optional
        The array of samples in a NumPy archive or MATLAB file.
    ignore : str, int or list of these, optional
        Columns of a table that are neither features nor labels.
    header : bool, optional
        Whether the first line of a text has names.
    sparse : bool, optional
        Whether X stays sparse.

    Returns
    -------
    spec : Spec
    folder : Path or None
        The folder that the file is in; None for OpenML.

    Raises
    ------
    DataError
    """
    found = OPENML.fullmatch(str(data))
    path = None if found else Path(data).expanduser().resolve()
    kind = "npz" if found else _format(path)
    ignore = ignore if isinstance(ignore, list | tuple | None) else [ignore]
    options = {"x": x, "ignore": ignore, "header": header, "sparse": sparse}
    given = {key: value for key, value in options.items() if value is not None}
    if wrong := sorted(set(given) - set(() if found else TAKES.get(kind, ()))):
        raise DataError(f"{wrong[0]}={given[wrong[0]]!r} has no meaning for {data}: leave it out.")
    if fill not in (None, *FILLS):
        raise DataError(f"fill={fill!r} must be one of {', '.join(FILLS)}.")
    if path and not path.stat().st_size:
        raise DataError(f"{path} is empty.")
    sparse = given.pop("sparse", None)
    if found:
        name, source = name or f"openml_{found[1]}", _openml_source(found[1], label)
    else:
        name = name or re.sub(r"\W+", "_", path.name.split(".")[0]).strip("_").lower()
        source = {"file": path.name, "format": kind, "checksum": f"sha256:{checksum(path)}"}
        source |= {"bytes": path.stat().st_size} | _options(path, kind, label, given)
    _check_name(name)
    source |= {key: value for key, value in (("fill", fill), ("sparse", sparse)) if value is not None}
    own = {"name": name} | ({"clusters": clusters} if clusters is not None else {})
    return check_spec(own | {"sources": [source]}), path.parent if path else None


def _check_name(name):
    if not re.fullmatch(r"[a-z_]\w*", str(name)):
        raise DataError(f"name={name!r} must be letters, digits and _, and begin with a letter: name=my_data.")
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
    data = check_dataset({"name": name or "data", **given}, X, y)
    return data if name else replace(data, name=f"data_{data.sha[:8]}")


def complete(spec, data):
    """Return a specification with the shape and checksum of loaded data, from which it then cannot differ."""
    shape = {"samples": data.n_samples, "features": data.n_features}
    return spec | shape | {"classes": None if data.y is None else data.n_classes, "data_sha256": data.sha}


def _format(path):
    if not path.is_file():
        raise DataError(f"data={str(path)!r} is no file.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    last = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else "".join(suffixes[-1:])
    if last not in SUFFIXES:
        raise DataError(f"{path} must end with one of {', '.join(SUFFIXES)}, which says its format.")
    kind = SUFFIXES[last]
    if kind not in TEXTS and (looks := looks_like(path)):
        raise DataError(f"{path} is {looks}, and no file of the format {kind}.")
    return kind


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
