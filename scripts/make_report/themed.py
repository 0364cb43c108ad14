"""Figures of matplotlib in the colours of the page they are on, which may be dark."""

import re

# The text and the axes of `scripts.make_figure.style`, its grid, and the colours of page.css that they are replaced by.
INK = re.compile(r"(fill|stroke): #(?:000000|262626|333333|555555|666666|808080)")
GRID = re.compile(r"stroke: #(?:e3e3e3|cccccc|d3d3d3|b0b0b0)")
BOX = re.compile(r'(<g id="(?:patch|legend)_\d+">\s*<path\b[^>]*style="[^"]*)fill: #ffffff', re.DOTALL)
STYLE = "<style>svg{color:#1c2024}@media(prefers-color-scheme:dark){svg{color:#e6e9ec}}</style>"


def themed(svg):
    """Return an SVG of matplotlib with ink of the reader's light or dark scheme, and without white boxes."""
    svg = BOX.sub(r"\1fill: none", svg)
    svg = GRID.sub("stroke: currentColor; stroke-opacity: 0.16", INK.sub(r"\1: currentColor", svg))
    # Text has no colour of its own.
    return re.sub(r"<svg\b([^>]*)>", rf'<svg\1 fill="currentColor">{STYLE}', svg, count=1)
