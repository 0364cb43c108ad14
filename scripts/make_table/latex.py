"""A table as LaTeX: at 8 points, with less in each cell where that saves floats."""

from scripts.core.floats import GAP, PACKAGES, TEX, Sheet, set_out, to_lines, width
from scripts.make_table.formats import Style, texts
from scripts.make_table.table import PARTS

LATEX, PLAIN = Style(r"\textbf{{{}}}", r"\underline{{{}}}"), Style("{}", "{}")  # the latter for the width of a text
SIGNS = str.maketrans({sign: TEX[sign] for sign in "±−Δ†‡§"})
FEW = 3  # blocks of columns; a cell keeps what it has if there are no more
LEFT_OUT = [tuple(PARTS)[:count] for count in range(len(PARTS) + 1)]


def to_latex(table, layout="column", notes="short"):
    """Return LaTeX for booktabs: floats of one column, or with the layout "page" `table*` over both.

    Nothing is set below 8 points. The number of features, the differences and the stds are left out, in this order,
    where that saves floats, or blocks beyond three. With full notes those that are not short are comments, as are
    commands.
    """
    said = table.below("none" if notes == "none" else "paper")
    title = table.whole_title() if notes == "full" else table.title
    plans = []
    for left_out in LEFT_OUT:
        sheet = _sheet(table, title, said, left_out)
        floats, n_blocks = set_out(sheet, layout)
        plans.append((len(floats), max(n_blocks, FEW), len(left_out), sheet, floats))
    *_, sheet, floats = min(plans, key=lambda plan: plan[:3])
    lines = [PACKAGES, *([f"% {table.warning}"] if table.warning else []), *to_lines(sheet, floats, layout)]
    if notes == "full":
        lines += [f"% {line}" for line in [*(note for note in table.notes if note not in said), *table.commands]]
    return "\n".join(lines) + "\n"


def _sheet(table, title, said, left_out):
    labels = [(label, below) for _, label, _, below in table.lines]
    columns = [[text.translate(SIGNS) for text in texts(table, column, LATEX, left_out)] for column in table.columns]
    below = " ".join(said)
    for part in left_out:
        below = below.replace(PARTS[part], "")
    widths = _widths(table, left_out)
    return Sheet(
        table.name, title, table.head, labels, list(table.columns.values()), columns, widths, below, table.line
    )


def _widths(table, left_out):
    """Return the widths of the columns, in points."""
    widths = []
    for column, name in table.columns.items():
        shown = texts(table, column, PLAIN, left_out)
        ranks = [table.cell(row, column)["published_rank" if paper else "rank"] for row, _, paper, _ in table.lines]
        # Bold is wider than the rest, by a tenth.
        numbers = [width(text) + 0.1 * width(text[:4]) * (rank == 1) for text, rank in zip(shown, ranks, strict=True)]
        widths.append(max(width(name), *numbers) + 2 * GAP)
    return widths
