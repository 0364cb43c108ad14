"""Downloads one file from one address by pooch, and gives up a server that is silent."""

import logging
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.files import fault

CONNECT_SECONDS, READ_SECONDS = 10, 30


def from_address(url, source, target):
    """Download from one address into place; raise DataError where that fails, or where the file has a fault.

    pooch writes to a temporary file, which a broken connection or a fault discards; the next run begins anew.
    """
    on_terminal = sys.stderr.isatty()
    if not on_terminal:
        say(f"{target.name}: downloading from {urlsplit(url).netloc}")
    pooch.get_logger().setLevel(logging.WARNING)
    load = pooch.HTTPDownloader(progressbar=on_terminal, timeout=(CONNECT_SECONDS, READ_SECONDS))

    def checked(url, path, _):
        load(url, path, None)
        if wrong := fault(Path(path), source):  # here, as pooch itself does not say that it is an HTML page
            raise DataError(wrong)

    target.unlink(missing_ok=True)  # pooch leaves a file that is there as it is
    try:
        pooch.retrieve(url, known_hash=None, fname=target.name, path=target.parent, downloader=checked)
    except (OSError, requests.RequestException) as error:  # a full disk is an OSError, too
        raise DataError(in_words(error)) from error


def say(text):
    """Print a line to the standard error."""
    print(text, file=sys.stderr, flush=True)


def in_words(error):
    """Return what an error of the network says, in words."""
    if isinstance(error, requests.Timeout):
        return f"no answer within {CONNECT_SECONDS} s, or silent for {READ_SECONDS} s"
    if isinstance(error, requests.HTTPError):
        return f"{error.response.status_code} {error.response.reason}"
    if isinstance(error, requests.ConnectionError) and error.args:
        return f"no connection: {getattr(error.args[0], 'reason', error.args[0])}"
    return f"{type(error).__name__}: {error}"
