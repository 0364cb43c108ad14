"""Figures from stored results: ``python -m scripts.make_figure --help``."""

from scripts.core.text import writing
from scripts.make_figure.of_fits import convergence, pixels, surfaces
from scripts.make_figure.of_scores import acc_vs_seconds, acc_vs_size, critical_difference, gains

FIGURES = {
    "acc_vs_size": acc_vs_size,
    "acc_vs_seconds": acc_vs_seconds,
    "gains": gains,
    "critical_difference": critical_difference,
    "surface": surfaces,
    "convergence": convergence,
    "pixels": pixels,
}


def save(figure, path):
    """Write a PNG and a PDF, with the same bytes for the same figure.

    Parameters
    ----------
    figure : Figure
    path : Path
        Without suffix.

    Returns
    -------
    list of Path
    """
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in ("png", "pdf")]
    with writing(files[0]):
        figure.savefig(files[0], dpi=200)
        figure.savefig(files[1], metadata={"CreationDate": None})
    return files
