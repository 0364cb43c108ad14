"""The specification of a data set, ``conf/dataset/<name>.yaml``, and its checks."""

import re
from pathlib import Path
from typing import NotRequired, TypedDict, get_type_hints

import yaml

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.joined import LABEL_FRAMES
from ufs_bench.datasets.loaders import READERS
from ufs_bench.datasets.steps import FILLS, wrong_step
from ufs_bench.datasets.truth import parts_of, truth_names, truth_spec

FOLDER = Path(__file__).resolve().parent.parent / "conf" / "dataset"
FILE = re.compile(r"(?!\.{1,2}\Z)[^/\\\0]+")
FAMILY = re.compile(r"[A-Za-z]\w*")
CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}|git-blob:[0-9a-f]{40}")


class File(TypedDict):
    """One of several files of a source."""

    file: str  # its name in a folder of data
    checksum: NotRequired[str]  # ``sha256:`` or ``git-blob:`` and the digest of the file, needed with `urls`
    bytes: NotRequired[int]  # size of the file
    urls: NotRequired[list]  # addresses of the file, tried in order


class Labels(TypedDict):
    """Labels in files of their own."""

    files: list  # each a `File`; as many as of samples belong to each other, otherwise all count for every file
    y: NotRequired[str | int | list]  # the column of labels; the only column by default; several make one label
    key: NotRequired[str | int]  # the column that names the samples; without it they are in the order of the samples
    others: NotRequired[str]  # ``drop`` leaves out samples without a label, which are an error otherwise
    format: NotRequired[str]  # of the files, one of `datasets.joined.LABEL_FRAMES`; "csv" by default
    options: NotRequired[dict]  # of the function there


class Source(TypedDict):
    """One source of a data set."""

    format: str  # one of `datasets.loaders.READERS`
    options: NotRequired[dict]  # options of that reader
    file: NotRequired[str]  # its name in a folder of data; a format that makes up its own data has none
    files: NotRequired[list]  # in place of `file`: several, each a `File`, whose samples are put below each other
    columns: NotRequired[str]  # of several tables: the "same" features, or the "common" ones of all
    transposed: NotRequired[bool]  # True where the rows of the files are features
    labels: NotRequired[dict]  # `Labels`, where other files have them
    label_pattern: NotRequired[str]  # a regular expression, whose first group is the part of a label that counts
    steps: NotRequired[list]  # what is done with the values, each a mapping of one of `datasets.steps.STEPS`
    # As in `File`.  A file from OpenML has its checksum beside it.
    checksum: NotRequired[str]
    bytes: NotRequired[int]
    urls: NotRequired[list]
    openml: NotRequired[int]  # number of its OpenML data set, in place of `urls`
    package: NotRequired[str]  # ``name/path`` of a copy inside `datasets`, or inside an installed Python package
    per_class: NotRequired[int]  # number of samples of each class that are kept, the first ones
    sparse: NotRequired[bool]  # True to keep X sparse, for the formats that can hold a sparse matrix
    fill: NotRequired[str | int | float]  # what takes the place of missing values: a number, or one of `FILLS`


class Spec(TypedDict):
    """The content of a file of conf/dataset."""

    name: str
    # By default the name, and that nothing is stated.
    paper_name: NotRequired[str]
    citation: NotRequired[str]
    origin: NotRequired[str]
    terms: NotRequired[str]
    withheld: NotRequired[str]  # why it is not offered for download, in a sentence
    family: NotRequired[str]  # the kind of its samples, by any name. Without it a data set is a family of its own
    # The data set that these samples are shared with, in all or in part, or whose collection they are from, too.
    # Without it a data set is a source of its own.
    same_source_as: NotRequired[str]
    # The expected shape; what is left out is not checked.
    samples: NotRequired[int | None]
    features: NotRequired[int | None]
    classes: NotRequired[int | None]
    clusters: NotRequired[int]  # how many to look for, in data without labels
    image: NotRequired[dict | None]  # ``{height, width, order: row|column}``; None where the features are not pixels
    data_sha256: NotRequired[str | None]  # `Dataset.sha` of the right values; None where nobody has them yet
    sources: list  # in order of preference


