"""A table as Markdown, LaTeX, HTML and CSV."""

import html
import re
from dataclasses import dataclass
from itertools import pairwise
from textwrap import TextWrapper

import pandas as pd

from metrics.study import FAILED
from scripts.core.text import pipes, spread
from scripts.core.words import CAPPED_CELL, NOT_RUN, PARTIAL, POOR
from scripts.make_table.table import DECIMALS


@dataclass(frozen=True)
class Style:
    """The style of one format.  `best` and `second` are patterns with one placeholder."""

    best: str
    second: str
    plus_minus: str
    minus: str
    difference: str
    partial: str
    poor: str
    inherited: str


MARKDOWN = Style("**{}**", "<u>{}</u>", "±", "-", "Δ", "†", "‡", "§")
LATEX = Style(
    r"\textbf{{{}}}", r"\underline{{{}}}", r"$\pm$", "$-$", r"$\Delta$", r"$^\dagger$", r"$^\ddagger$", r"$^\S$"
)
HTML = Style("<b>{}</b>", "<u>{}</u>", "±", "−", "Δ", "<sup>†</sup>", "<sup>‡</sup>", "<sup>§</sup>")


def to_csv(table):
    """Return a CSV with one line per cell, and values with four decimals."""
    return table.cells[list(table.written)].to_csv(index=False, float_format="%.4f", lineterminator="\n")


def to_markdown(table, width=120, notes="full"):
    """Return Markdown with aligned pipes, in blocks of columns that fit `width`; `notes` as for `Table.below`."""
    labels = [table.head, *(label for _, label, _ in _lines(table, "↳ paper"))]
    columns = [
        [name, *(text(table.cell(row, dataset), MARKDOWN) for row, _, text in _lines(table, ""))]
        for dataset, name in table.columns.items()
    ]
    wrap = TextWrapper(width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    parts = [f"## {table.whole_title()}", *([wrap.fill(f"! {table.warning}")] if table.warning else [])]
    parts += [pipes(list(zip(*block, strict=True))) for block in _blocks(columns, labels, width)]
    if below := table.below(notes):
        parts.append("\n".join(wrap.fill(f"* {note}") for note in below))
    if table.commands and notes == "full":
        parts.append("\n".join(["```", *table.commands, "```"]))
    return "\n\n".join(parts) + "\n"


def to_latex(table, layout="column", notes="short"):
    """Return LaTeX for booktabs and graphicx, never wider than its column, or with the layout "page" than the page.

    The layout "page" is a `table*`.  With the notes "full" the command lines are comments below.
    """
    float_ = {"column": "table", "page": "table*"}[layout]
    full, body = notes == "full", []
    for row, label, text in _lines(table, "published"):
        cells = [text(table.cell(row, dataset), LATEX) for dataset in table.columns]
        indent = r"\quad " if label == "published" else ""
        body.append(" & ".join([indent + _tex(label), *cells]) + r" \\")
    header = " & ".join([table.head, *map(_tex, table.columns.values())])
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
        *([f"% {table.warning}"] if table.warning else []),
        rf"\begin{{{float_}}}",
        r"\centering",
        rf"\caption{{{_tex(table.whole_title() if full else table.title)}}}",
        rf"\label{{tab:{table.name.replace('_', '-')}}}",
        r"\small",
        rf"\sbox0{{\begin{{tabular}}{{l{'c' * len(table.columns)}}}",
        r"\toprule",
        header + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}}%",
        r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
        *([r"\par\smallskip\raggedright\footnotesize"] if notes != "none" else []),
        *(_tex(note.replace("commands below", "commands in this file")) + r"\par" for note in table.below(notes)),
        rf"\end{{{float_}}}",
        *(f"% {command}" for command in table.commands if full),
    ]
    return "\n".join(lines) + "\n"


