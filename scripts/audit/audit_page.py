"""The audit of a study as a page of Markdown."""

import functools

import pandas as pd

from ufs_bench.metrics.study import METRICS, nearest_size
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.audit.flags import stands_out
from ufs_bench.scripts.core.views import notes, render

MOST = 10  # rows of a table of a page that is not full


@functools.cache
def titles():
    """Return the title of every table, and what it says, by its name."""
    texts = notes("audit/tables.md.j2")
    named = (head.split(": ", 1) for head in texts[::2])
    return {name: (title, text) for (name, title), text in zip(named, texts[1::2], strict=True)}


def audit_page(found, study, metric="acc", full=False):
    """Return the audit of a study as a page of Markdown: the rows that stand out, at most `MOST` a table, or all."""
    tables, silent = [], []
    for name, (title, text) in titles().items():
        frame = found.tables[name]
        shown = compact(name, frame if full else frame[stands_out(name, frame)])
        if shown.empty and not full:
            silent.append(title)
            continue
        lines = [list(map(str, shown.columns)), *shown.to_numpy().tolist()]
        title += f" ({METRICS[metric]})" if name == "choices" else ""
        most = len(lines) if full else MOST + 1
        tables.append((title, text, lines[:most], len(lines[most:])))
    return render("audit/audit.md.j2", study=study, notes=found.notes, tables=tables, silent=silent, full=full)


def compact(name, frame):
    """Return a table of the audit, one of `TITLES`, in the columns and digits that are shown."""
    frame = frame.copy()
    if name == "distinct":
        frame = frame[frame.groupby(["dataset", "method"])["n_points"].transform("max") > 1]
        sets = [f"{row.n_distinct} of {row.n_points}" for row in frame.itertuples()]
        frame = frame.assign(sets=sets).pivot(index=["dataset", "method"], columns="n_selected", values="sets")
        frame = frame.fillna("").reset_index().rename_axis(columns=None)
    elif name == "overlaps":
        frame = _overlaps_at_one_size(frame)
    elif name == "choices":
        frame = frame.rename(
            columns={name: choice.column for name, choice in BY_NAME.items()} | {"oracle_status": "oracle's fit"}
        )
    return frame.apply(lambda column: column.map(lambda value: _text(name, column.name, value)))


def _overlaps_at_one_size(frame):
    """Return a row per cell: the size nearest to 100, and the start of the ranking in file order.

    The chance shown is that of a ranking without ties, the order in the file; one that is another stands in brackets.
    """
    if frame.empty:
        return frame
    cells = ["dataset", "method"]
    start = frame[frame["is_start"] & (frame["ranking"] == "first in file")].groupby(cells).first()
    own = frame[~frame["is_start"]]
    own = own[own["n_selected"] == own.groupby(cells)["n_selected"].transform(nearest_size)]
    in_file = own[own["ranking"] == "first in file"].set_index(cells)
    first = in_file[["n_selected", "chance"]].rename(columns={"n_selected": "features"})
    untied = own.set_index(cells).index.map(in_file["chance"])
    texts = [
        f"{row.median:.0%}" + (f" ({row.chance:.0%})" if f"{row.chance:.0%}" != f"{usual:.0%}" else "")
        for row, usual in zip(own.itertuples(), untied, strict=True)
    ]
    shown = own.assign(text=texts).pivot(index=cells, columns="ranking", values="text")[own["ranking"].unique()]
    starts = [f"{row.median:.0%} of {row.n_selected}" for row in start.itertuples()]
    starts = pd.Series(starts, index=start.index, name="start in file", dtype=object)
    return first.join(shown).join(starts).reset_index()


def _text(table, column, value):
    if isinstance(value, tuple):
        return " = ".join(value)  # equally good methods
    if not isinstance(value, float):
        return str(value)
    if pd.isna(value):
        return ""
    if table == "choices" or column == "loss":
        return f"{value:.1f}"
    if table in ("outcomes", "overlaps") or column in ("shared", "chance", "held"):
        return f"{value:.0%}"
    if column == "gap":
        return f"{100 * value:.3f} %"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:.6g}"