REQUIRED, KEYS = set(Spec.__required_keys__), set(Spec.__annotations__)
SOURCE, FILE_KEYS, LABELS = (set(kind.__annotations__) for kind in (Source, File, Labels))
NOT_STATED = ("citation", "origin", "terms")
COMPUTED = ("samples", "features", "classes", "image", "data_sha256")
COLUMNS = ("same", "common")
WORDS = {
    int | None: "an int >= 1, or null",
    str: "a text",
    int: "an int >= 1",
    bool: "true or false",
    list: "a list",
    dict: "a mapping",
    str | int: "a text or an int",
    str | int | list: "a text, an int or a list",
    str | int | float: f"a number or one of {', '.join(FILLS)}",
    str | None: "a text or null",
    dict | None: "a mapping or null",
}


def dataset_names(truth=False):
    """Return the sorted names of all data sets: of the files of conf/dataset and, if asked, of those of known truth."""
    return sorted([path.stem for path in FOLDER.glob("*.yaml")] + (truth_names() if truth else []))


def read_spec(name):
    """Return the checked content of ``conf/dataset/<name>.yaml``, or what `truth_spec` makes of a name like that.

    A DataError says that the name is unknown, and lists the known ones, that the file breaks `check_spec`, or that its
    `same_source_as` is no data set here, or names another one itself.
    """
    names, where = dataset_names(), f"conf/dataset/{name}.yaml:"
    if name not in names and parts_of(name):
        return check_spec(truth_spec(name))
    if name not in names:
        raise DataError(f"there is no data set {name!r}; the known ones are {', '.join(names)}.")
    spec = check_spec(_content(name))
    _require(spec["name"] == name, where, f"name is {spec['name']!r}, it must be that of the file")
    if "same_source_as" in spec:
        other = spec["same_source_as"]
        _require(other in names, where, f"same_source_as={other!r} must be in {', '.join(names)}")
        first = check_spec(_content(other)).get("same_source_as", other)
        _require(first == other, where, f"same_source_as={other!r} is itself of {first!r}; name that one")
    return spec


def openml_page(number):
    """Return the address of the page of an OpenML data set."""
    return f"https://www.openml.org/d/{number}"


def _content(name):
    try:
        return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"conf/dataset/{name}.yaml is not YAML: {' '.join(str(error).split())}") from error


def check_spec(spec):
    """Return a checked specification, with null for what can be computed and the defaults of texts."""
    where = f"the specification of {spec.get('name')!r}" if isinstance(spec, dict) else "the specification"
    _require(isinstance(spec, dict), where, "must be a mapping")
    wrong = (REQUIRED - set(spec)) | (set(spec) - KEYS)
    _require(
        not wrong, where, f"must have {sorted(REQUIRED)} and may have {sorted(KEYS - REQUIRED)}; differs in {wrong}"
    )
    for key in ("samples", "classes", "clusters"):
        value = spec.get(key)
        absent = value is None and (key in COMPUTED or key not in spec)
        _require(absent or (type(value) is int and value >= 2), where, f"{key}={value!r} must be an int >= 2")
    _check_types(spec, Spec, where)
    spec = {"paper_name": spec["name"], **dict.fromkeys(NOT_STATED, "not stated"), **dict.fromkeys(COMPUTED)} | spec
    family, other = spec.get("family", "own"), spec.get("same_source_as")
    _require(FAMILY.fullmatch(family), where, f"family={family!r} must be letters, digits and _, such as faces")
    _require(other != spec["name"], where, f"same_source_as={other!r} must be another data set; leave it out otherwise")
    if spec["image"] is not None:
        _check_image(spec["image"], spec["features"], where)
    _require(spec["sources"], where, "sources must be a list of at least one")
    for source in spec["sources"]:
        _check_source(source, f"{where}: a source with")
    return spec


