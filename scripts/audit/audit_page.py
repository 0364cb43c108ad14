"""The audit of a study as a page of Markdown."""

import pandas as pd

from ufs_bench.metrics.study import METRICS, nearest_size
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.audit.flags import TABLES, stands_out
from ufs_bench.scripts.core.text import pipes
from ufs_bench.scripts.core.views import wrapped

MOST = 10  # rows of a table of a page that is not full
SHARES = ("outcomes", "overlaps")  # tables of shares, and columns of others
OF_SHARES = ("shared", "chance", "held")


def audit_page(found, study, metric="acc", full=False):
    """Return the audit of a study as a page of Markdown: the rows that stand out, at most `MOST` a table, or all."""
    parts, silent = [], []
    for name, (title, text, _) in TABLES.items():
        frame = found.tables[name]
        rows = compact(name, frame if full else frame[stands_out(name, frame)])
        if rows.empty and not full:
            silent.append(title)
            continue
        shown = rows if full else rows.head(MOST)
        table = pipes([list(map(str, shown.columns)), *shown.to_numpy().tolist()]) if len(rows) else "Nothing to show."
        more = [f"{len(rows) - len(shown)} more rows: full=true."] if len(rows) > len(shown) else []
        parts += [f"## {title}" + f" ({METRICS[metric]})" * (name == "choices"), wrapped(text), table, *more]
    head = "" if full else "Shown is what stands out; full=true prints all."
    head += f" Nothing stands out in: {', '.join(silent)}." if silent else ""
    said = "\n".join(f"* {note}" for note in found.notes)
    return "\n\n".join([f"# Audit of study {study}", *filter(None, [wrapped(head), said]), *parts]) + "\n"


def compact(name, frame):
    """Return a table of the audit, called `name`, in the columns and digits that are shown."""
    cells = ["dataset", "method"]
    if name == "distinct":
        frame = frame[frame.groupby(cells)["n_points"].transform("max") > 1]
        sets = [f"{row.n_distinct} of {row.n_points}" for row in frame.itertuples()]
        frame = frame.assign(sets=sets).pivot(index=cells, columns="n_selected", values="sets")
        frame = frame.fillna("").reset_index().rename_axis(columns=None)
    elif name == "overlaps" and len(frame):
        whole = frame[~frame["is_start"]]
        usual = whole["n_selected"] == whole.groupby(cells)["n_selected"].transform(nearest_size)
        frame = frame.drop(index=whole.index[~usual], columns=["low", "high"])
        frame = frame.assign(is_start=frame["is_start"].map({True: "start", False: ""}))
        frame = frame.rename(columns={"n_selected": "features", "is_start": "part", "median": "overlap"})
    elif name == "choices":
        columns = {name: choice.column for name, choice in BY_NAME.items()} | {"oracle_status": "oracle's fit"}
        frame = frame.rename(columns=columns)
    return frame.apply(lambda column: column.map(lambda value: _text(name, column.name, value)))


def _text(table, column, value):
    if isinstance(value, tuple):
        return " = ".join(value)  # equally good methods
    if not isinstance(value, float):
        return str(value)
    if pd.isna(value):
        return ""
    if table == "choices" or column == "loss":
        return f"{value:.1f}"
    if table in SHARES or column in OF_SHARES:
        return f"{value:.0%}"
    if column == "gap":
        return f"{100 * value:.3f} %"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:.6g}"
