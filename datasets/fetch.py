"""Brings files of data sets: pinned addresses in order, or OpenML; used only once their checksum is right."""

from filelock import FileLock

from ufs_bench.datasets.base import DataError
from ufs_bench.datasets.download import from_address, say
from ufs_bench.datasets.files import fault, keep_aside
from ufs_bench.datasets.openml import from_openml


def fetch(spec, source, folder):
    """Bring one file of a data set into a folder, unless it is there, and return its path.

    The source is one of the specification's ``sources``, with ``file`` and either ``urls`` or ``openml``.  Safe when
    several processes ask for the same file at once: one downloads, the others wait and use it.  The file appears under
    its name complete or not at all; anything with a wrong checksum is kept as ``<file>.bad-<8 digits>``.  Where no
    address gives the right bytes, the DataError has one line per address.
    """
    target = folder / source["file"]
    with _lock(target):
        if discard_if_bad(target, source):
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


def discard_if_bad(target, source):
    """Keep aside a file with a wrong checksum, under its lock; return True where the file is there and right."""
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


def _lock(target):
    target.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(target.with_name(f".{target.name}.lock"))
