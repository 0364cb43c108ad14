"""Loads a data set by its name: the places where its files are looked for, in order, and the checks."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

import platformdirs

from ufs_bench.datasets.base import DataError, DataMissing
from ufs_bench.datasets.check import check_dataset
from ufs_bench.datasets.files import fault
from ufs_bench.datasets.loaders import read_source
from ufs_bench.datasets.spec import check_spec, files_of, openml_page, read_spec
from ufs_bench.datasets.synthetic import truth_of

PACKAGE, DATA_DIR, CACHE = "package", "data_dir", "cache"


@dataclass(frozen=True)
class Found:
    """The files of a source that are on this machine, all in one place."""

    source: dict
    paths: tuple  # those of `files_of`; empty for data that a package makes up itself
    place: str  # "package", "data_dir" or "cache"
    faulty: Path | None = None  # the first file with a fault, and its fault
    fault: str | None = None


def load_dataset(name, data_dir=None, download=True):
    """Load a data set, unscaled, from the first place that has it.

    The places are: a copy with the right checksum, that of the suite or one inside an installed package; `data_dir`,
    else the folders in the environment variable UFS_DATA_DIR; the user's cache (UFS_CACHE_DIR replaces it); then the
    addresses of the specification, which fill the cache.

    Parameters
    ----------
    name : str or Spec
        A name of conf/dataset, or a whole specification like those files.
    data_dir : path, optional
        A folder of data files of your own, or several as in `user_dirs`; nothing is ever written to them.
    download : bool, default=True
        Allow downloads.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        For an unknown name, a file that is bad, or not what the specification says; DataMissing, which is one too,
        where no file is found or can be downloaded.  A bad file of the cache is downloaded again; one in
        `data_dir` is only reported.
    """
    if not isinstance(name, str | Mapping):
        raise DataError(f"a data set must be a name or a specification; got {name!r:.80}.")
    spec = check_spec(dict(name)) if isinstance(name, Mapping) else read_spec(name)
    found = locate(spec, data_dir, download)
    dataset = check_dataset(spec, *read_source(found.source, list(found.paths) or None))
    made_up = found.source["format"] == "synthetic"
    return replace(dataset, truth=truth_of(**found.source["options"])) if made_up else dataset


def locate(spec, data_dir=None, download=True):
    """Return the file that `load_dataset` reads, downloaded if need be, without a fault."""
    for found in candidates(spec, data_dir):
        if found.fault is None:
            return found
        if found.place == DATA_DIR:
            remedy = (
                f"Remove it to have it downloaded, or replace it from {addresses(found.source)[0]}"
                if addresses(found.source)
                else f"Replace it, or correct the checksum in conf/dataset/{spec['name']}.yaml if the file is right"
            )
            raise DataError(
                f"{spec['name']}: {found.faulty} is not the file it should be: {found.fault}. {remedy}; nothing was "
                "changed in this folder."
            )
        print(f"{found.faulty}: {found.fault}. It is not used.", file=sys.stderr, flush=True)
    problems = []
    for source in spec["sources"] if download else []:
        if addresses(source):
            from ufs_bench.datasets.fetch import fetch  # here, as it takes long and few commands download

            try:
                return Found(source, tuple(fetch(spec, file, cache_dir()) for file in files_of(source)), CACHE)
            except DataError as error:
                problems.append(str(error))
            except OSError as error:
                raise _unwritable(error) from error
    raise DataMissing(_missing(spec, problems, data_dir, download))


def at_hand(name, data_dir=None):
    """Return True where a data set is on this machine, also with a damaged file, which `load_dataset` reports."""
    try:
        locate(read_spec(name), data_dir, download=False)
    except DataMissing:
        return False
    except DataError:
        pass
    return True


def candidates(spec, data_dir=None):
    """Yield what there is of every source of a data set on this machine, good or bad, in the order of preference.

    A source of several files is there where all of them are in one folder.  A copy inside a package is there only where
    its checksum is right, as the package may be of any version.  A DataError says that `data_dir` names what is no
    folder.
    """
    places = _places(spec, data_dir)
    for source in spec["sources"]:
        if not files_of(source):
            yield Found(source, (), PACKAGE)
        elif "package" in source:
            path = _inside_package(source["package"])
            if path is not None and fault(path, source) is None:
                yield Found(source, (path,), PACKAGE)
    for source, paths, place in places:
        if all(path.is_file() for path in paths):
            yield Found(source, paths, place, *_first_fault(spec, source, paths))


def _first_fault(spec, source, paths):
    for path, file in zip(paths, files_of(source), strict=True):
        try:
            if found := fault(path, file):
                return path, found
        except OSError as error:
            raise DataError(f"{spec['name']}: {path} cannot be read: {error}") from error
    return None, None


def _places(spec, data_dir):
    folders = [*((folder, DATA_DIR) for folder in user_dirs(data_dir)), (cache_dir(), CACHE)]
    return [
        (source, tuple(folder / file["file"] for file in files_of(source)), place)
        for folder, place in folders
        for source in spec["sources"] if files_of(source)
    ]  # fmt: skip


def user_dirs(data_dir=None):
    """Return the user's own folders of data files, in the order in which they are searched.

    `data_dir` is a folder, or several with a colon (`os.pathsep`) between them; by default those of UFS_DATA_DIR.  A
    DataError says that one is no folder.
    """
    given = str(data_dir or os.environ.get("UFS_DATA_DIR") or "")
    whole = Path(given).expanduser()
    found = [whole] if given and whole.is_dir() else [Path(one).expanduser() for one in given.split(os.pathsep) if one]
    for folder in found:
        if not folder.is_dir():
            raise DataError(
                f"data_dir={str(folder)!r} (or UFS_DATA_DIR) is no folder; name one with data files, or none."
            )
    return found


def cache_dir():
    """Return the folder for downloads: UFS_CACHE_DIR, or the user's cache folder of the operating system."""
    return Path(os.environ.get("UFS_CACHE_DIR") or platformdirs.user_cache_dir("ufs-bench"))


