"""The tables of a comparison, as lines of texts with the head first, and as one page."""

import pandas as pd

from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.runners.experiment.trial import has_random_part
from ufs_bench.runners.messages import counted
from ufs_bench.runners.papers import PAPERS
from ufs_bench.scripts.compare.columns import columns_of
from ufs_bench.scripts.compare.evidence import CANNOT_TELL, LINES, effect, in_interval, lines, resamples, with_ends
from ufs_bench.scripts.compare.first import claim_lines, first_lines, own_first, winner_lines
from ufs_bench.scripts.compare.headline import BEST, COLUMN, above_random, complete, line_table, random_medians, weighed
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.controls import CONTROLS
from ufs_bench.scripts.core.text import number, pipes, signed, span

TITLES = {
    "first": "Columns in which a paper's own method is first",
    "winners": "Methods that are first most often",
    "claims": "What else the papers say of their tables",
    "verdicts": "Does each table reproduce?",
    "papers": "What the verdicts rest on",
    "lines": "The five lines",
    "programs": "With the authors' programs instead of our solvers",
    "maximum": "The maximum over a grid",
    "reasons": "Known reasons why our score differs",
}
SHORT = ("first", "winners", "claims", "verdicts")


def tables(comparison, controls, full=True):
    """Return the tables by the keys of `TITLES`, or of `SHORT` without `full`; a table without lines is omitted.

    `controls` are the scores of `scripts.compare.controls_of`.
    """
    lines = line_table(comparison, controls)
    found = {
        "first": first_lines(own_first(comparison)),
        "winners": winner_lines(comparison),
        "claims": claim_lines(comparison),
        "verdicts": verdict_lines(lines),
    }
    if full:
        found["papers"] = paper_lines(comparison, controls, lines)
        found["lines"] = line_lines(lines)
        found["programs"] = reading_lines(readings(comparison))
        found["maximum"] = maximum_lines(comparison, controls)
        found["reasons"] = reason_lines(comparison)
    return {name: rows for name, rows in found.items() if len(rows) > 1}


def page(comparison, controls, full=False):
    """Return the tables as Markdown, with what the studies lack."""
    notes = [f"Parameters: {SELECTIONS[BEST]}."]
    for (paper, study), own in comparison.groupby(["paper", "study"], sort=False):
        if departs := own["departs"].iloc[0]:
            notes.append(f"Study {study} does not follow the protocol of the {PAPERS[paper]} paper: {departs}.")
    if lacking := sorted(set(comparison["paper"]) - set(controls.loc[controls["control"] == RANDOM, "paper"])):
        runs = ", ".join(f"python run.py experiment={paper}_controls" for paper in lacking)
        notes.append(f"No random rankings are stored. To add them, with study= and protocol= as here: {runs}.")
    for paper, cells in weighed(comparison).items():
        if count := seeds_unknown(cells):
            study, _, shipped = cells["study"].iloc[0].partition(" ")  # of the title
            run = f"python -m scripts.refit what=seeds study={study}"
            if shipped == "(shipped)":  # nothing is added to that
                run = f"python run.py experiment={study} runner.reuse=shipped && {run}"
            notes.append(
                f"{PAPERS[paper]}: the spread over seeds of {counted(count, 'cell')} is unknown, and counts as none. "
                f"Verdicts are too sure of these cells. To fill it: {run}"
            )
    if not full:
        notes.append("full=true prints what the verdicts rest on; docs/reading.md explains the words.")
    parts = [f"## {TITLES[name]}\n\n{pipes(rows)}" for name, rows in tables(comparison, controls, full).items()]
    return "\n\n".join(["# Published and reproduced scores", *parts, *notes]) + "\n"


def verdict_lines(lines):
    """Return a line a paper with the verdict of each of its five tests."""
    rows = [["Paper", "Cells", *map(str.capitalize, dict.fromkeys(lines["line"]))]]
    for _, own in lines.groupby("paper", sort=False):
        first = next(own.itertuples())
        rows.append([_title(first) + "*" * bool(first.partial), str(first.cells), *own["verdict"]])
    return rows


