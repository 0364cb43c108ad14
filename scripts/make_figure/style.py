"""The style of every figure: colours, markers, fonts, the title above and the note below."""

import textwrap

import numpy as np
from matplotlib.figure import Figure

# Okabe & Ito's colours, which most colour-blind readers tell apart, without the yellow that fades on white, and two of
# Tol's; every method also has a marker of its own, so that the figure can be printed in black and white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#999933")
MARKERS = "osD^v<>phd"
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
    "pdf.fonttype": 42,
}
WIDTH = 6.8
NARROW = 5.0  # panels of a narrower figure are below each other
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "zeta": "ζ", "eta": "η", "lambda": "λ", "mu": "μ", "nu": "ν",
    "rho": "ρ", "sigma": "σ", "tau": "τ",
}  # fmt: skip
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def styles(methods):
    """Return a colour and a marker for each method, the same in every figure of a study.

    Parameters
    ----------
    methods : iterable of str
        All that the study has.

    Returns
    -------
    dict
        Method -> (colour, marker).  All features, the reference, are grey.
    """
    others = sorted(set(methods) - {"all_features"})
    pairs = {name: (COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(others)}
    return {"all_features": (REFERENCE, ""), **pairs}


def new_figure(width, height):
    """Return an empty figure, sized in inches, to be drawn on inside ``rc_context(STYLE)``."""
    return Figure(figsize=(width, height), layout="constrained")


def frame(figure, title, note):
    """Put a title above and a note below, broken to the width of the figure.

    Parameters
    ----------
    figure : Figure
    title, note : str
        Lines of the note stay lines.
    """
    figure.suptitle(_wrap(figure, title, 10 * 1.15), x=0.01, ha="left", fontweight="bold", fontsize=10)
    figure.supxlabel(_wrap(figure, note, 7.5), fontsize=7.5, color=GREY, x=0.01, ha="left")


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
    return placed
