"""A chart of lines as SVG, which takes the colours of the page."""

from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 460, 240, 30, 130, 10, 36  # in its own units
GAP = 14  # between two names at the ends of lines


def lines(series, columns, title):
    """Return a chart: each of `series` has values over `columns`, nan where there is none."""
    values = [number for own in series.values() for number in own if number == number]
    low, high = 5 * (min(values) // 5), 5 * (max(values) // 5 + 1)
    step = (WIDTH - LEFT - RIGHT) / max(len(columns) - 1, 1)

    def y(number):
        return round(TOP + (high - number) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">']
    for tick in range(int(low), int(high) + 1, 5 if high - low <= 30 else 10):
        parts.append(f'<path class="grid" d="M{LEFT} {y(tick)}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(tick) + 4}" text-anchor="end">{tick}</text>')
    for place, name in enumerate(columns):
        parts.append(f'<text x="{LEFT + place * step:.0f}" y="{HEIGHT - 18}" text-anchor="middle">{name}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 3}" text-anchor="middle">features</text>')
    last = float("-inf")
    for place, (name, own) in enumerate(sorted(series.items(), key=lambda pair: -pair[1][-1])):
        points = [f"{LEFT + at * step:.1f},{y(value)}" for at, value in enumerate(own) if value == value]
        last = max(y(own[-1]), last + GAP) if own[-1] == own[-1] else last
        parts.append(f'<g class="line c{place}"><polyline points="{" ".join(points)}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 8}" y="{last + 4}">{escape(name)}</text></g>')
    return "".join([*parts, "</svg>"])
