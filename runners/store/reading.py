"""The stored cells as frames, those of a data set together."""

import time
from collections import Counter
from itertools import groupby

import numpy as np

from ufs_bench.runners.store.files import NAMING, StoreError, check_places, checked, header_of, read_frame, whole_lines
from ufs_bench.runners.store.row import COLUMNS, OTHERS, counts_of

READ_AGAIN, READ_AGAIN_S = 2, 0.3  # how often, and the seconds before each time


def read_cells(paths, damaged=None):
    """Yield frames by file, with the rows of committed trials of the cells with these ``trials.csv``.

    A damaged cell is a StoreError; with a list `damaged` it is left out, and its error added to the list.

    A frame costs milliseconds however few rows it has, so the cells of a data set that follow each other are read as
    one.  Each is read for itself where anything about them is unusual, which says what is wrong with which file.
    """
    for _, cells in groupby(paths, key=lambda path: path.parent.parent):
        cells = list(cells)
        together = _read_together(cells) if len(cells) > 1 else None
        if together is not None:
            yield together
            continue
        for path in cells:
            try:
                frames = _read_cell(path)
            except StoreError as error:
                if damaged is None:
                    raise
                damaged.append(error)
            else:
                yield frames


def _read_together(paths):
    """Return, by file, the rows of committed trials of the cells of a data set; None where not all is as usual."""
    found = {}
    for name, columns in COLUMNS.items():  # the marks are first, as in `_read_cell`
        header = header_of(name)
        texts = [whole_lines(path.with_name(f"{name}.csv")) or header for path in paths]
        if not all(text.startswith(header) for text in texts):
            return None
        counts = [text.count(b"\n") - 1 for text in texts]
        frame, fault = checked(header + b"".join(text.removeprefix(header) for text in texts), columns)
        if fault or len(frame) != sum(counts) or (name in NAMING and not _are_of_their_cells(frame, paths, counts)):
            return None
        found[name] = frame
    trials = found["trials"]
    if trials["study"].nunique() > 1 or trials["trial"].duplicated().any():
        return None
    return found if not any(_keep_committed(found).values()) else None


def _are_of_their_cells(frame, paths, counts):
    methods = np.repeat([path.parent.name for path in paths], counts)
    return (frame["dataset"] == paths[0].parent.parent.name).all() and (frame["method"].to_numpy() == methods).all()


def _read_cell(path, patience=READ_AGAIN):
    """Return, by file, the rows of committed trials of the cell with this ``trials.csv``."""
    # The marks are read first: the rows that they commit are then complete in the other files.
    found = {"trials": _frame_of_cell(path)}
    found |= {name: _frame_of_cell(path.with_name(f"{name}.csv")) for name in OTHERS}
    for name, lost in _keep_committed(found).items():
        if lost:
            if patience:  # a run that is replacing rows at this moment is not a fault
                time.sleep(READ_AGAIN_S)
                return _read_cell(path, patience - 1)
            raise StoreError(
                f"{path.with_name(name)}.csv lacks rows of {len(lost)} trials, the first of them {lost[0]}. The file "
                "is damaged: restore it, or run the cell again, which computes them anew."
            )
    return found


def _keep_committed(found):
    """Drop rows without their mark from frames by file; return, by file, the trials of which rows are missing."""
    trials = found["trials"]
    keys = set(trials["trial"])
    wanted = [(row["trial"], counts_of(row)) for row in trials[["trial", "n_scores", "n_others"]].to_dict("records")]
    missing = {}
    for name in OTHERS:
        frame = found[name]
        there = Counter(frame["trial"])
        found[name] = frame if keys.issuperset(there) else frame[frame["trial"].isin(keys)]
        missing[name] = [key for key, counts in wanted if there[key] < counts.get(name, 0)]
    return missing


def check_one_study(trials, folder):
    """Refuse the trials in the folder of a study where some name another one or are of two cells, as copied ones do.

    A whole study may have been renamed since.
    """
    if trials["study"].nunique() > 1:
        row = trials[trials["study"] != folder.name].iloc[0]
        cell = folder / row["dataset"] / row["method"]
        raise StoreError(
            f"{cell / 'trials.csv'}, column study: {row['study']!r} must be {folder.name!r}, as the folder is called. "
            f"Move {cell} away, and run it in study={folder.name}, which takes from other studies what they have."
        )
    cells = trials.drop_duplicates(["trial", "dataset", "method"])
    if (twice := cells["trial"].duplicated()).any():
        row = cells[twice].iloc[0]
        cell = folder / row["dataset"] / row["method"]
        raise StoreError(
            f"{cell / 'trials.csv'}, column trial: {row['trial']!r} is a trial of another cell. Move {cell} away, and "
            "run it again."
        )


def _frame_of_cell(path):
    """Return the rows of a file as `read_frame` does; raise StoreError where one is of another cell."""
    frame, folder = read_frame(path), path.parent
    if path.stem in NAMING:
        wanted = {"dataset": folder.parent.name, "method": folder.name}
        # A whole study may have been renamed since, but not a single row.
        mixed = path.stem == "trials" and frame["study"].nunique() > 1
        if mixed or any((frame[column] != name).any() for column, name in wanted.items()):
            check_places(path, folder)
    return frame