def to_html(table, notes="full"):
    """Return a self-contained page, without scripts or downloads."""
    rows = []
    for row, label in table.rows.items():
        cells = [table.cell(row, dataset) for dataset in table.columns]
        texts = [
            f'<td{_title(cell)}>{ours(cell, HTML)}<br><span class="paper">{paper(cell, HTML)}</span></td>'
            if table.has_published(row)
            else f"<td{_title(cell)}>{ours(cell, HTML)}</td>"
            for cell in cells
        ]
        note = '<br><span class="paper">published</span>' if table.has_published(row) else ""
        rows.append(f'<tr><th scope="row">{html.escape(label)}{note}</th>{"".join(texts)}</tr>')
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in (table.head, *table.columns.values()))
    below = "".join(f"<li>{html.escape(note)}</li>" for note in table.below(notes))
    shown = notes == "full" and table.commands
    return PAGE.format(
        title=html.escape(table.whole_title()),
        warning=f"<p>{html.escape(table.warning)}</p>" if table.warning else "",
        head=head,
        rows="\n".join(rows),
        notes=f"<ul>{below}</ul>" if below else "",
        commands=f"<pre>{html.escape(chr(10).join(table.commands))}</pre>" if shown else "",
    )


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; line-height: 1.25; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; border-block: 2px solid; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .35rem .7rem; text-align: right; vertical-align: top; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
thead th {{ border-bottom: 1px solid; }}
tbody tr + tr > * {{ border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }}
th {{ font-weight: 600; }}
th:first-child {{ position: sticky; left: 0; background: Canvas; }}
sup {{ line-height: 0; }}
.paper {{ font-size: .85em; font-weight: 400; opacity: .75; }}
li, pre {{ font-size: .9em; }}
li {{ overflow-wrap: anywhere; }}
pre {{ overflow-x: auto; }}
@media (max-width: 40rem) {{
  th, td {{ padding: .35rem .5rem; }}
  th:first-child {{ max-width: 8rem; white-space: normal; }}
}}
</style>
<h1>{title}</h1>
{warning}
<div class="scroll"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
{notes}
{commands}
</html>
"""


def ours(cell, style):
    """Return the reproduced value of a cell: mean, std, size, marks."""
    if cell["status"] in (NOT_RUN, FAILED, CAPPED_CELL):
        return cell["status"]
    # A size that is not in the protocol, such as that of all features, is of no interest.
    size = cell["n_selected"]
    size = size if pd.notna(size) and size in cell["sizes"] else pd.NA
    marks = (style.partial if cell["status"] == PARTIAL else "") + (style.poor if cell["trial_status"] in POOR else "")
    return _value(cell["mean"], cell["std"], size, cell["rank"], cell["metric"], style) + marks


def paper(cell, style):
    """Return the published value of a cell and the difference to it; "" where the paper has none."""
    if pd.isna(cell["published_mean"]):
        return ""
    size = cell["published_n_features"]
    text = _value(
        cell["published_mean"], cell["published_std"], size, cell["published_rank"], cell["metric"], style
    )  # fmt: skip
    text += style.inherited if cell["inherited"] else ""
    if pd.isna(cell["difference"]):
        return text
    decimals = DECIMALS[cell["metric"]]
    difference = round(cell["difference"], decimals) + 0.0
    sign = "+" if difference >= 0 else style.minus
    return f"{text} {style.difference}{sign}{abs(difference):.{decimals}f}"


def _value(mean, std, size, rank, metric, style):
    decimals = DECIMALS[metric]
    number = {0: "{}", 1: style.best, 2: style.second}[rank].format(f"{mean:.{decimals}f}")
    return number + spread(std, style.plus_minus, decimals) + ("" if pd.isna(size) else f"({size})")


def _lines(table, label_of_paper):
    """Yield (row, label, text of a cell) for every line: a row's own and, where there is one, the published line."""
    for row, label in table.rows.items():
        yield row, label, ours
        if table.has_published(row):
            yield row, label_of_paper, paper


def _blocks(columns, labels, width):
    """Split the columns into as few blocks of about equal length as fit the width, each with the labels before it."""
    for n_blocks in range(1, len(columns) + 1):
        ends = [len(columns) * stop // n_blocks for stop in range(n_blocks + 1)]
        blocks = [[labels, *columns[first:last]] for first, last in pairwise(ends)]
        if all(sum(max(map(len, column)) + 3 for column in block) < width for block in blocks):
            break
    return blocks


def _title(cell):
    details = f"{cell['params']} {cell['trial']}".strip()
    return f' title="{html.escape(details)}"' if details else ""


TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "Δ": r"$\Delta$", "†": r"$\dagger$",
    "‡": r"$\ddagger$", "§": r"\S{}", "−": "$-$", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


# A word that no column holds, such as a list of methods, may be broken behind one of these.
BREAKS = re.compile(r"([,=_/;])(?=\S)")
LONG = 24  # letters: about half a column of footnotes


def _tex(text):
    return " ".join(_tex_word(word) for word in text.split(" "))


def _tex_word(word):
    parts = BREAKS.split(word) if len(word) > LONG else [word]
    return "".join(
        "".join(TEX.get(character, character) for character in part) + (r"\allowbreak{}" if place % 2 else "")
        for place, part in enumerate(parts)
    )
