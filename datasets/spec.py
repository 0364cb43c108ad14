"""What ``conf/dataset/<name>.yaml`` says about a data set, and what it must say."""

import re
from pathlib import Path

import yaml

from datasets.base import DataError
from datasets.loaders import READERS

FOLDER = Path(__file__).resolve().parent.parent / "conf" / "dataset"
REQUIRED = set("name paper_name citation origin terms samples features classes image data_sha256 sources".split())
SOURCE = set("format file checksum bytes urls package openml per_class options".split())
CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}|git-blob:[0-9a-f]{40}")


def dataset_names():
    """Names of all data sets, sorted: one for each file of conf/dataset."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read_spec(name):
    """The checked content of ``conf/dataset/<name>.yaml``.

    Parameters
    ----------
    name : str

    Returns
    -------
    dict
        As `check_spec` describes it.

    Raises
    ------
    DataError
        For an unknown name, which lists the known ones, and for a file that breaks `check_spec`.
    """
    if name not in dataset_names():
        raise DataError(f"there is no data set {name!r}; the known ones are {', '.join(dataset_names())}.")
    try:
        spec = check_spec(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise DataError(f"conf/dataset/{name}.yaml is not YAML: {' '.join(str(error).split())}") from error
    if spec["name"] != name:
        raise DataError(f"conf/dataset/{name}.yaml: name is {spec['name']!r}, it must be that of the file.")
    return spec


def check_spec(spec):
    """Check the specification of a data set.

    Parameters
    ----------
    spec : dict
        ``name, paper_name, citation, origin, terms``: texts.  ``samples, features, classes``: the expected shape.
        ``image``: ``{height, width, order: row|column}``, or null where the features are not pixels.
        ``data_sha256``: `Dataset.sha` of the right values, or null where nobody has them yet.
        ``sources``: where it can be had, in order of preference, each a dictionary of

        * ``format``: one of `datasets.loaders.READERS`, and ``options`` for that reader;
        * ``file``: its name in a folder of data, with ``checksum`` (``sha256:`` or ``git-blob:``) and ``bytes``;
        * ``urls``: addresses of that file, tried in order; or ``openml``: number of its OpenML data set;
        * ``package``: ``name/path`` of a copy inside an installed Python package;
        * ``per_class``: how many samples of each class are kept, the first ones.

    Returns
    -------
    dict
        The same.

    Raises
    ------
    DataError
    """
    where = f"the specification of {spec.get('name')!r}" if isinstance(spec, dict) else "the specification"
    _require(isinstance(spec, dict), where, "must be a mapping")
    _require(set(spec) == REQUIRED, where, f"must have exactly {sorted(REQUIRED)}; differs in {set(spec) ^ REQUIRED}")
    for key in ("name", "paper_name", "citation", "origin", "terms"):
        _require(isinstance(spec[key], str) and spec[key], where, f"{key}={spec[key]!r} must be a text")
    for key, low in (("samples", 2), ("features", 1), ("classes", 2)):
        _require(type(spec[key]) is int and spec[key] >= low, where, f"{key}={spec[key]!r} must be an int >= {low}")
    image = spec["image"]
    if image is not None:
        _require(set(image) == {"height", "width", "order"}, where, f"image={image} must be height, width, order")
        _require(image["order"] in ("row", "column"), where, f"image.order={image['order']!r} must be row or column")
        pixels = image["height"] * image["width"]
        _require(pixels == spec["features"], where, f"image has {pixels} pixels, not features={spec['features']}")
    _require(isinstance(spec["sources"], list) and spec["sources"], where, "sources must be a list of at least one")
    for source in spec["sources"]:
        _check_source(source, f"a source in {where}")
    return spec


def _check_source(source, where):
    _require(isinstance(source, dict) and set(source) <= SOURCE, where, f"may have {sorted(SOURCE)}, has {source}")
    _require(source.get("format") in READERS, where, f"format={source.get('format')!r} must be in {sorted(READERS)}")
    if "file" not in source:
        return
    checksum = source.get("checksum")
    known = isinstance(checksum, str) and CHECKSUM.fullmatch(checksum) is not None
    _require(known != ("openml" in source), where, f"checksum={checksum!r} must be sha256:... or git-blob:...")
    _require(Path(source["file"]).name == source["file"], where, f"file={source['file']!r} must be a bare name")


def _require(condition, where, message):
    if not condition:
        raise DataError(f"{where} {message}.")