def paper_lines(comparison, controls, lines):
    """Return a line a paper with what its verdicts rest on."""
    above = above_random(comparison, controls).set_index("paper")
    head = "Paper|Cells|Not run|Part of the grid|Published above random|Distance|Nearer than chance|Seeds unknown"
    rows = [head.split("|")]
    for paper, cells in weighed(comparison).items():
        if cells.empty:
            continue
        first, n_datasets = next(lines[lines["paper"] == paper].itertuples()), cells["dataset"].nunique()
        distance, gain = effect(columns_of(cells))
        rows.append([
            _title(first), str(len(cells)), str(first.absent), str(first.partial),
            "{above} of {cells}".format(**above.loc[paper]) if paper in above.index else "",
            in_interval(n_datasets, *distance, 1), in_interval(n_datasets, *gain, 2),
            str(seeds_unknown(cells)),
        ])  # fmt: skip
    return rows


def seeds_unknown(cells):
    """Return the number of cells of methods with a random part whose spread over seeds is not stored."""
    random = cells["method"].map(lambda method: has_random_part(find("method", method)))
    return of_kmeans(cells[random.astype(bool)])["seed_std"].isna().sum()


def line_lines(lines):
    """Return the lines of `scripts.compare.headline.line_table` as texts."""
    head = "Paper|Line|Ours|By chance|p|Pass|As bad|Verdict".split("|")
    rows = [[*head, *map(str.capitalize, CONTROLS.values())]]
    for line in lines.itertuples():
        texts = [number(value) for value in (line.random, line.random_low, line.random_high)]
        random = texts[0] if texts[1] == texts[2] else "{} ({} to {})".format(*texts)
        ours = [number(line.value), number(line.by_chance), number(line.p, 4), number(line.power), number(line.as_bad)]
        verdict = line.verdict + " (provisional)" * bool(line.partial and line.verdict != CANNOT_TELL)
        controls = [random, number(line.all_features), number(line.max_variance)]
        rows.append([_title(line), line.line, *ours, verdict, *controls])
    return rows


def reason_lines(comparison):
    """Return the known reasons why our row of a method differs from print, each with its cells."""
    own = comparison[(comparison["method"] == comparison["published_method"]) & (comparison["explanation"] != "")]
    rows = [["Known reason why our score differs", "Cells"]]
    for text, cells in own.groupby("explanation", sort=False):
        counts = cells.groupby("paper", sort=False).size()
        rows.append([text, ", ".join(f"{PAPERS[paper]} {count}" for paper, count in counts.items())])
    return rows


def _title(line):
    """Return the name of a paper; its lines are about baselines only where no cell of its own row counts."""
    return PAPERS[line.paper] + (", baselines only" if line.cells and not line.own_cells else "")


def maximum_lines(comparison, controls):
    """Return the lines of the table; none without random rankings."""
    rows = excesses(comparison, controls)
    if rows.empty:
        return []
    head = "Paper|Method|Cells|Candidates|Ours - random|Published - random|Ours - best|Published - best"
    lines = [head.split("|")]
    for row in rows.itertuples():
        gains = [signed(value) for value in (row.ours, row.published, row.ours_best, row.published_best)]
        candidates = span((row.fewest, row.most), "{:.0f}")
        lines.append([PAPERS[row.paper], row.method, str(row.cells), candidates, *gains])
    return lines


def excesses(comparison, controls):
    """Return mean gains over the median random ranking, and over the best of as many, a row a paper and method."""
    rows = of_kmeans(comparison[comparison["published_method"] != ALL])
    rows = rows[rows["random_best"].notna()].merge(random_medians(controls), on=COLUMN)
    gains = rows.assign(
        ours=rows["mean"] - rows["random"],
        published=rows["published_mean"] - rows["random"],
        ours_best=rows["excess"],
        published_best=rows["published_mean"] - rows["random_best"],
    )
    means = {name: (name, "mean") for name in ("ours", "published", "ours_best", "published_best")}
    counts = {"cells": ("mean", "size"), "fewest": ("n_candidates", "min"), "most": ("n_candidates", "max")}
    return gains.groupby(["paper", "method"], sort=False).agg(**counts, **means).reset_index()


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
    rows = ["Paper|Cells|Distance|Programs|Nearer by|Nearer|Order|Programs|Verdicts that differ".split("|")]
    for paper, one in found.items():
        pairs = {name: (one["before"][name], one["after"][name]) for name in LINES}
        distance, order = ([f"{line.value:.2f}" for line in pairs[name]] for name in ("distance", "order"))
        changed = [f"{name}: {old.verdict} to {new.verdict}" for name, (old, new) in pairs.items()
                   if old.verdict != new.verdict]  # fmt: skip
        gain, nearer = in_interval(one["datasets"], *one["gain"], 2), f"{one['nearer']} of {one['differ']}"
        rows.append([PAPERS[paper], str(one["cells"]), *distance, gain, nearer, *order, "; ".join(changed) or "none"])
    return rows
