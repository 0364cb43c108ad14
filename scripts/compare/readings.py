"""The five lines with the authors' programs instead of our solvers, on the cells that both have."""

import pandas as pd

from ufs_bench.scripts.compare.evidence import LINES, in_interval, lines, resamples, with_ends
from ufs_bench.scripts.compare.headline import complete, weighed
from ufs_bench.scripts.compare.verdicts import COLUMN
from ufs_bench.scripts.core.published import PAPERS

HEAD = "Paper|Cells|Distance|Programs|Nearer by|Nearer|Order|Programs|Verdicts that differ".split("|")


def released(comparison):
    """Return the comparison with the rows of released programs under the methods' own names, instead of ours."""
    keys = ["paper", "published_method"]
    theirs = comparison[comparison["method"] == comparison["published_method"] + "_released"]
    both = pd.MultiIndex.from_frame(comparison[keys]).isin(pd.MultiIndex.from_frame(theirs[keys]))
    return pd.concat([comparison[~both], theirs.assign(method=theirs["published_method"])])


def readings(comparison):
    """Return by paper what `with_programs` says, where a method has a released program, and both have cells."""
    theirs, found = weighed(released(comparison)), {}
    for paper, ours in weighed(comparison).items():
        names = set(comparison.loc[comparison["paper"] == paper, "method"])
        if names & set(theirs[paper]["method"] + "_released"):
            found[paper] = with_programs(ours, theirs[paper])
    return {paper: one for paper, one in found.items() if one is not None}


def with_programs(ours, theirs):
    """Compare the cells of a paper with two kinds of programs; None where these have no cells in common.

    cells and datasets: the numbers of what both have; before, after: the lines, as `scripts.compare.evidence.lines`
    returns them; gain: points by which the mean distance is smaller with the others, and its interval over data sets;
    nearer, differ: the numbers of cells that are nearer to print, and of those with another score.
    """
    keys = [*COLUMN, "published_method"]
    places = [pd.MultiIndex.from_frame(cells[keys]) for cells in (ours, theirs)]
    ours, theirs = complete(ours[places[0].isin(places[1])]), complete(theirs[places[1].isin(places[0])])
    if ours.empty:
        return None
    distances = [cells.set_index(keys)["difference"].abs() for cells in (ours, theirs)]
    closer = distances[0] - distances[1].reindex(distances[0].index)
    before, after = (lines(cells, with_power=False) for cells in (ours, theirs))
    own = closer.groupby("dataset").agg(["sum", "size"]).to_numpy()
    total, count = (resamples(len(own)) @ own).T
    return {
        "cells": len(ours), "datasets": len(own), "before": before, "after": after, "gain": with_ends(total / count),
        "nearer": (closer > 0).sum(), "differ": (closer != 0).sum(),
    }  # fmt: skip


def reading_lines(found):
    """Return the lines of the table of some readings."""
    rows = [HEAD]
    for paper, one in found.items():
        pairs = {name: (one["before"][name], one["after"][name]) for name in LINES}
        distance, order = ([f"{line.value:.2f}" for line in pairs[name]] for name in ("distance", "order"))
        changed = [f"{name}: {old.verdict} to {new.verdict}" for name, (old, new) in pairs.items()
                   if old.verdict != new.verdict]  # fmt: skip
        gain, nearer = in_interval(one["datasets"], *one["gain"], 2), f"{one['nearer']} of {one['differ']}"
        rows.append([PAPERS[paper], str(one["cells"]), *distance, gain, nearer, *order, "; ".join(changed) or "none"])
    return rows
