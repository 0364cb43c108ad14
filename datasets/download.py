"""Downloads one file from one address, resumed where it broke off; servers that are silent or slow are given up.

The files are streamed here, and not by pooch's downloader, because that one starts every attempt from an empty
temporary file and deletes what a broken connection leaves.
"""

import queue
import sys
import threading
import time
from urllib.parse import urlsplit

import requests
from tqdm import tqdm
from urllib3.exceptions import HTTPError, ReadTimeoutError

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.files import fault, keep_aside

CHUNK = 2**16
LARGEST = 2**30  # bytes of a file whose size the specification does not state
PATIENCE, SLOWEST = 60, 5000  # seconds that any download may take, and bytes per second that a longer one must bring
CONNECT_SECONDS, READ_SECONDS, ANSWER_SECONDS = 10, 30, 60
ATTEMPTS = 5  # at one address, as long as each brings new bytes


def from_address(url, source, target):
    """Download from one address into place; raise DataError, with the reason, where that fails."""
    part = target.with_name(target.name + ".part")
    if not (part.is_file() and fault(part, source) is None):  # it is, if killed before the rename
        _complete(url, source, part, target.name)
    part.replace(target)


def _complete(url, source, part, name):
    resumed = _size(part) > 0
    for _ in range(ATTEMPTS):
        before = _size(part)
        try:
            _stream(url, part, name, source.get("bytes"))
        except OSError as error:  # includes every error of requests, and a full disk
            if isinstance(error, requests.HTTPError) or _size(part) <= before:
                raise DataError(in_words(error)) from error
            resumed = True
            continue
        wrong = fault(part, source)
        if not wrong:
            return
        kept = keep_aside(part, name)
        if not resumed:
            raise DataError(f"{wrong}; kept as {kept}")
        resumed = False  # its beginning may come from another version: download all of it once more
    raise DataError(f"the connection broke {ATTEMPTS} times; the next run goes on at byte {_size(part)}")


def _stream(url, part, name, size):
    """Append the missing bytes to the partial file, and never more than the whole file has."""
    start = _size(part)
    headers = {"Accept-Encoding": "identity"}  # ranges count the bytes of the file itself
    if start:
        headers["Range"] = f"bytes={start}-"
    times = CONNECT_SECONDS, READ_SECONDS
    with answer_of(lambda: requests.get(url, headers=headers, stream=True, timeout=times)) as response:
        if start and response.status_code == requests.codes.requested_range_not_satisfiable:
            part.unlink()  # longer than the file itself, so not a part of it
            return _stream(url, part, name, size)
        response.raise_for_status()
        resumes = response.status_code == requests.codes.partial_content
        if resumes and not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            raise OSError(f"asked for bytes from {start}, got {response.headers.get('Content-Range')}")
        start = start if resumes else 0  # a server that ignores the range sends everything
        stated = _stated_length(response)
        total = size if stated is None else start + stated
        _check_size(total or 0, size, part)
        with open(part, "ab" if resumes else "wb") as file, _progress(url, name, start, total) as bar:
            for chunk in _in_time(_chunks(response), part):
                _check_size(file.tell() + len(chunk), size, part)
                file.write(chunk)
                file.flush()  # so that the bytes are kept where the connection breaks
                bar.update(len(chunk))
    if total is not None and _size(part) < total:
        raise OSError(f"ended at byte {_size(part)} of {total}")


def answer_of(ask):
    """Return the server's answer before its content; give up where the headers themselves come too slowly."""
    answers = queue.Queue()

    def wait():
        try:
            answers.put(ask())
        except Exception as error:
            answers.put(error)

    threading.Thread(target=wait, daemon=True).start()
    try:
        answer = answers.get(timeout=ANSWER_SECONDS)
    except queue.Empty:
        raise DataError(f"no answer within {ANSWER_SECONDS} s") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _stated_length(response):
    """Return Content-Length where it is a number and counts the bytes of the file; else None."""
    length = response.headers.get("Content-Length", "").strip()
    encoded = response.headers.get("Content-Encoding", "identity") != "identity"
    return int(length) if length.isdecimal() and len(length) < 19 and not encoded else None


def _check_size(found, size, part):
    """Refuse more bytes than the file has, or than any file should have, and delete the partial file."""
    limit = size or LARGEST
    if found > limit:
        part.unlink(missing_ok=True)
        whose = f"the {limit} bytes that the specification states" if size else f"{limit} bytes, the most it may have"
        raise DataError(f"it sends more than {whose}: this is another file")


def _chunks(response):
    """Yield the content as it comes, decoded where the server encodes it unasked."""
    try:
        while chunk := response.raw.read1(CHUNK, decode_content=True):
            yield chunk
    except ReadTimeoutError as error:
        raise requests.Timeout(error) from error
    except HTTPError as error:
        raise OSError(f"the connection broke: {error}") from error


def _in_time(chunks, part):
    """Yield the chunks as long as they come fast enough."""
    started, received = time.monotonic(), 0
    for chunk in chunks:
        received += len(chunk)
        if seconds := too_long(started, received):
            raise DataError(
                f"{received} bytes in {seconds:.0f} s: too slow; the next run goes on at byte {_size(part)}"
            )
        yield chunk


def too_long(started, received):
    """Return the seconds since the start where they are too many for so many bytes, else None."""
    seconds = time.monotonic() - started
    return seconds if seconds > PATIENCE + received / SLOWEST else None


def _progress(url, name, start, total):
    """Return a progress bar, which shows on a terminal; elsewhere print a line."""
    terminal = sys.stderr.isatty()
    if not terminal:
        size = f"{total / 1e6:.2f} MB" if total else "unknown size"
        going_on = f", going on at {start / 1e6:.2f} MB" if start else ""
        say(f"{name}: downloading {size} from {urlsplit(url).netloc}{going_on}")
    return tqdm(total=total, initial=start, desc=name, unit="B", unit_scale=True, disable=not terminal, file=sys.stderr)


def say(text):
    """Print a line to the standard error, above any progress bar."""
    tqdm.write(text, file=sys.stderr)


def _size(path):
    return path.stat().st_size if path.is_file() else 0


def in_words(error):
    """Return what an error of the network says, in words."""
    if isinstance(error, requests.Timeout):
        return f"no answer within {CONNECT_SECONDS} s, or silent for {READ_SECONDS} s"
    if isinstance(error, requests.HTTPError):
        return f"{error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.ConnectionError) and error.args:
        return f"no connection: {getattr(error.args[0], 'reason', error.args[0])}"
    return f"{type(error).__name__}: {error}"
