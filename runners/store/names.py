"""The names of the features of a data set, which stand beside its cells: ``results/<study>/<dataset>/features.csv``."""

import csv

from runners.store.files import write_rows

FILE = "features.csv"
COLUMNS = ["number", "name"]  # from 0; in the order of the features
SHOWN = 10


def store_names(folder, names):
    """Write the names of a data set, or None, where they are not stored yet or the file of the data has others now."""
    if names is not None and stored_names(folder) != list(names):
        write_rows(folder / FILE, COLUMNS, enumerate(names))


def stored_names(folder):
    """Return the names of the features of the data set with this folder; None where its features have none."""
    try:
        with open(folder / FILE, encoding="utf-8", newline="") as file:
            return [row["name"] for row in csv.DictReader(file)]
    except FileNotFoundError:
        return None


def size_to_show(sizes):
    """Return the size whose selection is shown where none is asked for: the least of ten or more, or the largest."""
    return min((size for size in sizes if size >= SHOWN), default=max(sizes))
