"""The findings on two pages of PDF, from the same settings as docs/findings.md: what is found, and its figure."""

import re
from textwrap import wrap

from matplotlib import rc_context
from matplotlib.backends.backend_pdf import PdfPages

from ufs_bench.scripts.core.conf import ROOT, read
from ufs_bench.scripts.core.text import writing
from ufs_bench.scripts.findings.findings_page import sentences
from ufs_bench.scripts.findings.panels import draw
from ufs_bench.scripts.make_figure.style import FILE, STYLE, new_figure
from ufs_bench.scripts.ranks.ranks_page import by_family

PAPER = 8.27, 11.69  # inches: A4
LEFT, TOP = 0.08, 0.95  # shares of the page
SIZES = 8.4, 7.7, 7.0, 6.4, 6.1  # points of the letters: the largest at which all sentences are on the page
LINE, WIDTH = 0.00181, 890  # share of the page that a line takes, and characters in it, of letters of one point


def save_summary(study, settings, path):
    """Write the two pages; the same results give the same bytes."""
    # The fonts are written as the file is closed.
    with writing(path) as path, rc_context(STYLE | FILE), PdfPages(path, metadata={"CreationDate": None}) as pdf:
        for figure in (text_page(study, settings), figure_page(settings)):
            pdf.savefig(figure)


def text_page(study, settings):
    """Return the page of sentences."""
    suite, field = read(ROOT / "CITATION.cff"), settings[0].field
    head = (
        f"{len(settings[0].methods)} methods with scores on all of {len(field.families)} data sets: "
        f"{by_family(field.families)}. Study {study}, version {suite['version']} of ufs-bench. "
        f"`python -m scripts.findings summary=FILE` prints these two pages."
    )
    numbered = [f"{number}. {text}" for number, text in enumerate(sentences(settings), 1)]
    texts = [_plain(text) for text in (head, *numbered)]
    for size in SIZES:
        parts = [wrap(text, int(WIDTH / size), break_on_hyphens=False) for text in texts]
        ends = [TOP - 2 * size * LINE]
        for lines in parts:
            ends.append(ends[-1] - (len(lines) + 0.4) * size * LINE)
        if ends[-1] > 0:
            break
    figure = new_figure(*PAPER)
    figure.text(LEFT, TOP, "Unsupervised feature selection: what is found", fontsize=15, fontweight="bold")
    for lines, height in zip(parts, ends[:-1], strict=True):
        figure.text(LEFT, height, "\n".join(lines), fontsize=size, va="top", linespacing=1.25)
    return figure


def figure_page(settings):
    """Return the page of the gains."""
    figure = draw(settings)
    figure.set_size_inches(*PAPER)
    # Printers leave out the edge.
    figure.get_layout_engine().set(rect=(LEFT, LEFT, 1 - 2 * LEFT, TOP - LEFT - 0.03))
    figure.suptitle("Gains of all methods at their default parameters", fontsize=11, fontweight="bold", y=TOP)
    figure.supxlabel(figure.get_supxlabel(), fontsize=8, y=LEFT / 2)
    return figure


def _plain(text):
    """Return a sentence of Markdown without its marks."""
    return re.sub(r"\*\*|`", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text))
