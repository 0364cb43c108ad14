"""The five lines with the authors' programs instead of our solvers, on the cells that both have."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.scripts.compare.evidence import LINES, in_interval, interval, lines, resamples
from ufs_bench.scripts.compare.headline import COLUMN, complete, weighed
from ufs_bench.scripts.core.published import PAPERS

HEAD = "Paper|Cells|Distance|Programs|Nearer by|Nearer|Order|Programs|Verdicts that differ".split("|")


def released(comparison):
    """Return the comparison with the rows of released programs under the methods' own names, in the place of ours."""
    keys = ["paper", "published_method"]
    theirs = comparison[comparison["method"] == comparison["published_method"] + "_released"]
    both = pd.MultiIndex.from_frame(comparison[keys]).isin(pd.MultiIndex.from_frame(theirs[keys]))
    return pd.concat([comparison[~both], theirs.assign(method=theirs["published_method"])])


class Reading(NamedTuple):
    """A paper with two kinds of programs, on the cells that both have."""

    paper: str
    n_cells: int
    before: dict  # lines, as `scripts.compare.evidence.lines` returns them
    after: dict  # the same with the other programs
    gain: tuple  # points by which the mean distance is smaller with the others, and the interval over data sets
    n_datasets: int
    n_nearer: int  # cells that are nearer to print with the others
    n_differ: int  # cells with another score


def readings(comparison):
    """Return a `Reading` of released programs for every paper in which a method has one, and cells of both."""
    theirs, found = weighed(released(comparison)), []
    for paper, ours in weighed(comparison).items():
        names = set(comparison.loc[comparison["paper"] == paper, "method"])
        if names & set(theirs[paper]["method"] + "_released"):
            found.append(beside(paper, ours, theirs[paper]))
    return [one for one in found if one is not None]


def beside(paper, ours, theirs):
    """Return the `Reading` of the cells of a paper with two kinds of programs; None where they have none in common."""
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
    gain = total[0] / count[0], *interval(total / count)
    return Reading(paper, len(ours), before, after, gain, len(own), (closer > 0).sum(), (closer != 0).sum())


def reading_lines(found):
    """Return the lines of the table of some readings."""
    rows = [HEAD]
    for one in found:
        pairs = {name: (one.before[name], one.after[name]) for name in LINES}
        values = [[f"{line.value:.2f}" for line in pairs[name]] for name in ("distance", "order")]
        changed = [f"{name}: {old.verdict} to {new.verdict}" for name, (old, new) in pairs.items()
                   if old.verdict != new.verdict]  # fmt: skip
        nearer = [in_interval(one.n_datasets, *one.gain, 2), f"{one.n_nearer} of {one.n_differ}"]
        rows.append([PAPERS[one.paper], str(one.n_cells), *values[0], *nearer, *values[1],
                     "; ".join(changed) or "none"])  # fmt: skip
    return rows
