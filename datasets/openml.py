"""Data sets of OpenML, as scikit-learn reads them."""

import shutil
import socket
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
                data_id=number,
                as_frame=False,
                data_home=str(scratch),
                n_retries=1,
                read_csv_kwargs={"dtype": None},
            )
    except Exception as error:  # errors of the network, of OpenML, of a wrong MD5 or of a parser
        silent = isinstance(getattr(error, "reason", error), TimeoutError)  # the reason of a URLError
        why = f"no byte came for {download.READ_SECONDS} s" if silent else download.in_words(error)
        raise DataError(f"{openml_page(number)}: {why}. {REMEDY}.") from error
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
    """Let no read from a server wait longer than `download.READ_SECONDS`: `fetch_openml` waits without an end."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(download.READ_SECONDS)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
