"""A table as LaTeX: one `tabular` with the rules of booktabs, at 8 points."""

import sys

from ufs_bench.scripts.make_table.formats import Style, texts

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
