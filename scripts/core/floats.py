"""Tables of texts as LaTeX: at 8 points, in as many parts as their columns and rows need."""

import re
from itertools import pairwise
from typing import NamedTuple

PACKAGES = r"% needs \usepackage{booktabs}"
POINTS, LINE = 8, 9.5  # the least that IEEE prints, and the distance of lines; whatever the class has as \small
WAITING = 12  # floats that LaTeX is given before it must set them: it holds 18 at most
GAP = 3  # points on each side of a column
# The narrowest of the usual: a two-column article on A4 (221 and 453 points), IEEEtran having 252 and 516.
ROOM = {"column": 221, "page": 452}
ENVIRONMENT = {"column": "table", "page": "table*"}
HEIGHT = 55  # lines of a page: a two-column article on letter paper has 57, others more, and estimates need some
# Widths in Computer Modern, wider than Times, by the size of the letters; the rest are those of small letters.
WIDTHS = {**dict.fromkeys("0123456789", 0.54), **dict.fromkeys(".,:;' il|", 0.33), **dict.fromkeys("()-ftj/†‡", 0.46)}
WIDTHS |= {**dict.fromkeys("±−ΔmwMW+=", 0.9), **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&%", 0.75)}
SMALL = 0.55
LABELS = 0.42  # the most of the room that labels take; longer ones are broken
# A word that no column holds, such as a list of methods, may be broken behind one of these.
BREAKS = re.compile(r"([,=_/;])(?=\S)")
LONG = 24  # letters: about half a column of footnotes
TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "Δ": r"$\Delta$", "†": r"$\dagger$",
    "‡": r"$\ddagger$", "§": r"$\S$", "−": "$-$", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


class Sheet(NamedTuple):
    """A table of texts."""

    name: str  # of its label
    title: str
    head: str  # of the labels
    labels: list  # of (text, whether the line belongs to the one above it), a line each
    names: list  # of the columns
    columns: list  # the texts of every column, in LaTeX
    widths: list  # of the columns, in points
    below: str  # what stands below the last float
    line: int | None = None  # the line that has a rule above it


class Panel(NamedTuple):
    """Some rows and columns of a table."""

    first: int  # line
    stop: int
    columns: slice
    height: int  # in lines, with its head and rules


def sheet_of(name, title, lines, below=""):
    """Return the `Sheet` of lines of plain texts, the first being the head and the first of each its label."""
    (head, *names), *rows = lines
    columns = list(zip(*(row[1:] for row in rows), strict=True))
    widths = [max(map(width, [name, *column])) + 2 * GAP for name, column in zip(names, columns, strict=True)]
    labels = [(row[0], False) for row in rows]
    return Sheet(name, title, head, labels, names, [[*map(tex, column)] for column in columns], widths, below)


def set_out(sheet, layout):
    """Return the `Panel`s of each float of a table, and in how many blocks of columns they are.

    Columns that do not fit beside each other go into blocks below each other, and what no page holds into more floats.
    """
    room = ROOM[layout]
    # A caption of 10 points, and the space below it.
    height = HEIGHT - 2.2 - 1.27 * (1 + int(1.25 * width(f"Table 1: {sheet.title} (continued)") / room))
    labels, broken = _labels(sheet, room)
    blocks = split(sheet.widths, (broken or max(*labels, width(sheet.head))) + GAP, room)
    footer = 2 + int(width(sheet.below) / room) if sheet.below else 0
    return _packed(_panels(sheet, blocks, room, height), height, footer), len(blocks)


def to_lines(sheet, floats, layout):
    """Return the lines of LaTeX of a table that is set out: `table`, or with the layout "page" `table*`."""
    lines, broken = [], _labels(sheet, ROOM[layout])[1]
    for number, panels in enumerate(floats):
        lines += [r"\clearpage"] if number and number % WAITING == 0 else []
        lines += _head(sheet, layout, number)
        for panel in panels:
            lines += _tabular(sheet, panel, broken)
        if sheet.below and number == len(floats) - 1:
            lines += [r"\par\smallskip\raggedright", tex(sheet.below), r"\par"]
        lines.append(rf"\end{{{ENVIRONMENT[layout]}}}")
    return lines


def width(text):
    """Return about the points that a text takes at the size of a table, rather too many."""
    return POINTS * sum(WIDTHS.get(letter, SMALL) for letter in text)


def split(widths, first, room):
    """Return slices of columns, as few and about as long as fit the room, each with a first column before it."""
    slices = []
    for n_blocks in range(1, len(widths) + 1):
        ends = [len(widths) * stop // n_blocks for stop in range(n_blocks + 1)]
        slices = [slice(*pair) for pair in pairwise(ends)]
        if all(first + sum(widths[block]) <= room for block in slices):
            break
    return slices


def tex(text):
    """Return a text for LaTeX; long words may be broken."""
    return " ".join(_tex_word(word) for word in text.split(" "))


def _tex_word(word):
    parts = BREAKS.split(word) if len(word) > LONG else [word]
    return "".join(
        "".join(TEX.get(character, character) for character in part) + (r"\allowbreak{}" if place % 2 else "")
        for place, part in enumerate(parts)
    )


def _labels(sheet, room):
    """Return the widths of the labels, and that of their column where they have to be broken; None elsewhere."""
    widths = [width(label) + POINTS * below for label, below in sheet.labels]
    return widths, int(LABELS * room) if max(widths) > LABELS * room else None


def _panels(sheet, blocks, room, height):
    """Return panels of whole groups of lines, a published one with those below it, none higher than a page."""
    widths, broken = _labels(sheet, room)
    heights = [1 + int(1.2 * width / broken) if broken else 1 for width in widths]  # words leave gaps
    pieces = -int(-sum(heights) // (height - 3))
    starts = [number for number, (_, below) in enumerate(sheet.labels) if not below]
    wanted = [len(heights) * piece // pieces for piece in range(1, pieces)]
    ends = [*sorted({max(start for start in starts if start <= line) for line in wanted} - {0}), len(heights)]
    return [
        Panel(first, stop, block, sum(heights[first:stop]) + 3)
        for first, stop in zip([0, *ends], ends, strict=False)
        for block in blocks
    ]


def _packed(panels, height, footer):
    """Return the panels of each float of some lines; the notes below the last need `footer` lines."""
    floats, used = [[]], 0
    together = panels[-1].height + footer <= height
    for panel in panels:
        needed = panel.height + (footer if together and panel is panels[-1] else 0)
        if floats[-1] and used + needed > height:
            floats.append([])
            used = 0
        floats[-1].append(panel)
        used += needed
    return floats if together else [*floats, []]


def _head(sheet, layout, number):
    """Return the lines before the first panel of a float."""
    title = tex(sheet.title)
    caption = [r"\addtocounter{table}{-1}", rf"\caption{{{title} (continued)}}"]
    if not number:
        caption = [rf"\caption{{{title}}}", rf"\label{{tab:{sheet.name.replace('_', '-')}}}"]
    size = rf"\fontsize{{{POINTS}}}{{{LINE}}}\selectfont\setlength{{\tabcolsep}}{{{GAP}pt}}"
    return [rf"\begin{{{ENVIRONMENT[layout]}}}", r"\centering", *caption, rf"\smallskip{size}"]


def _tabular(sheet, panel, broken):
    """Return the tabular of a panel, with the labels in a column of `broken` points if that is a number."""
    shown, names = sheet.columns[panel.columns], [tex(name) for name in sheet.names[panel.columns]]
    body = []
    for number in range(panel.first, panel.stop):
        label, below = sheet.labels[number]
        body += [r"\midrule"] if number == sheet.line and number > panel.first else []
        indent = (r"\raggedright " if broken else "") + (r"\quad " if below else "")
        body.append(" & ".join([indent + tex(label), *(column[number] for column in shown)]) + r" \\")
    return [
        rf"\begin{{tabular}}{{@{{}}{f'p{{{broken}pt}}' if broken else 'l'}{'c' * len(shown)}@{{}}}}",
        r"\toprule",
        " & ".join([tex(sheet.head), *names]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}\par\smallskip",
    ]
