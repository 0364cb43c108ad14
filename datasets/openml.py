"""Data sets of OpenML, as scikit-learn reads them, from a server that need not be in good health.

`fetch_openml` waits without an end for a server that is silent, or that sends a byte a second.  So the answers that it
reads come from here, where they are given up in time.
"""

import math
import shutil
import time
import urllib.request
import warnings
from contextlib import contextmanager

import numpy as np

from ufs_bench.datasets import download
from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.check import check_dataset
from ufs_bench.datasets.files import checksum, write_checksum
from ufs_bench.datasets.loaders import first_per_class
from ufs_bench.datasets.spec import openml_page

REMEDY = "Try again later; or save the file of that page with a browser, and name it: data=FILE label=COLUMN"


def from_openml(spec, source, target):
    """Download an OpenML data set, and keep its samples and classes with a checksum of our own beside them.

    The source is one of the specification's ``sources``, with ``openml``; the path of the file, `target`, comes back.
    scikit-learn checks the MD5 that OpenML states; shape and classes are checked before anything is kept.
    """
    from sklearn.datasets import fetch_openml  # here, as scikit-learn takes longer to import than all else

    number = source["openml"]
    download.say(f"{target.name}: downloading OpenML data set {number}")
    scratch = target.with_name(target.name + ".openml")
    try:
        with warnings.catch_warnings(), _in_time():
            warnings.simplefilter("ignore")  # one for each retry
            # Types are inferred and not taken from OpenML: scikit-learn up to 1.9 cannot read classes that are named by
            # numbers with pandas 3.1 (scikit-learn issue 34892).
            bunch = fetch_openml(
                data_id=number, as_frame=False, data_home=str(scratch), read_csv_kwargs={"dtype": None}
            )
    except DataError as error:
        raise DataError(f"{openml_page(number)}: {error}. {REMEDY}.") from error
    except Exception as error:  # errors of the network, of OpenML, of a wrong MD5 or of a parser
        raise DataError(f"{openml_page(number)}: {download.in_words(error)}") from error
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


@contextmanager
def _in_time():
    """Let no answer to `urllib.request.urlopen`, which scikit-learn calls, take longer than a download may."""
    before = urllib.request._opener  # None, unless somebody has installed one
    urllib.request.install_opener(urllib.request.build_opener(_InTime()))
    try:
        yield
    finally:
        urllib.request.install_opener(before)


class _InTime(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Asks servers, and gives up those that take too long, for good: scikit-learn would ask each up to eight times."""

    def __init__(self):
        super().__init__()
        self._ended = None  # the error that ended it

    def http_open(self, request):
        return self._ask(super().http_open, request)

    def https_open(self, request):
        return self._ask(super().https_open, request)

    def _ask(self, ask, request):
        request.timeout = download.READ_SECONDS
        with self.patience():
            return _Answer(download.answer_of(lambda: ask(request)), self.patience)

    @contextmanager
    def patience(self):
        """Turn an answer that takes too long into a DataError, and raise that of an earlier one at once."""
        if self._ended is not None:
            raise self._ended
        try:
            yield
        except (OSError, DataError) as error:
            reason = getattr(error, "reason", error)  # of a URLError
            if isinstance(reason, TimeoutError):
                reason = DataError(f"no byte came for {download.READ_SECONDS} s")
            if not isinstance(reason, DataError):
                raise
            self._ended = reason
            raise reason from error


class _Answer:
    """An answer to a request, of which every read ends in time."""

    def __init__(self, answer, patience):
        self._answer, self._patience = answer, patience
        self._started, self._received = time.monotonic(), 0

    def __getattr__(self, name):
        return getattr(self._answer, name)

    def read(self, size=None):
        """Return so many bytes, or all that are left."""
        pieces, missing = [], math.inf if size is None or size < 0 else size
        while missing and (piece := self._piece(min(missing, download.CHUNK))):
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def _piece(self, size):
        with self._patience():
            piece = self._answer.read1(size)
            self._received += len(piece)
            if seconds := download.too_long(self._started, self._received):
                raise DataError(f"{self._received} bytes in {seconds:.0f} s are too few")
            return piece
