"""Figures from stored results: ``python -m scripts.make_figure --help``."""

import json
import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig

from metrics.summary import select, summarise
from runners.store import load_results
from scripts._conf import CONF, names_in_print, unique_names
from scripts._curves import draw_curves, styles

CHOICES = {
    "best_over_grid": "At every size the best parameters of the grid, chosen with the labels",
    "default_params": "Default parameters",
    "grid_median": "At every size the median over the grid",
    "stability": "At every size the parameters at which the K-means restarts agree most, chosen without labels",
    "silhouette": "At every size the parameters with the largest silhouette, chosen without labels",
}
CLUSTERERS = {"kmeans": "K-means on the selected features", "learned": "the labels that the methods learn"}


def acc_vs_size(summary, dataset, *, metric="acc", clusterer="kmeans", selection="best_over_grid", methods=None):
    """A score against the number of features on one data set.

    Parameters
    ----------
    summary : DataFrame
        From `metrics.summary.summarise`, of one study.
    dataset : str
    metric : {"acc", "nmi"}, default="acc"
    clusterer : {"kmeans", "learned"}, default="kmeans"
    selection : str, default="best_over_grid"
        How the parameters are chosen, at every size: one of `metrics.summary.SELECTIONS`.
    methods : list of str, optional
        All that the study has by default.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        When nothing is stored for it.
    """
    colours = styles(summary["method"])
    stored = summary[summary["clusterer"] == clusterer]
    if dataset not in set(stored["dataset"]):
        raise ValueError(
            f"nothing is stored for dataset={dataset!r} and clusterer={clusterer!r}; "
            f"data sets of this study: {', '.join(stored['dataset'].unique()) or 'none'}."
        )
    points = select(stored[stored["dataset"] == dataset], metric, selection, per_size=True).dropna(subset="mean")
    points = points.assign(mean=100 * points["mean"], std=100 * points["std"])
    if methods is not None:
        points = points[points["method"].isin(methods)]
    if points.empty:
        raise ValueError(f"methods={methods} have no scores on {dataset} for selection={selection!r}.")
    names = unique_names("method", points["method"].unique())
    curves = [(names[method], colours[method], curve) for method, curve in points.groupby("method")]
    protocol = json.loads(stored["protocol"].iloc[0])
    spread = f"; bands: ± std over {protocol['restarts']} K-means restarts" if points["std"].notna().any() else ""
    return draw_curves(
        curves,
        points["sizes"].iloc[0],
        title=f"{names_in_print('dataset').get(dataset, dataset)}: {metric.upper()} of {CLUSTERERS[clusterer]}",
        ylabel=f"{metric.upper()} (%)",
        note=f"{CHOICES[selection]}{spread}.\n"
        f"Study {stored['study'].iloc[0]}, protocol {protocol['name']}, scaling {protocol['scaling']}.",
    )


FIGURES = {"acc_vs_size": acc_vs_size}


def save(figure, path):
    """Write a PNG and a PDF that are the same bytes for the same figure.

    Parameters
    ----------
    figure : Figure
    path : Path
        Without suffix.

    Returns
    -------
    list of Path
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in ("png", "pdf")]
    figure.savefig(files[0], dpi=200)
    figure.savefig(files[1], metadata={"CreationDate": None})
    return files


def file_name(figure, dataset, metric, clusterer, selection):
    """Name of a figure's files: what departs from the defaults is in it."""
    parts = [figure.replace("acc", metric), dataset]
    parts += [clusterer] if clusterer != "kmeans" else []
    parts += [selection] if selection != "best_over_grid" else []
    return "_".join(parts)


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="make_figure")
def main(config):
    """Draw the figures that `config` describes and print where they are."""
    if config.figure not in FIGURES:
        sys.exit(f"figure={config.figure} must be one of {', '.join(FIGURES)}.")
    # conf/dataset checks the name; a list of them has none.
    dataset = HydraConfig.get().runtime.choices.get("dataset")
    if dataset is None:
        sys.exit("dataset must be one name; for several, a file each: -m dataset=umist,orl")
    settings = {name: config[name] for name in ("metric", "clusterer", "selection")}
    methods = None if config.methods is None else list(config.methods)
    results = load_results(config.results_dir, study=config.study)
    try:
        figure = FIGURES[config.figure](summarise(results.trials, results.scores), dataset, methods=methods, **settings)
    except ValueError as error:
        sys.exit(f"error: {error}")
    folder = Path(config.results_dir) / config.study / "figures"
    for file in save(figure, folder / file_name(config.figure, dataset, **settings)):
        print(file)


if __name__ == "__main__":
    main()
