"""Decide whether the first line of a table has the names of its columns, or is a sample."""

import re
import unicodedata

import numpy as np

from ufs_bench.datasets.base import DataError, say

FEW, MANY = 3, 6  # numbers that rise: fewer say nothing, and hardly ever do so many rise in a sample
LINES = 10  # below the first, so that an exception among them means something
ALIKE, MOST = 0.75, 0.9  # the share of steps by which samples have an order, and of cells that count as all
UNCLEAR, TWO = "unclear", "two lines of names"
LOOKED_AT = 300  # columns: they are enough, and there may be many thousands
NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?")


def is_number(cell):
    """Return True for a text that is a number, with a decimal point or comma."""
    return NUMBER.fullmatch(cell) is not None


def plain(name):
    """Return a name as names are compared: composed letters, single blanks, and no marks such as # at the ends."""
    return " ".join(unicodedata.normalize("NFC", str(name)).strip("\ufeff\u200b# ").split())


def has_names(path, cells, wanted=(), missing=(), option="header", default=False):
    """Return True if the first line has the names of the columns.

    Parameters
    ----------
    path : path
        For messages.
    cells : list of lists of str
        The first lines.
    wanted : names or numbers of columns
        Columns that the caller looks for: their numbers are labels or keys, which say nothing about features.
    missing : texts
        Cells that stand for a missing value.
    option : str
        What the user can say instead of this guess.
    default : bool
        The answer where nothing speaks for names or for a sample.

    A DataError asks the user where the first line could be either.  A line in the log reports names that are numbers.
    """
    first, rest = cells[0], [line for line in cells[1:] if len(line) == len(cells[0])]
    known = {plain(cell) for cell in first if not is_number(cell)}
    if any(isinstance(one, str) and plain(one) in known for one in wanted):
        return True
    below = [[line[j] for line in rest if line[j] not in missing] for j in range(len(first))[:LOOKED_AT]]
    numbers = [j for j, cell in enumerate(first) if is_number(cell)]
    if not numbers:
        if sum(bool(cell) and cell in missing for cell in first) > 1:
            _ask(path, first, option)
        return any(is_number(cell) for line in rest for cell in line) or default or _only_above(first, below)
    numeric = [j for j, column in enumerate(below) if column and all(map(is_number, column))]
    skipped = {int(one) % len(first) for one in wanted if re.fullmatch(r"-?\d+", str(one))}
    features = [j for j in numeric if j in numbers and j not in skipped]
    evidence = _evidence(first, rest, numbers, features)
    if evidence == TWO:
        raise DataError(
            f"{path}: the first two lines have whole numbers above fractions, as two lines of names: skip_rows=2 "
            f"leaves them out, and {option}=false takes them as samples."
        )
    words = [first[j] for j in numeric if j not in numbers and first[j] not in ("", *missing)]
    if words and evidence:
        evidence = f"{words[0]} stands above numbers"
    if evidence == UNCLEAR or (words and not evidence):
        _ask(path, first, option)
    if evidence:
        say(
            f"{path}: the first line ({_shown(first)}) is taken as names, not as a sample: {evidence}. "
            f"{option}=false takes it as a sample."
        )
    return bool(evidence)


def _evidence(first, rest, numbers, features):
    """Return why a line with numbers has names, in words; `UNCLEAR` if it may, and "" if it is a sample."""
    values = _values([first], features)[0]
    if not rest or not len(values):
        return ""
    whole = not any(re.search("[.,]", first[j]) for j in features)
    fractions = np.array([[re.search("[.,]", line[j]) is not None for line in rest] for j in features])
    if whole and len(rest) > LINES and not fractions[:, 0].any() and (fractions.mean(axis=1) >= MOST).all():
        return TWO
    if len(set(values)) < len(values):
        return ""
    others = _values(rest, features)
    if any(_counts(first, columns) for columns in (numbers, features)):
        alike = (np.diff(others, axis=1) == 1).all(axis=1).mean()
        if alike == 0 and len(values) >= FEW:
            return "its numbers count the columns"
        return UNCLEAR if len(values) >= FEW and alike < 0.5 else ""
    steps = np.sign(np.diff(values))
    if len(values) >= FEW and abs(steps.sum()) == len(steps):
        likeness = (np.sign(np.diff(others, axis=1)) == steps).mean(axis=1)  # of a sample that has the same order
        if len(values) >= MANY and likeness.max() < 1 and likeness.mean() <= ALIKE:
            return "its numbers rise or fall from column to column, and those below do not"
        if likeness.max() < 1 and len(rest) >= LINES:
            return UNCLEAR
    if whole and len(features) > 1 and (fractions.mean(axis=1) >= MOST).all():
        return "it has whole numbers, and the columns below have fractions" if len(features) >= FEW else UNCLEAR
    outside = (values < np.nanmin(others, axis=0)) | (values > np.nanmax(others, axis=0))
    return UNCLEAR if len(rest) >= LINES and len(values) > FEW and outside.mean() >= MOST else ""


def _only_above(first, below):
    """Return True for a table of texts in which no cell of the first line occurs below it, where the others repeat."""
    pairs = [(cell, column) for cell, column in zip(first, below, strict=True) if column]
    new = [cell not in column for cell, column in pairs if len(set(column)) < len(column)]
    return len(new) > 1 and all(new)


def _counts(line, columns):
    """Return True for 0, 1, 2, ... or 1, 2, 3, ... in these columns."""
    cells = [line[j] for j in columns]
    return len(cells) > 1 and any(cells == [str(start + place) for place in range(len(cells))] for start in (0, 1))


def _values(lines, columns):
    rows = [[line[j].replace(",", ".") if is_number(line[j]) else "nan" for j in columns] for line in lines]
    return np.array(rows, dtype=float).reshape(len(lines), len(columns))


def _shown(first):
    return ", ".join([*first[:4], *(["..."] if len(first) > 4 else [])])


def _ask(path, first, option):
    raise DataError(
        f"{path}: the first line ({_shown(first)}) may have names or be a sample: say {option}=true if these are "
        f"names, or {option}=false if it is a sample."
    )