def _check_image(image, features, where):
    _require(set(image) == {"height", "width", "order"}, where, f"image={image} must be height, width, order")
    _require(image["order"] in ("row", "column"), where, f"image.order={image['order']!r} must be row or column")
    for key in ("height", "width"):
        _require(type(image[key]) is int and image[key] >= 1, where, f"image.{key}={image[key]!r} must be an int >= 1")
    pixels = image["height"] * image["width"]
    _require(features in (None, pixels), where, f"image has {pixels} pixels, not features={features}")


def files_of(source):
    """List the files of a source, those of samples first, then those of labels."""
    own = source.get("files", [source] if "file" in source else [])
    return [*own, *source.get("labels", {}).get("files", ())]


def _check_source(source, where):
    _require(isinstance(source, dict) and set(source) <= SOURCE, where, f"{source} may have {sorted(SOURCE)} only")
    _check_types(source, Source, where)
    _require(source.get("format") in READERS, where, f"format={source.get('format')!r} must be in {sorted(READERS)}")
    fill, columns = source.get("fill", FILLS[0]), source.get("columns", COLUMNS[0])
    _require(not isinstance(fill, str) or fill in FILLS, where, f"fill={fill!r} must be {WORDS[str | int | float]}")
    _require(columns in COLUMNS, where, f"columns={columns!r} must be one of {', '.join(COLUMNS)}")
    wrong = wrong_step(source.get("steps", []))
    _require(wrong is None, where, f"steps: {wrong}")
    if "label_pattern" in source:
        _check_pattern(source["label_pattern"], where)
    alone = {"file", "checksum", "bytes", "urls", "openml", "package"} & set(source)
    _require("files" not in source or not alone, where, f"files must not have {sorted(alone)} beside it")
    if "labels" in source:
        _check_labels(source["labels"], where)
    _require(source.get("files", ["one"]), where, f"files={source.get('files')!r} must have one at least")
    for file in [*source.get("files", ()), *source.get("labels", {}).get("files", ())]:
        _require(isinstance(file, dict) and "file" in file, where, f"files: {file!r} must be a mapping with file")
        _require(set(file) <= FILE_KEYS, where, f"files: {file} may have {sorted(FILE_KEYS)} only")
        _check_types(file, File, where)
    for file in files_of(source):
        _check_file(file, where)


def _check_file(source, where):
    """Check the name, checksum and addresses of a file."""
    checksum = source.get("checksum")
    if "openml" in source:  # files from OpenML are written here, with a checksum beside them
        _require(checksum is None, where, f"checksum={checksum!r} must be left out beside openml")
    else:
        known = CHECKSUM.fullmatch(checksum) is not None if checksum else not source.get("urls")
        _require(known, where, f"checksum={checksum!r} must be sha256:... or git-blob:...")
    _require(FILE.fullmatch(source["file"]) is not None, where, f"file={source['file']!r} must be a bare name")
    urls = source.get("urls", [])
    _require(all(isinstance(url, str) and url for url in urls), where, f"urls={urls!r} must be a list of addresses")


def _check_labels(labels, where):
    _require(set(labels) <= LABELS, where, f"labels={labels} may have {sorted(LABELS)} only")
    _check_types(labels, Labels, f"{where} labels:")
    _require(labels.get("files"), where, f"labels={labels} must have files, one at least")
    others, kind = labels.get("others", "drop"), labels.get("format", "csv")
    _require(others == "drop", where, f"labels: others={others!r} must be drop; leave it out for an error")
    _require(kind in LABEL_FRAMES, where, f"labels: format={kind!r} must be in {sorted(LABEL_FRAMES)}")


def _check_pattern(pattern, where):
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        groups = str(error)
    _require(groups == 1, where, f"label_pattern={pattern!r} must be a regular expression with one group, not {groups}")


def _check_types(content, kind, where):
    """Check the values that are there against the types of a TypedDict; a text must not be empty."""
    for key, hint in get_type_hints(kind).items():
        if key not in content:
            continue
        value, words = content[key], WORDS[hint]
        right = isinstance(value, hint) and isinstance(value, bool) == (hint is bool) and value != ""
        least = hint is not int or (right and value >= 1)
        _require(right and least, where, f"{key}={value!r} must be {words}")


def _require(condition, where, message):
    if not condition:
        raise DataError(f"{where} {message}.")
