"""The comparison with the papers as a page of Markdown."""

import pandas as pd

from metrics.study.summary import SELECTIONS
from scripts.compare import evidence
from scripts.compare.columns import CONFIDENCE
from scripts.compare.controls import COLUMNS
from scripts.compare.evidence_page import commands, count_rows, due, line_rows, starts_text, summaries
from scripts.compare.headline import accepted_at_random, count_table, line_table
from scripts.compare.maximum import maximum_lines
from scripts.compare.readings import programs, reading_lines, readings
from scripts.compare.resolution import resolution, resolution_lines
from scripts.compare.verdicts import ACCEPTED, closest, count, own_rows, unreached
from scripts.core.conf import printed, unique_names
from scripts.core.published import PAPERS
from scripts.core.text import mean_std, number, signed
from scripts.core.views import render
from scripts.core.words import labelled

HEAD = "Data set|Published row|Published|Ours|Reproduced|Δ|Margin|Equivalence|Std rule|Notes".split("|")


def comparison_page(comparison, controls=None, summary=False, others=None):
    """Return the page, with all details unless `summary`; `others` are comparisons by other readings."""
    controls = pd.DataFrame(columns=["paper", *COLUMNS]) if controls is None else controls
    comparison = comparison.assign(at_random=accepted_at_random(comparison, controls))
    own, lines = own_rows(comparison), line_table(comparison, controls)
    told = resolution(comparison)
    beside = readings(comparison, others or {})
    departs = comparison.groupby(["paper", "study"], sort=False)["departs"].first()
    selection = comparison["selection"].iloc[0]
    by = ["paper", "published_method", "method", "clusterer"]
    return render(
        "compare/comparison.md.j2",
        selection=selection,
        words=SELECTIONS[selection],
        departs=[(PAPERS[paper], study, text) for (paper, study), text in departs.items() if text],
        summaries=summaries(lines),
        lines=line_rows(lines),
        of=evidence,
        confidence=CONFIDENCE,
        starts=starts_text(comparison),
        noise=evidence.program_noise(comparison),
        resolution=resolution_lines(told),
        told=told,
        papers=PAPERS,
        due=due(comparison, controls),
        commands=commands(comparison, controls),
        counts=count_rows(count_table(comparison, controls)),
        readings=reading_lines(beside),
        programs=programs(beside),
        maximum=maximum_lines(comparison, controls),
        own=_counted(own, ["paper"]),
        closest=_counted(closest(comparison), ["paper"]),
        unreached=_unreached(comparison),
        summary=summary,
        by_dataset=[] if summary else _counted(own, ["paper", "dataset"]),
        by_method=[] if summary else _counted(comparison, by),
        cells=[] if summary else _every_cell(comparison),
        inherited=(comparison["inherited"] != "").any(),
    )


def _unreached(comparison):
    """Return the lines of a table, and the reasons that its last column numbers; neither where all are reached."""
    cells = unreached(comparison)
    if cells.empty:
        return [], []
    methods = unique_names("method", cells["method"].unique())
    reasons = {text: str(place) for place, text in enumerate(filter(None, cells["explanation"].unique()), start=1)}
    lines = [["Paper", "Data set", "Score", "Published row", "Published", "Closest", "Reproduced", "Δ", "Why"]]
    for cell in cells.itertuples():
        lines.append([
            PAPERS[cell.paper], printed("dataset", cell.dataset), cell.metric.upper(), cell.published_method,
            _published(cell), methods[cell.method], mean_std(cell.mean, cell.std), signed(cell.difference),
            reasons.get(cell.explanation, "unknown"),
        ])  # fmt: skip
    return lines, reasons


def _every_cell(comparison):
    methods = unique_names("method", comparison["method"].unique())
    order = {name: position for position, name in enumerate(dict.fromkeys(comparison["dataset"]))}
    parts = []
    for (paper, metric), cells in comparison.groupby(["paper", "metric"], sort=False):
        lines = [HEAD]
        for cell in cells.sort_values("dataset", key=lambda names: names.map(order), kind="stable").itertuples():
            name = labelled(methods[cell.method], cell.clusterer)
            notes = "; ".join(filter(None, (_judged(cell), cell.reason, cell.remark)))
            lines.append([
                printed("dataset", cell.dataset), cell.published_method, _published(cell), name,
                mean_std(cell.mean, cell.std), signed(cell.difference), number(cell.margin, 1), cell.equivalence,
                cell.verdict, notes,
            ])  # fmt: skip
        parts.append((PAPERS[paper], metric.upper(), cells["study"].iloc[0], lines))
    return parts


def _counted(comparison, by):
    counts = count(comparison, by)
    counts["accepted"] = counts[list(ACCEPTED)].sum(axis=1)
    counts["at random"] = comparison.groupby(by, sort=False)["at_random"].sum(min_count=1)
    counts = counts.reset_index()
    if by == ["paper"] and len(counts) > 1:
        total = counts.drop(columns=by).sum(skipna=False).to_frame().T.assign(paper="all")
        counts = pd.concat([counts, total.astype(counts.dtypes)])[list(counts)]
    counts["at random"] = counts["at random"].map(lambda value: number(value, 1))
    return [list(counts), *counts.astype(str).to_numpy().tolist()]


def _judged(cell):
    """Say what the paper judged its row by, where our number is judged by something else."""
    if cell.evaluated_by == cell.clusterer or cell.method != cell.published_method:
        return ""
    return f"the paper's: {cell.evaluated_by}, std over {cell.std_over} (section {cell.section})"


def _published(cell):
    return mean_std(cell.published_mean, cell.published_std) + ("§" if cell.inherited else "")
