"""The table of what is found in data of known truth."""

import numpy as np

from ufs_bench.scripts.core.text import pipes, signed
from ufs_bench.scripts.ground_truth import LEVEL, beyond_chance, differences, found
from ufs_bench.scripts.rank.choice import is_control

HEAD = ["Method", "Relevance", "Over max_variance", "Chance"]


def truth_table(rows):
    """Return the rows of `recovered` as a table in Markdown, a line for each method, which `truth_frame` has."""
    table = truth_frame(rows)
    lines = [[*HEAD, *table.columns[3:]]]
    for row in table.itertuples():
        method = f"*{row.Index}*" if is_control(row.Index) else row.Index
        lines.append([method, _text(row.relevance), row.over, row.chance, *row[4:]])
    return f"{pipes(lines)}\n"


def truth_frame(rows):
    """Return a row for each method, the one with the largest mean relevance first.

    relevance: its mean over all families and difficulties.  over: its gain over the features of largest variance, with
    ? where the test of `differences` cannot tell.  chance: "yes" where it is beyond it, by `beyond_chance`.  Then, by
    family, the relevance at the easiest difficulty, with * for a star; the last, of families with copies, diversity.
    """
    table = found(rows)
    methods, easy = _order(table), table.xs(1, level="difficulty")
    frame = table.groupby("method")["precision"].mean().reindex(methods).to_frame("relevance")
    own = [method for method in methods if not is_control(method)]
    p = beyond_chance(rows[rows["method"].isin(own)])
    frame["over"] = _over_variance(rows, own).reindex(methods).fillna("")
    frame["chance"] = ["yes" if p.get(method, 1) <= LEVEL else "" for method in methods]
    for family in easy.index.unique("family"):
        frame[family] = _starred(easy.xs(family, level="family"), "precision", "relevant").reindex(methods).fillna("")
    copies = easy["redundancy"].groupby("family").max()
    for family in copies.index[copies > 0]:
        of_copies = easy.xs(family, level="family")
        frame[f"{family}: diversity"] = _starred(of_copies, "recall", "diverse").reindex(methods).fillna("")
    return frame


def _starred(own, measure, star):
    return own[measure].map(_text) + own[star].map({True: "*", False: ""})


def _over_variance(rows, own):
    """Return by method its gain over the features of largest variance as a text."""
    if "max_variance" not in set(rows["method"]):
        return beyond_chance(rows).iloc[:0].astype(str)
    table = differences(rows, "max_variance").reindex(own)
    marks = (table["p"] <= LEVEL).map({True: "", False: "?"})
    return table["mean"].map(lambda value: signed(value, 2).replace("0.", ".", 1)) + marks


def _order(table):
    """Return the methods, the one with the largest mean relevance first."""
    means = table.groupby("method")["precision"].mean()
    return sorted(means.index, key=lambda method: (-means[method], method))


def _text(value):
    return "" if np.isnan(value) else f"{value:.2f}".replace("0.", ".", 1)
