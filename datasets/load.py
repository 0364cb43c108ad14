"""Loads a data set by its name: the places where its files are looked for, in order, and the checks."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pooch

from datasets.base import DataError, DataMissing, check_dataset
from datasets.fetch import discard, fetch, openml_page
from datasets.files import fault
from datasets.loaders import read_source
from datasets.spec import check_spec, read_spec

PACKAGE, DATA_DIR, CACHE = "package", "data_dir", "cache"


@dataclass(frozen=True)
class Found:
    """A file of a data set that is on this machine.

    Attributes
    ----------
    source : Source
    path : Path or None
        None for data that a package makes up itself.
    place : {"package", "data_dir", "cache"}
    fault : str or None
        What is wrong with it.
    """

    source: dict
    path: Path | None
    place: str
    fault: str | None = None


def load_dataset(name, data_dir=None, download=True):
    """Load a data set, unscaled, from the first place that has it.

    The places are: a copy inside an installed package with the right checksum; `data_dir`, else the folder in the
    environment variable UFS_DATA_DIR; the user's cache (UFS_CACHE_DIR replaces it); then the addresses of the
    specification, which fill the cache.

    Parameters
    ----------
    name : str or Spec
        A name of conf/dataset, or a whole specification like those files.
    data_dir : path, optional
        A folder of data files of your own; nothing is ever written to it.
    download : bool, default=True
        Allow downloads.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        For an unknown name, a file that is bad, or not what the specification says; DataMissing, which is one too,
        where no file is found or can be downloaded.  A bad file of the cache is renamed to ``<file>.bad-<8 digits>``
        and fetched again; one in `data_dir` is only reported.
    """
    spec = check_spec(dict(name)) if isinstance(name, Mapping) else read_spec(name)
    found = locate(spec, data_dir, download)
    return check_dataset(spec, *read_source(found.source, found.path))


def locate(spec, data_dir=None, download=True):
    """Return the file that `load_dataset` reads, downloaded if need be.

    Parameters
    ----------
    spec : Spec
    data_dir : path, optional
    download : bool, default=True

    Returns
    -------
    Found
        Without a fault.

    Raises
    ------
    DataError
    """
    for found in candidates(spec, data_dir):
        if found.fault is None:
            return found
        if found.place == DATA_DIR:
            remedy = (
                f"Remove it to have it downloaded, or replace it{_from(found.source)}"
                if addresses(found.source)
                else f"Replace it, or correct the checksum in conf/dataset/{spec['name']}.yaml if the file is right"
            )
            raise DataError(
                f"{spec['name']}: {found.path} is not the file it should be: {found.fault}. {remedy}; nothing was "
                "changed in this folder."
            )
        try:
            discard(found.path, found.source)
        except OSError as error:
            raise _unwritable(error) from error
    problems = []
    for source in spec["sources"] if download else []:
        if addresses(source):
            try:
                return Found(source, fetch(spec, source, cache_dir()), CACHE)
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
    """Yield every file of a data set on this machine, good or bad, in the order of preference.

    Parameters
    ----------
    spec : Spec
    data_dir : path, optional

    Yields
    ------
    Found
        A copy inside a package only where its checksum is right, as the package may be of any version.

    Raises
    ------
    DataError
        If `data_dir` is no folder.
    """
    places = _places(spec, data_dir)
    for source in spec["sources"]:
        if "file" not in source:
            yield Found(source, None, PACKAGE)
        elif "package" in source:
            path = _inside_package(source["package"])
            if path is not None and fault(path, source) is None:
                yield Found(source, path, PACKAGE)
    for source, path, place in places:
        if path.is_file():
            try:
                yield Found(source, path, place, fault(path, source))
            except OSError as error:
                raise DataError(f"{spec['name']}: {path} cannot be read: {error}") from error


def paths_of(spec, data_dir=None):
    """List every path, outside packages, that a data set may be read from; most of them do not exist.

    Parameters
    ----------
    spec : Spec
    data_dir : path, optional

    Returns
    -------
    list of Path
    """
    return [path for _, path, _ in _places(spec, data_dir)]


def _places(spec, data_dir):
    folders = (user_dir(data_dir), DATA_DIR), (cache_dir(), CACHE)
    return [
        (source, folder / source["file"], place)
        for folder, place in folders if folder
        for source in spec["sources"] if "file" in source
    ]  # fmt: skip


def user_dir(data_dir=None):
    """Return the user's own folder of data files, from the argument or UFS_DATA_DIR, or None."""
    folder = data_dir or os.environ.get("UFS_DATA_DIR")
    if not folder:
        return None
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise DataError(f"data_dir={str(folder)!r} (or UFS_DATA_DIR) is no folder; name one with data files, or none.")
    return folder


def cache_dir():
    """Return the folder for downloads: UFS_CACHE_DIR, or the user's cache folder of the operating system."""
    return Path(os.environ.get("UFS_CACHE_DIR") or pooch.os_cache("ufs-bench"))


def _inside_package(place):
    package, _, inside = place.partition("/")
    try:
        path = Path(str(files(package) / inside))
    except ModuleNotFoundError:
        return None
    return path if path.is_file() else None


def addresses(source):
    """List the addresses of a source; none for files that somebody derived from another source."""
    if "openml" in source:
        return [openml_page(source["openml"])]
    return source.get("urls", [])


def _from(source):
    return "".join(f" from {address}" for address in addresses(source)[:1])


def _missing(spec, problems, data_dir, download):
    folders = " or ".join(str(folder) for folder in (user_dir(data_dir), cache_dir()) if folder)
    lines = [f"{spec['name']} is not on this machine" + (" and could not be downloaded:" if download else ":")]
    for source in spec["sources"]:
        lines.append(f"  wanted: {source['file']}, {source.get('checksum') or 'with its .sha256 beside it'}")
        lines.extend(f"    from {address}" for address in addresses(source))
    lines.extend(f"  tried: {line}" for problem in problems for line in problem.splitlines())
    lines.append(f"  looked in: {folders}")
    if any("openml" in source for source in spec["sources"]):
        lines.append(f"  To make the file: `python -m scripts.fetch_data {spec['name']}` where there is a network.")
    lines.append(f"  Put one of these files into {folders}, or name its folder as data_dir or UFS_DATA_DIR.")
    return "\n".join(lines)


def _unwritable(error):
    return DataError(f"the cache {cache_dir()} cannot be used: {error}. Set UFS_CACHE_DIR to a folder of your own.")
