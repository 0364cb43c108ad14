"""A table as LaTeX."""

from ufs_bench.scripts.core.tabular import PACKAGES, tex, to_lines
from ufs_bench.scripts.make_table.formats import Style, texts

BEST, SECOND = "\x01", "\x02"  # before a number that is set in bold or underlined: of no width, and in no text
LATEX = Style(BEST + "{}\x03", SECOND + "{}\x03")
MARKS = str.maketrans({BEST: r"\textbf{", SECOND: r"\underline{", "\x03": "}"})


def to_latex(table, notes="short"):
    """Return LaTeX for booktabs: a `table` of 8 points, in a paper of 10.

    With full notes those that are not short are comments, as are commands.
    """
    said = table.below("none" if notes == "none" else "paper")
    title = table.whole_title() if notes == "full" else table.title
    columns = [[name, *texts(table, column, LATEX)] for column, name in table.columns.items()]
    labels = [table.head, *(f"\u00a0\u00a0{label}" if below else label for _, label, _, below in table.lines)]
    sheet = zip(labels, *columns, strict=True)
    lines = [PACKAGES, *([f"% {table.warning}"] if table.warning else [])]
    lines += to_lines(table.name, title, list(sheet), " ".join(said), _in_cell, table.line)
    if notes == "full":
        lines += [f"% {line}" for line in [*(note for note in table.notes if note not in said), *table.commands]]
    return "\n".join(lines) + "\n"


def _in_cell(text):
    return tex(text).translate(MARKS)
