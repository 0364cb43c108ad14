"""Downloads: pinned addresses in order, resumed where they broke off, used only once their checksum is right.

The files are streamed here, and not by pooch's own downloader, because that one starts every attempt from an empty
temporary file and deletes what a broken connection leaves.
"""

import shutil
import sys
import warnings
from urllib.parse import urlsplit

import numpy as np
import requests
from filelock import FileLock
from sklearn.datasets import fetch_openml
from tqdm import tqdm

from datasets.base import DataError, check_dataset
from datasets.files import checksum, fault, keep_aside, write_checksum
from datasets.loaders import first_per_class

CHUNK = 2**12  # at most this much is lost where a connection breaks: requests hands out whole chunks only
CONNECT_SECONDS, READ_SECONDS = 10, 30
ATTEMPTS = 5  # at one address, as long as each brings new bytes


def fetch(spec, source, folder):
    """Bring one file of a data set into a folder, unless it is there.

    Safe when several processes ask for the same file at once: one downloads, the others wait and use it.  The file
    appears under its name complete or not at all; what is downloaded so far is kept as ``<file>.part``, and anything
    complete with a wrong checksum as ``<file>.bad-<8 digits>``.

    Parameters
    ----------
    spec : Spec
        The data set.
    source : Source
        One of its ``sources``, with ``file`` and either ``urls`` or ``openml``.
    folder : Path

    Returns
    -------
    Path

    Raises
    ------
    DataError
        If no address gives the right bytes; the message has one line per address.
    """
    target = folder / source["file"]
    with _lock(target):
        if discard_if_bad(target, source):
            return target
        if "openml" in source:
            return _from_openml(spec, source, target)
        problems = []
        for url in source["urls"]:
            try:
                _from_address(url, source, target)
                return target
            except DataError as error:
                problems.append(f"{url}: {error}")
    raise DataError("\n".join(problems))


def discard_if_bad(target, source):
    """Keep aside a file whose checksum is wrong; the caller holds the lock, or nobody else writes here.

    Returns
    -------
    bool
        Whether the file is there and right.
    """
    if not target.is_file():
        return False
    wrong = fault(target, source)
    if wrong:
        say(f"{target}: {wrong}. It is not used, and kept as {keep_aside(target).name}.")
    return not wrong


def discard(target, source):
    """Keep a bad file of the cache aside, unless another process has replaced it meanwhile."""
    with _lock(target):
        discard_if_bad(target, source)


def say(text):
    """Print a line to the standard error, above any progress bar."""
    tqdm.write(text, file=sys.stderr)


def _lock(target):
    target.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(target.with_name(f".{target.name}.lock"))


def _from_address(url, source, target):
    """Download from one address into place; DataError says why not."""
    part = target.with_name(target.name + ".part")
    if not (part.is_file() and fault(part, source) is None):  # killed between the last byte and the rename
        _complete(url, source, part, target.name)
    part.replace(target)


def _complete(url, source, part, name):
    resumed = _size(part) > 0
    for _ in range(ATTEMPTS):
        before = _size(part)
        try:
            _stream(url, part, name, source.get("bytes"))
        except OSError as error:  # every error of requests is one, and a full disk
            if isinstance(error, requests.HTTPError) or _size(part) <= before:
                raise DataError(_in_words(error)) from error
            resumed = True
            continue
        wrong = fault(part, source)
        if not wrong:
            return
        kept = keep_aside(part, name)
        if not resumed:
            raise DataError(f"{wrong}; kept as {kept}")
        resumed = False  # its beginning may have come from elsewhere: once more, all of it
    raise DataError(f"the connection broke {ATTEMPTS} times; the next run goes on at byte {_size(part)}")


def _stream(url, part, name, size):
    """Append to the partial file what is missing of it."""
    start = _size(part)
    headers = {"Accept-Encoding": "identity"}  # ranges count the bytes of the file itself
    if start:
        headers["Range"] = f"bytes={start}-"
    with requests.get(url, headers=headers, stream=True, timeout=(CONNECT_SECONDS, READ_SECONDS)) as response:
        if start and response.status_code == requests.codes.requested_range_not_satisfiable:
            part.unlink()  # longer than the file itself: the beginning of something else
            return _stream(url, part, name, size)
        response.raise_for_status()
        resumes = response.status_code == requests.codes.partial_content
        if resumes and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            raise OSError(f"asked for bytes from {start}, got {response.headers.get('Content-Range')}")
        start = start if resumes else 0  # a server that ignores the range sends everything
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else size
        with open(part, "ab" if resumes else "wb") as file, _progress(url, name, start, total) as bar:
            for chunk in response.iter_content(CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    if total is not None and _size(part) < total:
        raise OSError(f"ended at byte {_size(part)} of {total}")


def _progress(url, name, start, total):
    """A bar on a terminal, a line elsewhere."""
    terminal = sys.stderr.isatty()
    if not terminal:
        size = f"{total / 1e6:.2f} MB" if total else "unknown size"
        going_on = f", going on at {start / 1e6:.2f} MB" if start else ""
        say(f"{name}: downloading {size} from {urlsplit(url).netloc}{going_on}")
    return tqdm(total=total, initial=start, desc=name, unit="B", unit_scale=True, disable=not terminal, file=sys.stderr)


def _from_openml(spec, source, target):
    """Keep what a data set is of an OpenML one, with its own checksum beside it.

    scikit-learn checks the MD5 that OpenML states; shape and classes are checked before anything is kept.
    """
    number = source["openml"]
    say(f"{target.name}: downloading OpenML data set {number}")
    scratch = target.with_name(target.name + ".openml")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one for each retry
            # Types are inferred and not taken from OpenML: scikit-learn up to 1.9 cannot read classes that are named by
            # numbers with pandas 3.1 (scikit-learn issue 34892).
            bunch = fetch_openml(
                data_id=number, as_frame=False, data_home=str(scratch), read_csv_kwargs={"dtype": None}
            )
    except Exception as error:  # network, OpenML's own errors, a wrong MD5, parsers
        raise DataError(f"{openml_page(number)}: {_in_words(error)}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    X = bunch.data if isinstance(bunch.data, np.ndarray) else bunch.data.toarray()
    y = bunch.target
    try:
        if "per_class" in source:
            X, y = first_per_class(X, y, source["per_class"])
        dataset = check_dataset(spec, X, y)
    except DataError as error:
        raise DataError(
            f"{openml_page(number)} ({bunch.details['name']}, version {bunch.details['version']}) is not what was "
            f"expected: {error} Set the right number as openml in conf/dataset/{spec['name']}.yaml."
        ) from error
    part = target.with_name(target.name + ".part")
    with open(part, "wb") as file:
        np.savez_compressed(file, X=dataset.X, y=dataset.y)
    write_checksum(target, checksum(part))
    return part.replace(target)


def openml_page(number):
    """Address of the page of an OpenML data set."""
    return f"https://www.openml.org/d/{number}"


def _size(path):
    return path.stat().st_size if path.is_file() else 0


def _in_words(error):
    if isinstance(error, requests.Timeout):
        return f"no answer within {CONNECT_SECONDS} s, or silent for {READ_SECONDS} s"
    if isinstance(error, requests.HTTPError):
        return f"{error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.ConnectionError) and error.args:
        return f"no connection: {getattr(error.args[0], 'reason', error.args[0])}"
    return f"{type(error).__name__}: {error}"
