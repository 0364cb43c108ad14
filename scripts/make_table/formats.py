"""A table as Markdown, CSV, LaTeX and a frame of texts, and the texts of its cells in every format."""

import sys
from dataclasses import dataclass
from textwrap import TextWrapper

import pandas as pd

from ufs_bench.metrics.study import FAILED, POOR
from ufs_bench.scripts.core.text import CAPPED_CELL, NO_LABELS, NOT_RUN, PARTIAL, pipes, signed, split, spread
from ufs_bench.scripts.make_table.table import DECIMALS, IS_SHIPPED, SHIPPED


@dataclass(frozen=True)
class Style:
    """The style of one format: patterns with one placeholder, and the sign of what is below 0."""

    best: str
    second: str
    mark: str = "{}"
    minus: str = "−"


MARKDOWN = Style("**{}**", "_{}_", minus="-")
PLAIN = Style("{}", "{}")
MOST = 100  # letters of 8 points in a line of both columns of a paper, with the gaps between columns
GAP = 2  # letters that the gap between two columns takes
TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "Δ": r"$\Delta$", "†": r"$\dagger$",
    "‡": r"$\ddagger$", "§": r"$\S$", "−": r"$-$", "<": r"\textless{}", ">": r"\textgreater{}", "\u00a0": "~",
    # Before and after a number that is set in bold or underlined: of no width, and in no text.
    "\x01": r"\textbf{", "\x02": r"\underline{", "\x03": "}",
}  # fmt: skip
LATEX = Style("\x01{}\x03", "\x02{}\x03")


def to_csv(table):
    """Return a CSV with one line per cell, and values with four decimals."""
    return table.cells[list(table.written)].to_csv(index=False, float_format="{:z.4f}".format, lineterminator="\n")


def to_markdown(table, width=120, notes="full"):
    """Return Markdown with aligned pipes, in blocks of columns that fit `width`; `notes` as for `Table.below`."""
    labels = [table.head, *labels_of(table)]
    columns = [[name, *texts(table, dataset, MARKDOWN)] for dataset, name in table.columns.items()]
    wrap = TextWrapper(width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    parts = [f"## {table.whole_title()}", *([wrap.fill(f"! {table.warning}")] if table.warning else [])]
    widths = [max(map(len, column)) + 3 for column in columns]
    for block in split(widths, max(map(len, labels)) + 3, width - 1):
        parts.append(pipes(list(zip(labels, *columns[block], strict=True)), table.line))
    if below := table.below(notes):
        # Markdown has no underline, but the sign stands for one in a terminal.
        parts.append("\n".join(wrap.fill(f"* {note.replace('underlined', '_underlined_')}") for note in below))
    if commands := table.filling(notes):
        parts.append("\n".join(["```", *commands, "```"]))
    return "\n\n".join(parts) + "\n"


def to_frame(table, style=PLAIN):
    """Return the table as a frame of texts, as a notebook and a report show it."""
    columns = {column: texts(table, column, style) for column in table.columns}
    frame = pd.DataFrame(columns, index=pd.Index(labels_of(table), name=table.head))
    return frame.set_axis(list(table.columns.values()), axis=1)


def labels_of(table):
    """Return the text at the head of every line; with an arrow where it is ours, below what a paper prints."""
    return [f"↳ {label}" if below else label for _, label, _, below in table.lines]


def texts(table, column, style):
    """Return the text of every line of a column."""
    return [
        (paper if is_published else ours)(table.cell(row, column), style) for row, _, is_published, _ in table.lines
    ]


def ours(cell, style):
    """Return the reproduced value of a cell: mean, std, size, marks, and the difference to the published value."""
    if cell["status"] in (NOT_RUN, NO_LABELS, FAILED, CAPPED_CELL):
        return cell["status"]
    # A size that is not in the protocol, such as that of all features, is of no interest.
    size = cell["n_selected"]
    size = size if pd.notna(size) and size in cell["sizes"] else pd.NA
    text = _value(cell["mean"], cell["std"], size, cell["rank"], cell["metric"], style)
    text += style.mark.format("†") if cell["status"] == PARTIAL else ""
    text += style.mark.format("‡") if cell["trial_status"] in POOR else ""
    text += style.mark.format(SHIPPED) if cell.get("study", "").endswith(IS_SHIPPED) else ""
    if pd.isna(cell["difference"]):
        return text
    return f"{text} Δ{signed(cell['difference'], DECIMALS[cell['metric']]).replace('-', style.minus)}"


def paper(cell, style):
    """Return the published value of a cell; "" where the paper has none."""
    if pd.isna(cell["published_mean"]):
        return ""
    mean, std, size, rank = (cell[f"published_{name}"] for name in ("mean", "std", "n_features", "rank"))
    mark = style.mark.format("§") if cell["inherited"] else ""
    return _value(mean, std, size, rank, cell["metric"], style) + mark


def _value(mean, std, size, rank, metric, style):
    decimals = DECIMALS[metric]
    number = {0: "{}", 1: style.best, 2: style.second}[rank].format(f"{mean:z.{decimals}f}")
    return number + spread(std, decimals=decimals) + ("" if pd.isna(size) else f"({size})")


def to_latex(table, notes="short"):
    r"""Return LaTeX for booktabs: a `table` whose \footnotesize has 8 points in a paper of 10.

    With full notes those that are not short are comments, as are commands. A line on the standard error says that the
    table is probably too wide.
    """
    said = [] if notes == "none" else table.short
    columns = [[name, *texts(table, column, LATEX)] for column, name in table.columns.items()]
    labels = [table.head, *(f"\u00a0\u00a0{label}" if below else label for _, label, _, below in table.lines)]
    widths = [max(sum(map(str.isprintable, text)) for text in column) for column in (labels, *columns)]
    if (width := sum(widths) + GAP * len(widths)) > MOST:
        print(
            f"{table.name}: about {width} letters wide, and a page holds {MOST}: choose columns=[...].", file=sys.stderr
        )
    head, *body = [" & ".join(map(tex, line)) + r" \\" for line in zip(labels, *columns, strict=True)]
    if table.line is not None:
        body[table.line] = f"\\midrule\n{body[table.line]}"
    lines = [
        r"% needs \usepackage{booktabs}",
        *([f"% {table.warning}"] if table.warning else []),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex(table.whole_title() if notes == 'full' else table.title)}}}",
        rf"\label{{tab:{table.name.replace('_', '-')}}}",
        r"\footnotesize",
        rf"\begin{{tabular}}{{@{{}}l{'c' * len(columns)}@{{}}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *([r"\par\smallskip\raggedright", tex(" ".join(said)), r"\par"] if said else []),
        r"\end{table}",
    ]
    if notes == "full":
        lines += [
            f"% {line}" for line in [*(note for note in table.below("full") if note not in said), *table.commands]
        ]
    return "\n".join(lines) + "\n"


def tex(text):
    """Return a text for LaTeX."""
    return "".join(TEX.get(character, character) for character in text)
