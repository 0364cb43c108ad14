"""The style of every figure: colours, markers, fonts, the title above and the note below."""

import io
import textwrap
from contextlib import contextmanager

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from ufs_bench.metrics.study import POOR
from ufs_bench.scripts.core.conf import names

# Okabe & Ito's colours, which most colour-blind readers tell apart, without the yellow that fades on white, and two of
# Tol's.  Names of one colour differ in the marker.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999933")
MARKERS = "osD^v<>phdPX8"
# The methods that the papers compare most, each of a colour of its own.
FIRST = "mcfs rufs udfs ndfs dgufs laplacian_score eufs jgufs kmeans_ufs".split()
REFERENCE = "#666666"
GREY = "#555555"
# A colour map of even lightness, which reads alike with all common kinds of colour vision.
HEAT = "viridis"
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "legend.frameon": False,
}
# What matplotlib reads as it writes a file.  Publishers refuse Type 3, which it takes by itself; without a salt the
# names of an SVG's parts are random.
FILE = {"pdf.fonttype": 42, "svg.hashsalt": "ufs-bench"}
WIDTH = 6.8
PHONE = 3.65  # inches: 350 px, which a phone shows without making them smaller
NARROW = 5.0  # panels of a narrower figure are below each other
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "zeta": "ζ", "eta": "η", "lambda": "λ", "mu": "μ", "nu": "ν",
    "rho": "ρ", "sigma": "σ", "tau": "τ",
}  # fmt: skip
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def looks_of(names):
    """Return a different (colour, marker) for each of up to 117 names, in their order."""
    count = len(COLOURS)
    return {
        name: (COLOURS[i % count], MARKERS[(i % count + i // count) % len(MARKERS)]) for i, name in enumerate(names)
    }


def styles(methods):
    """Return (colour, marker) for each method, the same in every figure of every study; the reference is grey."""
    known = [name for name in names("method") if name not in FIRST]
    found = looks_of(dict.fromkeys([*FIRST, *known, *sorted(methods)])) | {"all_features": (REFERENCE, "")}
    return {name: found[name] for name in ("all_features", *methods)}


def distinct(looks, methods):
    """Return looks in which methods of one figure that share a colour have others, as long as there are any."""
    free, seen, found = [one for one in COLOURS if one not in {looks[name][0] for name in methods}], set(), dict(looks)
    for name in methods:
        colour, marker = found[name]
        if colour in seen and free:
            found[name] = colour, marker = free.pop(0), marker
        seen.add(colour)
    return found


def name_ends(axes, lines, gap):
    """Write the name of each of some lines beside its end, `gap` of the axes' height apart, with its marker."""
    axes.margins(y=0.05)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    lines = sorted(lines, key=lambda line: line.get_ydata()[-1])
    ends = [(line.get_ydata()[-1] - low) / (high - low) for line in lines]
    for line, end, height in zip(lines, ends, apart(ends, gap, 0, 1), strict=True):
        colour, marker, place = line.get_color(), line.get_marker(), {"transform": axes.transAxes, "clip_on": False}
        axes.plot([1, 1.03, 1.06], [end, height, height], color=colour, linewidth=0.6, **place)
        axes.plot(1.06, height, marker=marker, color=colour, markersize=5, linestyle="", **face(colour), **place)
        axes.text(1.09, height, line.get_label(), va="center", fontsize=7, **place)


def face(colour, poor=False):
    """Return the look of a marker: filled, or hollow where the fit learned nothing."""
    return {"markerfacecolor": "white" if poor else colour, "markeredgecolor": colour if poor else "white"}


def in_words(statuses):
    """Return the ways in which fits learned nothing, of some statuses; "" where all learned something."""
    return " or ".join(sorted(set(statuses) & set(POOR)))


class PaperFigure(Figure):
    """A figure with fonts that publishers accept, and the same bytes for the same content, wherever it is saved."""

    def savefig(self, *given, **options):
        """Save the figure, as that of matplotlib does."""
        with rc_context(FILE):
            super().savefig(*given, **options)

    def _repr_png_(self):
        """Return the picture that a notebook shows."""
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=80)
        return picture.getvalue()


def new_figure(width, height):
    """Return an empty figure, sized in inches, to be drawn on inside ``rc_context(STYLE)``."""
    return PaperFigure(figsize=(width, height), layout="constrained")


@contextmanager
def framed(width, height, title, note, **style):
    """Give an empty figure to be drawn on, in `STYLE` and what differs from it; put a title above and a note below.

    Both are broken to the width of the figure, and lines of the note stay lines.
    """
    with rc_context(STYLE | style):
        figure = new_figure(width, height)
        yield figure
        figure.suptitle(_wrap(figure, title, 10 * 1.15), x=0.01, ha="left", fontweight="bold", fontsize=10)
        figure.supxlabel(_wrap(figure, note, 7.5), fontsize=7.5, color=GREY, x=0.01, ha="left")


def legend_in(axis, entries, columns):
    """Draw a legend in the place of axes, which keep it clear of the note."""
    axis.set_axis_off()
    axis.legend(
        handles=entries, loc="upper left", ncols=columns, fontsize=8,
        handletextpad=0.3, columnspacing=1.2, borderaxespad=0.0,
    )  # fmt: skip


def take_away(figure, *what):
    """Take the "title" or the "note" of `framed` from a figure, whose axes fill their room."""
    for text in what:
        {"title": figure.suptitle, "note": figure.supxlabel}[text]("")


def _wrap(figure, text, points):
    # A letter of the font is on average a little more than half as wide as it is high.
    letters = int(72 * figure.get_figwidth() * 0.97 / (0.53 * points))
    return "\n".join(textwrap.fill(line, letters, break_on_hyphens=False) for line in text.splitlines())


def symbol(parameter):
    """Return a parameter as the papers print it: alpha and lambda_ in Greek, mu0 with its index."""
    name = parameter.rstrip("_")
    letters = name.rstrip("0123456789")
    return GREEK[letters] + name[len(letters) :].translate(SUBSCRIPT) if letters in GREEK else parameter


def number(value):
    """Return a parameter's value as a text: powers of ten as such, others with the digits that they need."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        exponent = round(np.log10(value))
        if abs(exponent) > 2 and np.isclose(value, 10.0**exponent, rtol=1e-12):
            return "10" + str(exponent).translate(SUPERSCRIPT)
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_svg(figure):
    """Return a figure as the text of an SVG, the same for the same figure."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def apart(heights, gap, low, high):
    """Return the sorted heights nearest to some that are `gap` apart and inside [low, high], where there is room."""
    from scipy.optimize import isotonic_regression  # here, as it takes long to import

    steps = gap * np.arange(len(heights))
    return np.clip(isotonic_regression(np.asarray(heights) - steps).x, low, high - steps[-1]) + steps
