"""The five lines by another reading of a paper, on the cells that both readings have: a table in Markdown."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.scripts.compare.evidence import LINES, interval, lines, resamples
from ufs_bench.scripts.compare.headline import COLUMN, complete, weighed
from ufs_bench.scripts.compare.resolution import FEW, in_interval
from ufs_bench.scripts.core.published import PAPERS

# Of a paper, by what follows the name of its study.
STUDIES = {
    "jgufs": {"replicates10": "the best of ten starts of K-means"},
}
RELEASED = "released programs"
HEAD = "Paper|Other reading|Cells|Distance|Other|Nearer by|Nearer|Order|Other|Verdicts that differ".split("|")


def other_studies(names):
    """Return the names of studies that read a paper's data otherwise, as {paper: {words: name}}, from {paper: name}."""
    return {
        paper: {words: f"{names[paper]}_{ending}" for ending, words in found.items()}
        for paper, found in STUDIES.items()
        if names.get(paper, "").endswith(paper)
    }


def released(comparison):
    """Return the comparison with the rows of released programs under the methods' own names, in the place of ours."""
    keys = ["paper", "published_method"]
    theirs = comparison[comparison["method"] == comparison["published_method"] + "_released"]
    both = pd.MultiIndex.from_frame(comparison[keys]).isin(pd.MultiIndex.from_frame(theirs[keys]))
    return pd.concat([comparison[~both], theirs.assign(method=theirs["published_method"])])


class Reading(NamedTuple):
    """A paper beside another reading of it, on the cells that both have."""

    paper: str
    words: str
    n_cells: int
    before: dict  # lines, as `scripts.compare.evidence.lines` returns them
    after: dict  # the same by the other reading
    gain: tuple  # points by which the mean distance is smaller by the other reading, and the interval over data sets
    n_datasets: int
    n_nearer: int  # cells that are nearer to print by the other reading
    n_differ: int  # cells with another score


def readings(comparison, others):
    """Return a `Reading` for released programs, and for every comparison by another reading, where there are cells."""
    theirs_of, found = weighed(released(comparison)), []
    for paper, ours in weighed(comparison).items():
        names, theirs = set(comparison.loc[comparison["paper"] == paper, "method"]), theirs_of[paper]
        beside_it = {RELEASED: theirs} if names & set(theirs["method"] + "_released") else {}
        beside_it |= {words: weighed(other)[paper] for (of, words), other in others.items() if of == paper}
        found += [beside(paper, words, ours, theirs) for words, theirs in beside_it.items()]
    return [one for one in found if one is not None]


def beside(paper, words, ours, theirs):
    """Return the `Reading` of the cells of a paper by two readings; None where they have none in common."""
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
    counts = len(own), (closer > 0).sum(), (closer != 0).sum()
    return Reading(paper, words, len(ours), before, after, gain, *counts)


def reading_lines(found):
    """Return the lines of the table of some readings; none where there is no reading."""
    rows = []
    for one in found:
        pairs = {name: (one.before[name], one.after[name]) for name in LINES}
        values = [[f"{line.value:.2f}" for line in pairs[name]] for name in ("distance", "order")]
        changed = [f"{name}: {old.verdict} to {new.verdict}" for name, (old, new) in pairs.items()
                   if old.verdict != new.verdict]  # fmt: skip
        nearer = [in_interval(one.n_datasets, *one.gain, 2), f"{one.n_nearer} of {one.n_differ}"]
        rows.append([PAPERS[one.paper], one.words, str(one.n_cells), *values[0], *nearer, *values[1],
                     "; ".join(changed) or "none"])  # fmt: skip
    return [HEAD, *rows] if rows else []


def programs(found):
    """Return in how many papers released programs are nearer to print on average, of how many; and so of cells.

    Between them: in how many papers the whole interval, where it is printed, is above 0.
    """
    own = [one for one in found if one.words == RELEASED]
    nearer = sum(one.after["distance"].value < one.before["distance"].value for one in own)
    surely = sum(one.gain[1] > 0 for one in own if one.n_datasets >= FEW)
    return nearer, len(own), surely, sum(one.n_nearer for one in own), sum(one.n_differ for one in own)
