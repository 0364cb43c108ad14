"""The comparison with the papers as a page of Markdown."""

import pandas as pd

from metrics.study.summary import SELECTIONS
from scripts.compare.controls import COLUMNS
from scripts.compare.evidence_page import evidence_parts
from scripts.compare.headline import accepted_at_random
from scripts.compare.maximum import maximum_parts
from scripts.compare.readings import reading_parts
from scripts.compare.verdicts import ACCEPTED, closest, count, own_rows, unreached
from scripts.core.conf import printed, unique_names
from scripts.core.published import PAPERS
from scripts.core.text import mean_std, number, pipes
from scripts.core.words import labelled

HEAD = "Data set|Published row|Published|Ours|Reproduced|Δ|Margin|Equivalence|Std rule|Notes".split("|")
LEGEND = """\
By the std rule, which is no evidence: the counts above say what it lets pass. Within 1 or 2 std: of the root mean
square of both sides' stds over K-means runs, plus 0.05 for rounding; otherwise within 3 points, higher or lower than
published.
inherited: published cells that are no evidence of their own. hollow: our best fit collapsed or diverged, so that
agreement says nothing of the method. accepted: within 1 or 2 std or 3 points; at random: how many of the judged cells
are accepted with a random ranking in the place of ours, on average."""


def comparison_page(comparison, controls=None, summary=False, others=None):
    """Return the page: five lines a paper, counts, the cells that no variant reaches; all details, unless `summary`.

    Without `controls`, none stand beside our numbers.  `others`: as for `scripts.compare.readings.reading_parts`.
    """
    controls = pd.DataFrame(columns=["paper", *COLUMNS]) if controls is None else controls
    comparison = comparison.assign(at_random=accepted_at_random(comparison, controls))
    own = own_rows(comparison)
    selection = comparison["selection"].iloc[0]
    parts = [
        "# Published and reproduced scores",
        f"Selection {selection}: {SELECTIONS[selection]}.",
        *_protocols(comparison),
        *evidence_parts(comparison, controls),
        *reading_parts(comparison, others or {}),
        *maximum_parts(comparison, controls),
        f"## Per paper\n\n{LEGEND}",
        "Published cells, by the row of the method's own name, K-means on its features.",
        _counted(own, ["paper"]),
        "Exploratory: the same cells, by the variant that comes closest; a hollow one counts only where all are.",
        _counted(closest(comparison), ["paper"]),
        "## Cells that no variant reaches\n\nBy K-means on the selected features; the variant that comes closest.",
        _unreached(comparison),
        *([] if summary else _details(comparison, own)),
    ]
    if (comparison["inherited"] != "").any():
        parts.append("§: inherited, no evidence of its own.")
    return "\n\n".join(parts) + "\n"


def _protocols(comparison):
    found = comparison.groupby(["paper", "study"], sort=False)["departs"].first()
    lines = [f"* {PAPERS[paper]}, study {study!r}: {text}." for (paper, study), text in found.items() if text]
    return ["Not the papers' protocols:\n\n" + "\n".join(lines)] if lines else []


def _unreached(comparison):
    cells = unreached(comparison)
    if cells.empty:
        return "None."
    methods = unique_names("method", cells["method"].unique())
    reasons = {text: str(place) for place, text in enumerate(filter(None, cells["explanation"].unique()), start=1)}
    lines = [["Paper", "Data set", "Score", "Published row", "Published", "Closest", "Reproduced", "Δ", "Why"]]
    for cell in cells.itertuples():
        lines.append([
            PAPERS[cell.paper], printed("dataset", cell.dataset), cell.metric.upper(), cell.published_method,
            _published(cell), methods[cell.method], mean_std(cell.mean, cell.std), f"{cell.difference:+.1f}",
            reasons.get(cell.explanation, "unknown"),
        ])  # fmt: skip
    return "\n".join([pipes(lines), *([""] if reasons else []), *(f"{n}. {text}." for text, n in reasons.items())])


def _details(comparison, own):
    return [
        "## Per data set\n\nBy the row of the method's own name.",
        _counted(own, ["paper", "dataset"]),
        "## Per method\n\nEvery variant; learned: the labels that the method itself gives.",
        _counted(comparison, ["paper", "published_method", "method", "clusterer"]),
        *_every_cell(comparison),
    ]


def _every_cell(comparison):
    methods = unique_names("method", comparison["method"].unique())
    order = {name: position for position, name in enumerate(dict.fromkeys(comparison["dataset"]))}
    parts = []
    for (paper, metric), cells in comparison.groupby(["paper", "metric"], sort=False):
        parts.append(f"## {PAPERS[paper]}: {metric.upper()}\n\nStudy {cells['study'].iloc[0]!r}.")
        lines = [HEAD]
        for cell in cells.sort_values("dataset", key=lambda names: names.map(order), kind="stable").itertuples():
            name = labelled(methods[cell.method], cell.clusterer)
            notes = "; ".join(filter(None, (_judged(cell), cell.reason, cell.remark)))
            difference = "" if pd.isna(cell.difference) else f"{cell.difference:+.1f}"
            lines.append([
                printed("dataset", cell.dataset), cell.published_method, _published(cell), name,
                mean_std(cell.mean, cell.std), difference, number(cell.margin, 1), cell.equivalence, cell.verdict,
                notes,
            ])  # fmt: skip
        parts.append(pipes(lines))
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
    return pipes([list(counts), *counts.astype(str).to_numpy().tolist()])


def _judged(cell):
    """Say what the paper judged its row by, where our number is judged by something else."""
    if cell.evaluated_by == cell.clusterer or cell.method != cell.published_method:
        return ""
    return f"the paper's: {cell.evaluated_by}, std over {cell.std_over} (section {cell.section})"


def _published(cell):
    return mean_std(cell.published_mean, cell.published_std) + ("§" if cell.inherited else "")
