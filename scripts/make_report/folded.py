"""Tables of a row for every data set and method, which grow to thousands of rows, as one row for every method."""

import re
from collections import Counter

import pandas as pd

# Nobody reads more rows than these, and each takes a browser as long as a card of the page: 5,000 rows in six tables
# took one eight seconds to open.
MOST_ROWS = 500
NUMBER = re.compile(r"[-+−]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
WITHIN = ["clusterer", "parameter", "optimum", "change"]  # what, besides the method, tells rows of one data set apart


def fold(frame):
    """Return a table of texts with a row a method, where it has more than `MOST_ROWS`, and the number of folded rows.

    Columns of numbers have the middle value and the lowest and the highest, those of words every word with its count.
    """
    if len(frame) <= MOST_ROWS or not {"dataset", "method"} <= set(frame.columns):
        return frame, 0
    keys = ["method", *(name for name in WITHIN if name in frame.columns)]
    others = [name for name in frame.columns if name not in ("dataset", *keys)]
    rows = []
    for key, part in frame.groupby(keys, sort=True):
        row = dict(zip(keys, key, strict=True)) | {"data sets": str(part["dataset"].nunique())}
        rows.append(row | {name: _together(part[name]) for name in others})
    return pd.DataFrame(rows), len(frame)


def _together(texts):
    """Return the texts of some cells as one."""
    texts = [text for text in texts if text]
    if len(set(texts)) < 2:
        return texts[0] if texts else ""
    if not all(map(NUMBER.match, texts)):
        return ", ".join(f"{text} {count}" for text, count in Counter(texts).most_common())
    texts.sort(key=lambda text: float(NUMBER.match(text)[0].replace("−", "-")))
    return f"{texts[(len(texts) - 1) // 2]} ({texts[0]} to {texts[-1]})"
