"""The figures, the gains and the ranks of the report page."""

import base64
import io
import re
import shlex

import pandas as pd
from matplotlib.lines import Line2D

from metrics.study.ranks import ranks
from metrics.study.summary import SELECTIONS
from runners.place import place_of
from scripts.core.command_lines import MissingResults
from scripts.core.conf import printed, unique_names
from scripts.make_figure.curves import acc_vs_size
from scripts.make_figure.gains import gains as draw_gains
from scripts.ranks import rank_study
from scripts.ranks.choice import choose
from scripts.ranks.field import field_of
from scripts.ranks.gains import paired_gains
from scripts.ranks.ranks_page import OVER, by_family, gain_notes, names_of, rank_notes, without

FIGURE_BYTES = 1_500_000  # largest size of all figures together
MANY_POINTS = 1000  # of one figure: as an image they are smaller than as 150 bytes each
DPI = 150  # of that image
# The text and the axes of `scripts.make_figure.style`, its grid, and the colours of page.css that they are replaced by.
INK = re.compile(r"(fill|stroke): #(?:000000|262626|333333|555555|666666|808080)")
GRID = re.compile(r"stroke: #(?:e3e3e3|cccccc|d3d3d3|b0b0b0)")
BOX = re.compile(r'(<g id="(?:patch|legend)_\d+">\s*<path\b[^>]*style="[^"]*)fill: #ffffff', re.DOTALL)
STYLE = "<style>svg{color:#1c2024}@media(prefers-color-scheme:dark){svg{color:#e6e9ec}}</style>"


def figures(folder, study, selection):
    """Return the study's own figures, or ACC against size; what makes the page too large is left out."""
    shown, left_out, lacking, total = [], [], [], 0
    files = sorted(path for path in folder.glob("**/*") if path.suffix in (".svg", ".png")) if folder.is_dir() else []
    vector = {path.with_suffix("") for path in files if path.suffix == ".svg"}
    for path in (path for path in files if path.suffix == ".svg" or path.with_suffix("") not in vector):
        data = path.read_bytes()
        if total + len(data) * 4 / 3 > FIGURE_BYTES:
            left_out.append(path.name)
            continue
        total += len(data) * 4 / 3
        kind = "svg+xml" if path.suffix == ".svg" else "png"
        shown.append({"name": path.stem.replace("_", " "), "source": _address(data, kind)})
    if not shown and not left_out:
        for dataset in sorted(study.summary["dataset"].unique()):
            try:
                figure = acc_vs_size(study, dataset, selection=selection)
            except MissingResults as error:
                lacking.append(str(error))
                continue
            name = f"ACC against the number of features on {printed('dataset', dataset)}"
            source = _drawn(figure)
            if total + len(source) > FIGURE_BYTES:
                words = ["python", "-m", "scripts.make_figure", "figure=acc_vs_size", f"study={study.name}"]
                left_out.append(f"{name} ({shlex.join([*words, *place_of(study.results_dir)])})")
                break  # the others are as large, and the command draws them all
            total += len(source)
            shown.append({"name": name, "source": source})
    return {"shown": shown, "left_out": left_out, "lacking": lacking}


def _drawn(figure):
    file = io.BytesIO()
    points = [line for line in figure.findobj(Line2D) if line.get_linestyle() == "None"]
    for line in points if len(points) > MANY_POINTS else ():
        line.set_rasterized(True)
    figure.savefig(file, format="svg", metadata={"Date": None}, dpi=DPI)
    return _address(file.getvalue(), "svg+xml")


def _address(data, kind):
    data = themed(data.decode()).encode() if kind == "svg+xml" else data
    return f"data:image/{kind};base64," + base64.b64encode(data).decode()


def themed(svg):
    """Return an SVG of matplotlib with ink of the reader's light or dark scheme, and without white boxes."""
    svg = BOX.sub(r"\1fill: none", svg)
    svg = GRID.sub("stroke: currentColor; stroke-opacity: 0.16", INK.sub(r"\1: currentColor", svg))
    # Text has no colour of its own.
    return re.sub(r"<svg\b([^>]*)>", rf'<svg\1 fill="currentColor">{STYLE}', svg, count=1)


def gains_and_ranks(study, selection):
    """Return gains over controls and ranks, or why there are none, and mean ranks by selection; else None."""
    choice = choose(study)
    means = {name: study.means("acc", name).loc[choice.datasets].dropna(axis=1) for name in SELECTIONS}
    # Results of earlier versions lack the measures of some selections.
    means = {name: frame for name, frame in means.items() if len(frame.columns.intersection(choice.methods)) > 1}
    shared = sorted(set(choice.methods).intersection(*means.values())) if means else []
    if len(shared) < 2 or selection not in means:
        return None
    under = pd.DataFrame({name: ranks(frame[shared]).mean() for name, frame in means.items()})
    return {
        "under": under.sort_values(selection, kind="stable").rename(unique_names("method", shared)),
        "choice": choice,
        "families": by_family(choice.families),
        "gaps": sorted(unique_names("method", set(choice.methods) - set(shared)).values()),
        "tests": _tests(study, selection, shared, choice.datasets),
    }


def _tests(study, selection, methods, datasets):
    try:
        field = field_of(study, "acc", selection, methods=methods, datasets=datasets)
        ranking, gains = rank_study(field), paired_gains(field)
    except ValueError as error:
        return {"refusal": str(error)}
    figure = draw_gains(study, datasets, selection=selection, methods=methods) if gains else None
    return {
        "refusal": "",
        "figure": figure and _drawn(figure),
        "names": names_of(field),
        "over": OVER,
        "ranks": ranking.table,
        "gains": gains,
        "notes": gain_notes(field, gains),
        "rank_notes": rank_notes(ranking.comparison),
        "without": list(without(field)),
    }
