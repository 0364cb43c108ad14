"""The names of the features of a data set, beside its cells: ``results/<study>/<dataset>/features.json``."""

import json

from ufs_bench.runners.store.files import replace_file

FILE = "features.json"
SHOWN = 10


def store_names(folder, sha, names):
    """Keep the names of the features of a data set, or None, and the checksum of its values, which they belong to."""
    if names is not None and stored_names(folder, sha) != list(names):
        replace_file(folder / FILE, json.dumps({"data_sha": sha, "names": list(names)}, indent=0).encode())


def stored_names(folder, sha):
    """Return the names of the features of the data with this checksum; None where none are stored of these."""
    try:
        content = json.loads((folder / FILE).read_bytes())
        return content["names"] if content["data_sha"] == sha else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def size_to_show(sizes):
    """Return the size whose selection is shown where none is asked for: the least of ten or more, or the largest."""
    return min((size for size in sizes if size >= SHOWN), default=max(sizes))
