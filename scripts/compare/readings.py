"""The five lines by another reading of a paper, on the cells that both readings have: a table in Markdown."""

import pandas as pd

from scripts.compare.evidence import LINES, lines
from scripts.compare.headline import COLUMN, complete, weighed
from scripts.core.published import PAPERS

# Of a paper, by what follows the name of its study.
STUDIES = {
    "dgufs": {"minmax": "min-max scaling and NMI by the geometric mean"},
    "jgufs": {"replicates10": "the best of ten starts of K-means"},
}
RELEASED = "released programs"
HEAD = "Paper|Other reading|Cells|Distance|Other|Nearer|Order|Other|Verdicts that differ".split("|")


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


def reading_lines(comparison, others):
    """Return the lines of the table, with comparisons by other readings; none where no cell has one."""
    theirs_of = weighed(released(comparison))
    rows = []
    for paper, ours in weighed(comparison).items():
        names, theirs = set(comparison.loc[comparison["paper"] == paper, "method"]), theirs_of[paper]
        found = {RELEASED: theirs} if names & set(theirs["method"] + "_released") else {}
        found |= {words: weighed(other)[paper] for (of, words), other in others.items() if of == paper}
        rows += [[PAPERS[paper], words, *row] for words, theirs in found.items() if (row := beside(ours, theirs))]
    return [HEAD, *rows] if rows else []


def programs(rows):
    """Return in how many papers released programs are nearer to print on average, of how many; and so of cells."""
    rows = [row for row in rows if row[1] == RELEASED]
    nearer = sum(float(other) < float(ours) for _, _, _, ours, other, *_ in rows)
    cells = [[int(text) for text in row[5].split(" of ")] for row in rows]
    return nearer, len(rows), *(sum(own) for own in zip(*cells, strict=True))


def beside(ours, theirs):
    """Return the numbers of a row as texts, on the cells that two readings of a paper have; None where that is none."""
    keys = [*COLUMN, "published_method"]
    places = [pd.MultiIndex.from_frame(cells[keys]) for cells in (ours, theirs)]
    ours, theirs = complete(ours[places[0].isin(places[1])]), complete(theirs[places[1].isin(places[0])])
    if ours.empty:
        return None
    distances = [cells.set_index(keys)["difference"].abs() for cells in (ours, theirs)]
    closer = distances[0] - distances[1].reindex(distances[0].index)
    nearer = f"{(closer > 0).sum()} of {(closer != 0).sum()}"
    before, after = lines(ours), lines(theirs)
    changed = [f"{name}: {before[name].verdict} to {after[name].verdict}" for name in LINES
               if before[name].verdict != after[name].verdict]  # fmt: skip
    texts = [[f"{found[name].value:.2f}" for found in (before, after)] for name in ("distance", "order")]
    return [str(len(ours)), *texts[0], nearer, *texts[1], "; ".join(changed) or "none"]
