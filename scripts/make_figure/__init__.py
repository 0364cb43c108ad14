"""Figures from stored results: ``python -m scripts.make_figure --help``."""

from collections.abc import Callable

from matplotlib import rc_context

from ufs_bench.scripts.core.text import writing
from ufs_bench.scripts.make_figure.convergence import convergence
from ufs_bench.scripts.make_figure.curves import acc_vs_seconds, acc_vs_size
from ufs_bench.scripts.make_figure.pixels import pixels
from ufs_bench.scripts.make_figure.ranks import critical_difference, gains
from ufs_bench.scripts.make_figure.style import STYLE
from ufs_bench.scripts.make_figure.surfaces import surfaces

ENDINGS = (".png", ".pdf", ".svg")
FIGURES: dict[str, Callable] = {
    "acc_vs_size": acc_vs_size,
    "acc_vs_seconds": acc_vs_seconds,
    "gains": gains,
    "critical_difference": critical_difference,
    "surface": surfaces,
    "convergence": convergence,
    "pixels": pixels,
}


def save(figure, path):
    """Write a PNG and a PDF in its layout, with the same bytes for the same figure; return their paths.

    An ending of `path` that is one of theirs is left out, and .svg asks for an SVG, too.
    """
    wanted = ENDINGS if path.suffix == ".svg" else ENDINGS[:2]
    path = path.with_suffix("") if path.suffix in ENDINGS else path
    files = [path.with_name(path.name + ending) for ending in wanted]
    with writing(files[0]), rc_context(STYLE):
        figure.savefig(files[0], dpi=200)
        figure.set_layout_engine("none")
        for file, date in zip(files[1:], ("CreationDate", "Date"), strict=False):
            figure.savefig(file, metadata={date: None})
    return files
