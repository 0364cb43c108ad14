"""What every figure is drawn from, and the words that they share."""

import json
from typing import NamedTuple

import pandas as pd

from runners.store import Results
from scripts.core.conf import names_in_print

PER_SIZE = {
    "best_over_grid": "At every size the best parameters of the grid, chosen with the labels",
    "default_params": "Default parameters",
    "grid_median": "At every size the median over the grid",
    "stability": "At every size the parameters at which the K-means restarts agree most, chosen without labels",
    "silhouette": "At every size the parameters with the largest silhouette, chosen without labels",
}
OVERALL = {
    "best_over_grid": "Best parameters and size of the grid, chosen with the labels",
    "default_params": "Default parameters, at the size nearest to 100",
    "grid_median": "Median over the grid and all sizes",
    "stability": "Parameters and size at which the K-means restarts agree most, chosen without labels",
    "silhouette": "Parameters and size with the largest silhouette, chosen without labels",
}
CLUSTERERS = {"kmeans": "K-means on the selected features", "learned": "the labels that the methods learn"}


class Study(NamedTuple):
    """One study's results.

    Attributes
    ----------
    results : Results
    summary : DataFrame
        From `metrics.study.summary.summarise`.
    data_dir : path or None
        Where data sets are looked for.
    """

    results: Results
    summary: pd.DataFrame
    data_dir: str | None = None


def one(names, option="dataset"):
    """The one name that a figure draws."""
    names = several(names)
    if len(names) != 1:
        example = ",".join(names) or "NAME,NAME"
        raise ValueError(f"{option} must be one name here; for several, a file each: -m {option}={example}")
    return names[0]


def several(names):
    """A name or a list of them as a list."""
    return [names] if isinstance(names, str) else list(names or [])


def printed(group, name):
    """Name in print of a file of conf/."""
    return names_in_print(group).get(name, name)


def protocol_of(study):
    """The protocol of a study."""
    return json.loads(study.summary["protocol"].iloc[0])


def spread(study):
    """What a band or an error bar shows."""
    return f"± std over {protocol_of(study)['restarts']} K-means restarts"


def origin(study):
    """Where the numbers come from, in words."""
    protocol = protocol_of(study)
    return f"Study {study.summary['study'].iloc[0]}, protocol {protocol['name']}, scaling {protocol['scaling']}."
