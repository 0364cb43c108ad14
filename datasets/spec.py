"""The specification of a data set, ``conf/dataset/<name>.yaml``, and its checks."""

import re
from pathlib import Path
from typing import NotRequired, TypedDict, get_type_hints

import yaml

from datasets.base import DataError
from datasets.loaders import READERS

FOLDER = Path(__file__).resolve().parent.parent / "conf" / "dataset"
FILE = re.compile(r"[^./\\\0][^/\\\0]*")
CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}|git-blob:[0-9a-f]{40}")


class Source(TypedDict):
    """One source of a data set.

    Attributes
    ----------
    format : str
        One of `datasets.loaders.READERS`.
    options : dict, optional
        Options of that reader.
    file : str, optional
        Its name in a folder of data; a format that makes up its own data has none.
    checksum : str, optional
        ``sha256:`` or ``git-blob:`` and the digest of the file.  One that is made from OpenML has it written beside it.
    bytes : int, optional
        Size of the file.
    urls : list of str, optional
        Addresses of the file, tried in order.
    openml : int, optional
        Number of its OpenML data set, in place of `urls`.
    package : str, optional
        ``name/path`` of a copy inside an installed Python package.
    per_class : int, optional
        Number of samples of each class that are kept, the first ones.
    """

    format: str
    options: NotRequired[dict]
    file: NotRequired[str]
    checksum: NotRequired[str]
    bytes: NotRequired[int]
    urls: NotRequired[list]
    openml: NotRequired[int]
    package: NotRequired[str]
    per_class: NotRequired[int]


class Spec(TypedDict):
    """The content of a file of conf/dataset.

    Attributes
    ----------
    name, paper_name, citation, origin, terms : str
    family : str, optional
        The kind of its samples, one of `FAMILIES`.  Without it a data set is a family of its own.
    same_source_as : str, optional
        The data set that these samples are shared with, in all or in part, or whose collection they are from, too.
        Without it a data set is a source of its own.
    samples, features, classes : int
        The expected shape.
    image : dict or None
        ``{height, width, order: row|column}``; None where the features are not pixels.
    data_sha256 : str or None
        `Dataset.sha` of the right values; None where nobody has them yet.
    sources : list of Source
        In order of preference.
    """

    name: str
    paper_name: str
    citation: str
    origin: str
    terms: str
    family: NotRequired[str]
    same_source_as: NotRequired[str]
    samples: int
    features: int
    classes: int
    image: dict | None
    data_sha256: str | None
    sources: list


REQUIRED, KEYS = set(Spec.__required_keys__), set(Spec.__annotations__)
SOURCE = set(Source.__annotations__)
FAMILIES = ("faces", "genes", "handwriting", "objects", "sensors", "spectra", "speech", "text")
WORDS = {
    str: "a text",
    int: "an int >= 1",
    list: "a list",
    dict: "a mapping",
    str | None: "a text or null",
    dict | None: "a mapping or null",
}


def dataset_names():
    """Return the names of all data sets, sorted; there is one for each file of conf/dataset."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read_spec(name):
    """Return the checked content of ``conf/dataset/<name>.yaml``.

    Parameters
    ----------
    name : str

    Returns
    -------
    Spec

    Raises
    ------
    DataError
        For an unknown name, which lists the known ones, for a file that breaks `check_spec`, and for a source that is
        no data set here, or names another one itself.
    """
    if name not in dataset_names():
        raise DataError(f"there is no data set {name!r}; the known ones are {', '.join(dataset_names())}.")
    spec = check_spec(_content(name))
    if spec["name"] != name:
        raise DataError(f"conf/dataset/{name}.yaml: name is {spec['name']!r}, it must be that of the file.")
    if "same_source_as" in spec:
        _check_other(spec["same_source_as"], f"conf/dataset/{name}.yaml:")
    return spec


def _content(name):
    try:
        return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"conf/dataset/{name}.yaml is not YAML: {' '.join(str(error).split())}") from error


def _check_other(other, where):
    _require(other in dataset_names(), where, f"same_source_as={other!r} must be in {', '.join(dataset_names())}")
    first = check_spec(_content(other)).get("same_source_as", other)
    _require(first == other, where, f"same_source_as={other!r} is itself of {first!r}; name that one")


def check_spec(spec):
    """Check the specification of a data set.

    Parameters
    ----------
    spec : object

    Returns
    -------
    Spec
        The same.

    Raises
    ------
    DataError
        Naming the key, its value and what it must be.
    """
    where = f"the specification of {spec.get('name')!r}" if isinstance(spec, dict) else "the specification"
    _require(isinstance(spec, dict), where, "must be a mapping")
    wrong = (REQUIRED - set(spec)) | (set(spec) - KEYS)
    _require(
        not wrong, where, f"must have {sorted(REQUIRED)} and may have {sorted(KEYS - REQUIRED)}; differs in {wrong}"
    )
    for key, low in (("samples", 2), ("classes", 2)):
        _require(type(spec[key]) is int and spec[key] >= low, where, f"{key}={spec[key]!r} must be an int >= {low}")
    _check_types(spec, Spec, where)
    family, other = spec.get("family", FAMILIES[0]), spec.get("same_source_as")
    _require(
        family in FAMILIES,
        where,
        f"family={family!r} must be one of {', '.join(FAMILIES)}; leave it out for a family of its own",
    )
    _require(other != spec["name"], where, f"same_source_as={other!r} must be another data set; leave it out otherwise")
    if spec["image"] is not None:
        _check_image(spec["image"], spec["features"], where)
    _require(spec["sources"], where, "sources must be a list of at least one")
    for source in spec["sources"]:
        _check_source(source, f"a source in {where}")
    return spec


def _check_image(image, features, where):
    _require(set(image) == {"height", "width", "order"}, where, f"image={image} must be height, width, order")
    _require(image["order"] in ("row", "column"), where, f"image.order={image['order']!r} must be row or column")
    for key in ("height", "width"):
        _require(type(image[key]) is int and image[key] >= 1, where, f"image.{key}={image[key]!r} must be an int >= 1")
    pixels = image["height"] * image["width"]
    _require(pixels == features, where, f"image has {pixels} pixels, not features={features}")


def _check_source(source, where):
    _require(isinstance(source, dict) and set(source) <= SOURCE, where, f"may have {sorted(SOURCE)}, has {source}")
    _check_types(source, Source, where)
    _require(source.get("format") in READERS, where, f"format={source.get('format')!r} must be in {sorted(READERS)}")
    if "file" not in source:
        return
    checksum = source.get("checksum")
    if "openml" in source:  # files from OpenML are written here, with a checksum beside them
        _require(checksum is None, where, f"checksum={checksum!r} must be left out beside openml")
    else:
        known = checksum is not None and CHECKSUM.fullmatch(checksum) is not None
        _require(known, where, f"checksum={checksum!r} must be sha256:... or git-blob:...")
    _require(FILE.fullmatch(source["file"]) is not None, where, f"file={source['file']!r} must be a bare name")
    urls = source.get("urls", [])
    _require(all(isinstance(url, str) and url for url in urls), where, f"urls={urls!r} must be a list of addresses")


def _check_types(content, kind, where):
    """Check the values that are there against the types of a TypedDict; a text must not be empty."""
    for key, hint in get_type_hints(kind).items():
        if key not in content:
            continue
        value, words = content[key], WORDS[hint]
        right = isinstance(value, hint) and not isinstance(value, bool) and value != ""
        least = hint is not int or (right and value >= 1)
        _require(right and least, where, f"{key}={value!r} must be {words}")


def _require(condition, where, message):
    if not condition:
        raise DataError(f"{where} {message}.")
