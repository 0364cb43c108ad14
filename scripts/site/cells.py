"""Drawn bars and lines over sizes, as HTML that follows the colours of the page; the tables are in cells.j2."""

from markupsafe import Markup, escape

from scripts.core.text import signed as printed_gain

REACH = 12  # points from the middle of a bar to its ends: most intervals are within
WORDS = {1: "▲ gains", -1: "▼ loses", 0: ""}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 440, 240, 30, 110, 10, 36  # of a chart of lines, in its own units
GAP = 14  # between two names at the ends of lines


def signed(value):
    """Return a gain as a text with its sign."""
    return printed_gain(value).replace("-", "−")


def place(value):
    """Return where a gain is on its bar, in percent."""
    return f"{50 * (1 + max(-1, min(1, value / REACH))):.1f}"


def gain(mean, low=None, high=None, sign=0, whole=False):
    """Return a cell with a gain, its bar and its interval; empty where the mean is nan.

    `sign` says whether it is marked as a gain (1) or a loss (-1).  With `whole` the bar goes from 0 to the mean.
    """
    if mean != mean:
        return Markup('<td class="n gain" data-v=""></td>')
    low, high = (None, None) if low is None or low != low else (low, high)
    ends = (min(mean, 0), max(mean, 0)) if whole else (mean, mean) if low is None else (low, high)
    interval = "" if low is None else f"<small>{signed(low)} to {signed(high)}</small>"
    words = f"<em>{WORDS[sign]}</em>" if sign else ""
    kind = {1: " gains", -1: " loses", 0: ""}[sign]
    return Markup(
        f'<td class="n gain{kind}" data-v="{mean:.2f}"><i class="bar" style="--m:{place(mean)};--l:{place(ends[0])};'
        f'--h:{place(ends[1])}"></i><b>{signed(mean)}</b>{interval}{words}</td>'
    )


def lines(series, columns, title):
    """Return a chart as SVG: each of `series` is a name and its values over `columns`, nan where it has none."""
    values = [number for _, own in series for number in own if number == number]
    if not values or not columns:
        return Markup("")
    low, high = 5 * (min(values) // 5), 5 * (max(values) // 5 + 1)
    step = 5 if high - low <= 30 else 10

    def x(column):
        return LEFT + (column / (len(columns) - 1) if len(columns) > 1 else 0.5) * (WIDTH - LEFT - RIGHT)

    def y(number):
        return TOP + (high - number) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">']
    for tick in range(int(low), int(high) + 1, step):
        parts.append(f'<path class="grid" d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    for column, name in enumerate(columns):
        parts.append(f'<text x="{x(column):.1f}" y="{HEIGHT - 18}" text-anchor="middle">{name}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 3}" text-anchor="middle">features</text>')
    last = float("-inf")
    ends = sorted(((y(own[-1]), number) for number, (_, own) in enumerate(series) if own[-1] == own[-1]))
    heights = {}
    for height, number in ends:
        heights[number] = last = max(height, last + GAP)
    for number, (name, own) in enumerate(series):
        known = [(x(column), y(score)) for column, score in enumerate(own) if score == score]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in known)
        parts.append(f'<g class="line c{number % 8}"><polyline points="{points}"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in known]
        if number in heights:
            parts.append(f'<text x="{WIDTH - RIGHT + 8}" y="{heights[number] + 4:.1f}">{escape(name)}</text>')
        parts.append("</g>")
    return Markup("".join([*parts, "</svg>"]))
