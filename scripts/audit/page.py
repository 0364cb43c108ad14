"""The audit of a study as a page of Markdown."""

import pandas as pd

from metrics.study import METRICS, nearest_size
from scripts.audit.findings import by_method, in_words
from scripts.core.text import pipes
from scripts.core.words import CHOICES

TITLES = {
    "distinct": (
        "Distinct feature sets",
        "How many different sets the points of a grid give, for every size; methods without a grid are left out.",
    ),
    "parameters": (
        "Parameters",
        "Steps between neighbouring values of one parameter, all others fixed, that change the selected set (at 0 a "
        "parameter is inert), the share of features that neighbouring sets have in common, and that of random sets.",
    ),
    "overlaps": (
        "Overlap with trivial rankings",
        "Share of the selected features that a trivial ranking could have kept (ties free), median over the trials, at "
        "the size nearest to 100; chance is what random features would have. start in file: how many of the first "
        "features, as many as there are clusters, are the first of the file.",
    ),
    "outcomes": (
        "How the fits ended",
        "Shares of the trials. rose: the objective of a traced fit rose by more than 1e-10 of itself.",
    ),
    "movements": (
        "How far the indicators move",
        "0 where the learned indicators end at their start, or at the clusters that it stands for; 1 where nothing of "
        "it is left. still: the share of the fits with 0.01 or less.",
    ),
    "starts": (
        "What is left of random starts",
        "Share of the features of a random start that are selected in the end, median over the fits, and what two "
        "random sets of this size share. probability: the largest, over the fits, that chance keeps so many. held: "
        "the share of the fits that keep most of it, corrected for chance, where chance has less than 1 in 1000.",
    ),
    "scored": (
        "Fewer scores than features asked for",
        "Features whose score is above a millionth of the largest, in fits that were asked for more: the order of the "
        "others is rounding, or that of the file. short: the share of such fits.",
    ),
    "choices": (
        "Ways to choose parameters and size",
        "The same grid, in percent: oracle is chosen with the labels, the others without (python -m scripts.choices).",
    ),
    "evaluators": (
        "Other ways to judge a feature set",
        "The same feature sets, those at the default parameters and the size nearest to 100, judged by other metrics "
        "than ACC. tau: Kendall's rank correlation of the methods' order with that by ACC; loss: how many points of "
        "ACC the metric's winner has less than the best by ACC.",
    ),
    "gaps": ("Distance to a known optimum", "gap: how far the objective ends above it, as a share of it."),
    "stability": (
        "Stability",
        "The default point fitted again: Jaccard's index, and Nogueira's measure with its 95 % interval (1: always the "
        "same set; 0: random).",
    ),
}


def audit_page(found, study, metric="acc"):
    """Return the audit of a study as a page of Markdown."""
    parts = [f"# Audit of study {study}", "## Findings"]
    for method, claims in by_method(found.findings).items():
        lines = [f"* {claim}: {in_words(places)}." for claim, places in claims.items()]
        parts.append("\n".join([f"**{method}**", "", *lines]))
    if not found.findings:
        parts.append("Nothing stands out.")
    if found.notes:
        parts.append("\n".join(f"* {note}" for note in found.notes))
    for name, (title, text) in TITLES.items():
        parts += [f"## {title}{f' ({METRICS[metric]})' if name == 'choices' else ''}", text]
        frame = compact(name, found.tables[name])
        parts.append(
            pipes([list(map(str, frame.columns)), *frame.to_numpy().tolist()]) if len(frame) else "Nothing to show."
        )
    return "\n\n".join(parts) + "\n"


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
            columns={name: choice.column for name, choice in CHOICES.items()} | {"oracle_status": "oracle's fit"}
        )
    return frame.apply(lambda column: column.map(lambda value: _text(name, column.name, value)))


def _overlaps_at_one_size(frame):
    """Return a row per cell: the size nearest to 100, and the start of the ranking in file order."""
    cells = {}
    for row in frame.to_dict("records"):  # a frame for each of thousands of cells takes long
        cells.setdefault((row["dataset"], row["method"]), []).append(row)
    rows = []
    for (dataset, method), cell in sorted(cells.items()):
        own = [row for row in cell if not row["is_start"]]
        size = nearest_size([row["n_selected"] for row in own])
        own = [row for row in own if row["n_selected"] == size]
        start = [row for row in cell if row["is_start"] and row["ranking"] == "first in file"]
        first = f"{start[0]['median']:.0%} of {start[0]['n_selected']}" if start else ""
        shown = {row["ranking"]: f"{row['median']:.0%}" for row in own}
        chance = f"{own[0]['chance']:.0%}"
        rows.append(
            {"dataset": dataset, "method": method, "features": size, "chance": chance, **shown, "start in file": first}
        )
    return pd.DataFrame(rows)


def _text(table, column, value):
    if not isinstance(value, float):
        return str(value)
    if pd.isna(value):
        return ""
    if table == "choices" or column == "loss":
        return f"{100 * value:.1f}"
    if table == "outcomes" or column in ("shared", "chance", "held"):
        return f"{value:.0%}"
    if column == "gap":
        return f"{100 * value:.3f} %"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:.6g}"
