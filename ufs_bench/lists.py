"""What `ufs_bench` can run: its methods, data sets and protocols, as data frames."""

from math import prod
from os import PathLike

import pandas as pd

from ufs_bench.datasets.load import at_hand
from ufs_bench.runners.papers import AUTHORS, PAPERS, YEARS
from ufs_bench.scripts.core.conf import read_group
from ufs_bench.scripts.rank.choice import base_methods, is_control

__all__ = ["list_datasets", "list_methods", "list_protocols"]


def list_methods() -> pd.DataFrame:
    """Return the methods by name.

    Returns
    -------
    DataFrame
        title; kind: "method", "variant" of a method by other settings or code, or "control"; paper; class_name, as in
        ``from ufs_bench import MCFS``; and grid_points, the number of parameter settings of its whole grid.
    """
    base, rows = set(base_methods()), {}
    for name, own in read_group("method").items():
        kind = "control" if is_control(name) else "method" if name in base else "variant"
        points = prod(len(values) for values in (own["grid"] or {}).values())
        paper = own.get("citation") or ""
        rows[name] = [own["paper_name"], kind, paper, own["target"].rpartition(".")[2], points]
    return _frame(rows, ["title", "kind", "paper", "class_name", "grid_points"])


def list_datasets(data_dir: str | PathLike[str] | None = None) -> pd.DataFrame:
    """Return the data sets by name.

    Parameters
    ----------
    data_dir : path, optional
        The folder to look into, as in `load_dataset`.

    Returns
    -------
    DataFrame
        title, family, samples, features, classes, and here: False where `load_dataset` downloads the data first.
    """
    rows = {}
    for name, own in read_group("dataset").items():
        shape = [own[part] for part in ("samples", "features", "classes")]
        rows[name] = [own["paper_name"], own.get("family", ""), *shape, at_hand(name, data_dir)]
    return _frame(rows, ["title", "family", "samples", "features", "classes", "here"])


def list_protocols() -> pd.DataFrame:
    """Return the protocols by name.

    Returns
    -------
    DataFrame
        paper: the paper whose protocol it is, or ""; sizes of the feature sets; scaling of the data; restarts of
        K-means for each feature set; and seeds of each method with a random part.
    """
    rows = {}
    for name, own in read_group("protocol").items():
        paper = f"{PAPERS[name]} ({AUTHORS[name]} {YEARS[name]})" if name in PAPERS else ""
        sizes = ", ".join(map(str, own["sizes"]))
        rows[name] = [paper, sizes, own["scaling"], own["restarts"], own.get("seeds", 1)]
    return _frame(rows, ["paper", "sizes", "scaling", "restarts", "seeds"])


def _frame(rows: dict[str, list[object]], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("name")
