"""The tables of a comparison, as lines of texts with the head first, and as one page."""

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.runners.experiment.trial import has_random_part
from ufs_bench.scripts.compare.columns import columns_of
from ufs_bench.scripts.compare.controls import BEST, CONTROLS, RANDOM
from ufs_bench.scripts.compare.evidence import CANNOT_TELL, effect, in_interval
from ufs_bench.scripts.compare.first import claim_lines, first_lines, own_first, winner_lines
from ufs_bench.scripts.compare.headline import above_random, line_table, weighed
from ufs_bench.scripts.compare.maximum import maximum_lines
from ufs_bench.scripts.compare.readings import reading_lines, readings
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.text import number, pipes

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
        random = cells["method"].map(lambda method: has_random_part(find("method", method)))
        rows.append([
            _title(first), str(len(cells)), str(first.absent), str(first.partial),
            "{above} of {cells}".format(**above.loc[paper]) if paper in above.index else "",
            in_interval(n_datasets, *distance, 1), in_interval(n_datasets, *gain, 2),
            str(of_kmeans(cells[random])["seed_std"].isna().sum()),
        ])  # fmt: skip
    return rows


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
