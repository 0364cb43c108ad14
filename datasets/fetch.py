"""Brings files of data sets: pinned addresses in order, or OpenML; used only once their checksum is right."""

from filelock import FileLock

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.download import from_address
from ufs_bench.datasets.files import fault
from ufs_bench.datasets.openml import from_openml


def fetch(spec, source, folder):
    """Bring one file of a data set into a folder, unless it is there, and return its path.

    The source is one of the specification's ``sources``, with ``file`` and either ``urls`` or ``openml``.  Safe when
    several processes ask for the same file at once: one downloads, the others wait and use it.  The file appears under
    its name complete or not at all; a file with a wrong checksum is replaced.  Where no address gives the right
    bytes, the DataError has one line per address.
    """
    target = folder / source["file"]
    with _lock(target):
        if target.is_file() and fault(target, source) is None:
            return target
        if "openml" in source:
            return from_openml(spec, source, target)
        problems = []
        for url in source["urls"]:
            try:
                from_address(url, source, target)
                return target
            except DataError as error:
                problems.append(f"{url}: {error}")
    raise DataError("\n".join(problems))


def _lock(target):
    target.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(target.with_name(f".{target.name}.lock"))
