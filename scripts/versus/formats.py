"""The page of one method beside all others in Markdown, LaTeX and HTML, and its forest plot."""

import html
import io
from math import isnan

from matplotlib import rc_context
from matplotlib.ticker import MaxNLocator

from scripts.core.conf import unique_names
from scripts.core.text import pipes
from scripts.make_figure.style import COLOURS, GREY, STYLE, WIDTH, frame, new_figure
from scripts.make_table.formats import PAGE, TEX
from scripts.ranks.page import above, below

ROW = 0.15  # inches


def to_markdown(page):
    """Return the `scripts.versus.page.Part`s of a page as Markdown."""
    texts = []
    for place, (title, tables, sentences) in enumerate(page):
        texts += [f"{'#' * (1 + (place > 0))} {title}", *map(pipes, tables)]
        texts.append("\n".join(f"* {text}" for text in sentences))
    return "\n\n".join(texts) + "\n"


def to_latex(page):
    """Return the tables of a page for booktabs and graphicx, with the sentences below the first of each part."""
    lines = [r"% needs \usepackage{booktabs,graphicx}"]
    for title, tables, sentences in page:
        for place, table in enumerate(tables):
            head, *rows = (" & ".join(map(_tex, line)) + r" \\" for line in table)
            lines += [r"\begin{table}", r"\centering", rf"\caption{{{_tex(title)}}}", r"\resizebox{\textwidth}{!}{%"]
            lines += [rf"\begin{{tabular}}{{l{'c' * (len(table[0]) - 1)}}}", r"\toprule", head, r"\midrule", *rows]
            lines += [r"\bottomrule", r"\end{tabular}}", r"\par\smallskip\raggedright\footnotesize"]
            lines += [*(_tex(text) + r"\par" for text in sentences if not place), r"\end{table}"]
    return "\n".join(lines) + "\n"


def to_html(page, figure):
    """Return a page that opens from disk, with the figure after its first part."""
    texts = [PAGE.partition("<h1>")[0].format(title=html.escape(page[0].title))]
    for place, (title, tables, sentences) in enumerate(page):
        texts.append(f"<h{1 + (place > 0)}>{html.escape(title)}</h{1 + (place > 0)}>")
        for head, *rows in tables:
            lines = [_line(head, "th"), "</thead><tbody>", *(_line(row, "td") for row in rows)]
            texts += ['<div class="scroll"><table><thead>', *lines, "</tbody></table></div>"]
        texts.append("<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in sentences) + "</ul>")
        if not place:
            drawing = drawn(figure)
            texts.append(f'<div class="scroll" style="background:white">{drawing[drawing.index("<svg") :]}</div>')
    return "\n".join([*texts, "</html>\n"])


def drawn(figure):
    """Return a figure as the text of an SVG, the same for the same figure."""
    file = io.StringIO()
    with rc_context({"svg.hashsalt": "versus"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def forest(found, title, note):
    """Draw the gain over every other with its interval, a panel for each `Versus`; the first orders the rows."""
    order = found[0].table.sort_values("gain", ascending=False, kind="stable").index
    order = sorted(order, key=found[0].controls.__contains__)
    names = unique_names("method", order) | {"random_rankings": "Random rankings"}
    with rc_context({**STYLE, "axes.grid.axis": "x"}):
        figure = new_figure(WIDTH, 1.3 + ROW * len(order))
        axes = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
        for axis, one in zip(axes, found, strict=True):
            axis.axvline(0, color=GREY, linewidth=0.8)
            axis.axhline(len(order) - len(found[0].controls) - 0.5, color=GREY, linewidth=0.6)
            rows, gain, lose = one.table.reindex(order), above(one.table), below(one.table)
            for height, row in enumerate(rows.itertuples()):
                colour = COLOURS[2] if row.Index in gain else COLOURS[1] if row.Index in lose else COLOURS[6]
                axis.plot([row.low, row.high], [height] * 2, color=colour, linewidth=1.2)
                axis.plot(
                    row.gain,
                    height,
                    color=colour,
                    marker="s",
                    markersize=3,
                    linestyle="",
                    markerfacecolor="white" if isnan(row.low) else colour,
                )
            axis.set_title(one.selection, fontsize=8, loc="left")
            axis.xaxis.set_major_locator(MaxNLocator(nbins=4))
        axes[0].set_yticks(range(len(order)), [names[name] for name in order], fontsize=6.5)
        axes[0].set_ylim(len(order) - 0.4, -0.6)
        frame(figure, title, note)
        return figure


def _line(texts, tag):
    return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"


def _tex(text):
    return "".join(TEX.get(character, character) for character in text)
