"""The comparison with the papers as a page of Markdown."""

import pandas as pd

from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.scripts.compare import evidence
from ufs_bench.scripts.compare.controls import COLUMNS
from ufs_bench.scripts.compare.evidence_page import commands, due, line_rows, starts_text, summaries, verdict_rows
from ufs_bench.scripts.compare.first import claim_lines, first_lines, own_first, winner_lines
from ufs_bench.scripts.compare.headline import line_table
from ufs_bench.scripts.compare.maximum import maximum_lines
from ufs_bench.scripts.compare.readings import programs, reading_lines, readings
from ufs_bench.scripts.compare.resolution import resolution, resolution_lines
from ufs_bench.scripts.core.conf import printed, unique_names
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.text import mean_std, number, signed
from ufs_bench.scripts.core.views import render
from ufs_bench.scripts.core.words import labelled

HEAD = "Data set|Published row|Published|Ours|Reproduced|Δ|Margin|Equivalence|Notes".split("|")


def comparison_page(comparison, controls=None, full=False, others=None, cells=True):
    """Return the page: the answer, and with `full` its details, with every cell if `cells`.

    `others` are comparisons by other readings.
    """
    controls = pd.DataFrame(columns=["paper", *COLUMNS]) if controls is None else controls
    lines, first = line_table(comparison, controls), own_first(comparison)
    departs = comparison.groupby(["paper", "study"], sort=False)["departs"].first()
    selection = comparison["selection"].iloc[0]
    page = render(
        "compare/comparison.md.j2",
        selection=selection,
        words=SELECTIONS[selection],
        departs=[(PAPERS[paper], study, text) for (paper, study), text in departs.items() if text],
        first=first_lines(first),
        winners=winner_lines(comparison),
        claims=claim_lines(comparison),
        partial=first["partial"].any(),
        verdicts=verdict_rows(lines),
        commands=commands(comparison, controls),
        full=full,
    )
    return page + (_details(comparison, controls, lines, others or {}, cells) if full else "")


def _details(comparison, controls, lines, others, cells):
    told, beside = resolution(comparison), readings(comparison, others)
    return "\n" + render(
        "compare/details.md.j2",
        summaries=summaries(lines),
        lines=line_rows(lines),
        of=evidence,
        starts=starts_text(comparison),
        noise=evidence.program_noise(comparison),
        resolution=resolution_lines(told),
        told=told,
        papers=PAPERS,
        due=due(comparison, controls),
        readings=reading_lines(beside),
        programs=programs(beside),
        maximum=maximum_lines(comparison, controls),
        reasons=_reasons(comparison),
        cells=_every_cell(comparison) if cells else [],
        inherited=(comparison["inherited"] != "").any(),
    )


def _reasons(comparison):
    """Return the known reasons why our row of a method differs from print, each with its cells, as lines of a table."""
    own = comparison[(comparison["method"] == comparison["published_method"]) & (comparison["explanation"] != "")]
    lines = [["Known reason why our score differs", "Cells"]]
    for text, cells in own.groupby("explanation", sort=False):
        counts = cells.groupby("paper", sort=False).size()
        lines.append([text, ", ".join(f"{PAPERS[paper]} {count}" for paper, count in counts.items())])
    return lines


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
                notes,
            ])  # fmt: skip
        parts.append((PAPERS[paper], metric.upper(), cells["study"].iloc[0], lines))
    return parts


def _judged(cell):
    """Say what the paper judged its row by, where our number is judged by something else."""
    if cell.evaluated_by == cell.clusterer or cell.method != cell.published_method:
        return ""
    return f"the paper's: {cell.evaluated_by}, std over {cell.std_over} (section {cell.section})"


def _published(cell):
    return mean_std(cell.published_mean, cell.published_std) + ("§" if cell.inherited else "")
