"""A table as LaTeX: at 8 points, in as many parts as its columns and rows need."""

import re
from typing import NamedTuple

from scripts.make_table.formats import TEX, Style, split, texts
from scripts.make_table.table import PARTS

LATEX = Style(r"\textbf{{{}}}", r"\underline{{{}}}", r"$\pm$", "$-$", r"$\Delta$", r"$\dagger$", r"$\ddagger$", r"$\S$")
PLAIN = Style("{}", "{}", "±", "−", "Δ", "†", "‡", "§")  # for the width of a text
POINTS, LINE = 8, 9.5  # the least that IEEE prints, and the distance of lines; whatever the class has as \small
GAP = 3  # points on each side of a column
# The narrowest of the usual: a two-column article on A4 (221 and 453 points), IEEEtran having 252 and 516.
ROOM = {"column": 221, "page": 452}
HEIGHT = 55  # lines of a page: a two-column article on letter paper has 57, others more, and estimates need some
# Widths in Computer Modern, wider than Times, by the size of the letters; the rest are those of small letters.
WIDTHS = {**dict.fromkeys("0123456789", 0.54), **dict.fromkeys(".,:;' il|", 0.33), **dict.fromkeys("()-ftj/†‡", 0.46)}
WIDTHS |= {**dict.fromkeys("±−ΔmwMW+=", 0.9), **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&%", 0.75)}
SMALL = 0.55
LABELS = 0.42  # the most of the room that labels take; longer ones are broken
FEW = 3  # blocks of columns; a cell keeps what it has if there are no more
LEFT_OUT = [tuple(PARTS)[:count] for count in range(len(PARTS) + 1)]
# A word that no column holds, such as a list of methods, may be broken behind one of these.
BREAKS = re.compile(r"([,=_/;])(?=\S)")
LONG = 24  # letters: about half a column of footnotes


class Panel(NamedTuple):
    """Some rows and columns of a table."""

    first: int  # line
    stop: int
    columns: slice
    height: int  # in lines, with its head and rules


def to_latex(table, layout="column", notes="short"):
    """Return LaTeX for booktabs: floats of one column, or with the layout "page" `table*` over both.

    Nothing is set below 8 points.  Columns that do not fit beside each other go into blocks below each other, and what
    no page holds into more floats.  The number of features, the differences and the stds are left out, in this order,
    where that saves floats, or blocks beyond three.  With the notes "full" those that are not "short" are comments, as
    are the commands.
    """
    room = ROOM[layout]
    said = table.below("short" if notes == "full" else notes)
    title = table.whole_title() if notes == "full" else table.title
    # A caption of 10 points, and the space below it.
    height = HEIGHT - 2.2 - 1.27 * (1 + int(1.25 * _width(f"Table 1: {title} (continued)") / room))
    plans = []
    for left_out in LEFT_OUT:
        below = " ".join(_without(note, left_out) for note in said)
        blocks = _blocks(table, left_out, room)
        footer = 2 + int(_width(below) / room) if below else 0
        floats = _packed(_panels(table, blocks, room, height), height, footer)
        plans.append((len(floats), max(len(blocks), FEW), len(left_out), floats, below))
    *_, dropped, floats, below = min(plans, key=lambda plan: plan[:3])
    left_out = LEFT_OUT[dropped]
    names = [_tex(name) for name in table.columns.values()]
    columns = [texts(table, column, LATEX, left_out) for column in table.columns]
    broken = _labels(table, room)[1]
    lines = [r"% needs \usepackage{booktabs}", *([f"% {table.warning}"] if table.warning else [])]
    for number, panels in enumerate(floats):
        lines += _head(table.name, _tex(title), layout, number)
        for panel in panels:
            lines += _tabular(table, names, columns, panel, broken)
        if below and number == len(floats) - 1:
            lines += [r"\par\smallskip\raggedright", _tex(below), r"\par"]
        lines.append(rf"\end{{{_environment(layout)}}}")
    if notes == "full":
        lines += [f"% {line}" for line in [*(note for note in table.notes if note not in said), *table.commands]]
    return "\n".join(lines) + "\n"


def _without(note, left_out):
    for part in left_out:
        note = note.replace(PARTS[part], "")
    return note


def _width(text):
    """Return about the points that a text takes at the size of a table, rather too many."""
    return POINTS * sum(WIDTHS.get(letter, SMALL) for letter in text)


def _labels(table, room):
    """Return the widths of the labels, and that of their column where they have to be broken; None elsewhere."""
    widths = [_width(label) + POINTS * below for _, label, _, below in table.lines]
    return widths, int(LABELS * room) if max(widths) > LABELS * room else None


def _blocks(table, left_out, room):
    """Return the columns in blocks that fit a width in points."""
    labels, broken = _labels(table, room)
    widths = []
    for column, name in table.columns.items():
        shown = texts(table, column, PLAIN, left_out)
        ranks = [table.cell(row, column)["published_rank" if paper else "rank"] for row, _, paper, _ in table.lines]
        # Bold is wider than the rest, by a tenth.
        numbers = [_width(text) + 0.1 * _width(text[:4]) * (rank == 1) for text, rank in zip(shown, ranks, strict=True)]
        widths.append(max(_width(name), *numbers) + 2 * GAP)
    return split(widths, (broken or max(*labels, _width(table.head))) + GAP, room)


def _panels(table, blocks, room, height):
    """Return panels of whole groups of lines, a published one with those below it, none higher than a page."""
    widths, broken = _labels(table, room)
    heights = [1 + int(1.2 * width / broken) if broken else 1 for width in widths]  # words leave gaps
    pieces = -int(-sum(heights) // (height - 3))
    starts = [number for number, (*_, below) in enumerate(table.lines) if not below]
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


def _environment(layout):
    return {"column": "table", "page": "table*"}[layout]


def _head(name, title, layout, number):
    """Return the lines before the first panel of a float."""
    caption = [r"\addtocounter{table}{-1}", rf"\caption{{{title} (continued)}}"]
    if not number:
        caption = [rf"\caption{{{title}}}", rf"\label{{tab:{name.replace('_', '-')}}}"]
    size = rf"\fontsize{{{POINTS}}}{{{LINE}}}\selectfont\setlength{{\tabcolsep}}{{{GAP}pt}}"
    return [rf"\begin{{{_environment(layout)}}}", r"\centering", *caption, rf"\smallskip{size}"]


def _tabular(table, names, columns, panel, broken):
    """Return the tabular of a panel, with the labels in a column of `broken` points if that is a number."""
    shown = columns[panel.columns]
    body = []
    for number in range(panel.first, panel.stop):
        _, label, _, below = table.lines[number]
        cells = [column[number] for column in shown]
        indent = (r"\raggedright " if broken else "") + (r"\quad " if below else "")
        body.append(" & ".join([indent + _tex(label), *cells]) + r" \\")
    return [
        rf"\begin{{tabular}}{{@{{}}{f'p{{{broken}pt}}' if broken else 'l'}{'c' * len(shown)}@{{}}}}",
        r"\toprule",
        " & ".join([table.head, *names[panel.columns]]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}\par\smallskip",
    ]


def _tex(text):
    return " ".join(_tex_word(word) for word in text.split(" "))


def _tex_word(word):
    parts = BREAKS.split(word) if len(word) > LONG else [word]
    return "".join(
        "".join(TEX.get(character, character) for character in part) + (r"\allowbreak{}" if place % 2 else "")
        for place, part in enumerate(parts)
    )