def _inside_package(place):
    package, _, inside = place.partition("/")
    try:
        path = Path(str(files(package) / inside))
    except ModuleNotFoundError:
        return None
    return path if path.is_file() else None


def addresses(source):
    """List the addresses of a source or file; none where one of its files cannot be downloaded."""
    if "openml" in source:
        return [openml_page(source["openml"])]
    found = [file.get("urls", []) for file in files_of(source)]
    return [url for urls in found for url in urls] if all(found) else []


def _missing(spec, problems, data_dir, download):
    folders = " or ".join(map(str, [*user_dirs(data_dir), cache_dir()]))
    lines = [f"{spec['name']} is not on this machine" + (" and could not be downloaded:" if download else ":")]
    if "withheld" in spec:
        lines.append(f"  It is not offered for download: {spec['withheld']}")
    for file in (file for source in spec["sources"] for file in files_of(source)):
        beside = "with its .sha256 beside it" if "openml" in file else "of any content"
        lines.append(f"  wanted: {file['file']}, {file.get('checksum') or beside}")
        lines.extend(f"    from {address}" for address in addresses(file))
    lines.extend(f"  tried: {line}" for problem in problems for line in problem.splitlines())
    lines.append(f"  looked in: {folders}")
    for number in (source["openml"] for source in spec["sources"] if "openml" in source):
        # A file of this name is that of data=openml:NUMBER, which conf/dataset, and so fetch_data, need not know.
        own = any(source["file"] == f"openml_{number}.npz" for source in spec["sources"])
        command = "the same command" if own else f"`python -m scripts.fetch_data dataset={spec['name']}`"
        lines.append(f"  To make the file: {command} where there is a network.")
    several = any(len(files_of(source)) > 1 for source in spec["sources"])
    which = "all the files of a source into one folder of" if several else "one of these files into"
    lines.append(f"  Put {which} {folders}, or name its folder as data_dir or UFS_DATA_DIR.")
    return "\n".join(lines)


def _unwritable(error):
    return DataError(f"the cache {cache_dir()} cannot be used: {error}. Set UFS_CACHE_DIR to a folder of your own.")
