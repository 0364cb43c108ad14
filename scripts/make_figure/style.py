"""The style of every figure: colours, markers, fonts, the title above and the note below."""

import collections
import functools
import itertools
import textwrap
import zlib
from contextlib import contextmanager

import numpy as np
from matplotlib import rc_context
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from ufs_bench.metrics.study import POOR
from ufs_bench.scripts.core.conf import names

# Okabe & Ito's colours, which most colour-blind readers tell apart, without the yellow that fades on white, and two of
# Tol's; every method also has a marker of its own, so that the figure can be printed in black and white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999933")
MARKERS = "osD^v<>phdPX*8"
# The methods that the papers compare most, each of a colour of its own; the others have shades of these.  What begins
# with such a name is a variant of it, and has a shade of its colour.
FIRST = "mcfs rufs udfs ndfs dgufs laplacian_score eufs jgufs kmeans_ufs".split()
OWN = "#6A3D9A"
REFERENCE = "#666666"
GREY = "#555555"
# A colour map of even lightness, which reads alike with all common kinds of colour vision.
HEAT = "viridis"
SHADES = 3  # of a colour: itself, a dark one, a light one
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


def styles(methods):
    """Return (colour, marker) for each method, the same in every figure of every study; the reference is grey."""
    found = {"all_features": (REFERENCE, ""), **_of_conf()}
    free = [(OWN, marker) for marker in MARKERS]
    for name in sorted(set(methods) - found.keys()):
        if not free:  # the next colour
            free = [pair for pair in itertools.product(COLOURS, MARKERS) if pair not in found.values()]
        found[name] = free.pop(zlib.crc32(name.encode()) % len(free))
    return {name: found[name] for name in ("all_features", *sorted(set(methods) - {"all_features"}))}


@functools.cache
def _of_conf():
    """Return (colour, marker) for each method of conf/method."""
    known = [name for name in names("method") if name != "all_features"]
    variants = {base: [name for name in known if name.startswith(f"{base}_")] for base in FIRST}
    rest = [name for name in known if name not in FIRST and not any(name in own for own in variants.values())]
    # (colour, its shade): a method of the papers has the colour itself.
    places = {base: (number, 0) for number, base in enumerate(FIRST)}
    for base, own in variants.items():
        places |= {name: (places[base][0], 1 + nth % (SHADES - 1)) for nth, name in enumerate(own)}
    count = len(COLOURS)
    places |= {name: (nth % count, 1 + nth // count % (SHADES - 1)) for nth, name in enumerate(rest)}
    # Methods of one colour or of its shades differ in the marker, and those of the first colours do, too.
    found, used = {}, collections.Counter()
    for name, (place, nth) in places.items():
        if name in known:
            found[name] = (shade(COLOURS[place], nth), MARKERS[(place + used[place]) % len(MARKERS)])
            used[place] += 1
    return found


def shade(colour, nth):
    """Return a colour itself (0), a dark shade of it (1), or a light one (2); of a dark colour two light ones."""
    if not nth:
        return colour
    red, green, blue = to_rgb(colour)
    is_dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.3
    white, part = (1.0, 0.3 * nth) if is_dark else (float(nth == 2), 0.4)
    return to_hex([part * white + (1 - part) * value for value in (red, green, blue)])


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
    """Take the "title" or the "note" of `framed` from a figure, and as much of its height."""
    for text in what:
        words, put = {
            "title": (figure.get_suptitle(), figure.suptitle),
            "note": (figure.get_supxlabel(), figure.supxlabel),
        }[text]
        (drawn,) = [artist for artist in figure.texts if artist.get_text() == words]
        inches = drawn.get_window_extent().height / figure.dpi
        put("").set_in_layout(False)
        figure.set_figheight(figure.get_figheight() - inches)


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


def apart(heights, gap, low, high):
    """Return sorted heights, moved to be `gap` apart and inside [low, high] where there is room."""
    placed = np.array(heights, dtype=float)
    for _ in range(500):
        short = gap - np.diff(placed)
        if (short <= 1e-6 * gap).all():
            break
        for index in np.flatnonzero(short > 0):
            shift = (gap - (placed[index + 1] - placed[index])) / 2
            placed[index : index + 2] += [-shift, shift]
        placed[0], placed[-1] = max(placed[0], low), min(placed[-1], high)
    else:  # fifty names at one place; steps that end sooner give the bytes of the stored figures
        from scipy.optimize import isotonic_regression  # here, as few figures need it, and it is slow to import

        steps = gap * np.arange(len(placed))
        starts = isotonic_regression(np.asarray(heights, dtype=float) - steps).x
        placed = np.clip(starts, low, max(high - steps[-1], low)) + steps
    return placed
