"""Tables of texts as LaTeX: one `tabular` with the rules of booktabs, at 8 points; and columns that fit a width."""

import sys
from itertools import pairwise

PACKAGES = r"% needs \usepackage{booktabs}"
MOST = 100  # letters of 8 points in a line of both columns of a paper, with the gaps between columns
GAP = 2  # letters that the gap between two columns takes
TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "Δ": r"$\Delta$", "†": r"$\dagger$",
    "‡": r"$\ddagger$", "§": r"$\S$", "−": r"$-$", "<": r"\textless{}", ">": r"\textgreater{}",
    "\u00a0": "~",
}  # fmt: skip


def tex(text):
    """Return a text for LaTeX."""
    return "".join(TEX.get(character, character) for character in text)


def to_lines(name, title, lines, below="", style=tex, rule=None):
    r"""Return the lines of a `table` of LaTeX; \footnotesize has 8 points in a paper of 10.

    The first of the `lines` of texts is the head; `rule` is the place after it of a line with a rule above.  `style`
    makes LaTeX of a text in a cell.  A line on the standard error says that the table is probably too wide.
    """
    widths = [max(sum(map(str.isprintable, text)) for text in column) for column in zip(*lines, strict=True)]
    if (width := sum(widths) + GAP * len(widths)) > MOST:
        print(f"{name}: about {width} letters wide, and a page holds {MOST}: choose columns=[...].", file=sys.stderr)
    head, *body = [" & ".join(map(style, line)) + r" \\" for line in lines]
    if rule is not None:
        body[rule] = f"\\midrule\n{body[rule]}"
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{tex(title)}}}",
        rf"\label{{tab:{name.replace('_', '-')}}}",
        r"\footnotesize",
        rf"\begin{{tabular}}{{@{{}}l{'c' * (len(widths) - 1)}@{{}}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *([r"\par\smallskip\raggedright", tex(below), r"\par"] if below else []),
        r"\end{table}",
    ]


def split(widths, first, room):
    """Return slices of columns, as few and about as long as fit the room, each with a first column before it."""
    slices = []
    for n_blocks in range(1, len(widths) + 1):
        ends = [len(widths) * stop // n_blocks for stop in range(n_blocks + 1)]
        slices = [slice(*pair) for pair in pairwise(ends)]
        if all(first + sum(widths[block]) <= room for block in slices):
            break
    return slices
