"""The functions of `ufs_bench` from Python, and the results of a study; docs/python.md shows how."""

import inspect
import numbers
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from hydra.errors import HydraException
from numpy.typing import ArrayLike

from ufs_bench.datasets import Dataset, load_dataset, scale
from ufs_bench.datasets.given import as_dataset
from ufs_bench.metrics.evaluate import evaluate as evaluate_features
from ufs_bench.metrics.measures import PER_RESTART, PER_SET
from ufs_bench.metrics.study import METRICS
from ufs_bench.runners import arithmetic
from ufs_bench.runners.cli.boundary import words_of
from ufs_bench.runners.cli.choices import OWN_PROTOCOL, quoted, read_back
from ufs_bench.runners.cli.help import refused
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.settings import OWN, read_protocol
from ufs_bench.runners.experiment.sweep import cells_of_words
from ufs_bench.runners.papers import protocol_words
from ufs_bench.runners.progress import log, printed
from ufs_bench.runners.words import counted, did_you_mean
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.given import (
    check_cells,
    check_options,
    checked_ranking,
    checked_words,
    dataset_of,
    each,
    folder_of,
    known,
    offer_dataset,
    offer_method,
)
from ufs_bench.scripts.core.study import Study as Stored
from ufs_bench.scripts.features import features_of
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.make_table import study_table
from ufs_bench.scripts.make_table.formats import to_html
from ufs_bench.scripts.make_table.latex import to_latex
from ufs_bench.scripts.ranks import rank_study
from ufs_bench.scripts.ranks.field import field_of

__all__ = ["Study", "as_dataset", "evaluate", "load_dataset", "open_study", "run"]
Data = str | Dataset | tuple  # a name of conf/dataset, a data set, or (X, y)
Where = str | PathLike | None
NAMED_PROTOCOL = "demo"  # of data sets of conf/
_RUNNING = threading.RLock()
RESULTS = "results"  # in the current folder, as a notebook's user looks for them beside the notebook


def evaluate(
    ranking: ArrayLike,
    dataset: Data,
    protocol: str | None = None,
    sizes: Sequence[int] | None = None,
    data_dir: Where = None,
) -> pd.DataFrame:
    """Score a ranking of features, made anywhere, as a protocol scores every method.

    Parameters
    ----------
    ranking : array-like of int or str
        Numbers of columns from 0, or the names that the data have, best first: all features, or as many as the largest
        size.
    dataset : str, Dataset or tuple
        A name of conf/dataset, or (X, y).
    protocol : str, optional
        A file of conf/protocol; by default "fair" for data of your own, and "demo" for a name of conf/dataset.
    sizes : list of int, optional
        By default those of the protocol that the ranking reaches.
    data_dir : path, optional
        As in `load_dataset`.

    Returns
    -------
    DataFrame
        One row per size and K-means restart: n_selected, restart, and the measures of `metrics.evaluate.evaluate`;
        those that a feature set has once are the same in each of its rows.

    Raises
    ------
    ValueError
        For a number that is repeated, negative or no column, and for sizes below 1 or that the ranking does not reach.
    """
    data = dataset_of(dataset, data_dir)
    protocol = protocol or (NAMED_PROTOCOL if isinstance(dataset, str) else OWN_PROTOCOL)
    rules = read_protocol(find("protocol", known("protocol", protocol)))
    features = checked_ranking(ranking, data.n_features, data.feature_names)
    given = [sizes] if isinstance(sizes, numbers.Number) else sizes
    wanted = list(rules.sizes_on(data.name) if given is None else given)
    whole = all(isinstance(size, numbers.Integral) and not isinstance(size, bool) for size in wanted)
    if not whole or min(wanted, default=0) < 1 or len(set(wanted)) < len(wanted):
        raise ValueError(f"sizes={wanted} must be a list of different whole numbers, 1 or more, such as [50, 100].")
    reached = [size for size in wanted if size <= len(features)]
    if not reached or (sizes is not None and reached != wanted):
        raise ValueError(f"sizes={wanted} must be at most {len(features)}, the length of the ranking.")
    X, frames = scale(data.X, rules.scaling), []
    for size in reached:
        scores, _ = evaluate_features(features[:size], X, data.y, rules, data.clusters)
        frame = pd.DataFrame(scores.T, columns=[*PER_RESTART, *PER_SET])
        frame[list(PER_SET)] = frame[list(PER_SET)].iloc[0].to_numpy()
        frame.insert(0, "restart", range(len(frame)))
        frame.insert(0, "n_selected", size)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@contextmanager
def _alone():
    """Let other threads wait: Hydra, the limits of a fit and its CPU seconds belong to the whole process."""
    with _RUNNING:
        yield


@_alone()
def run(
    methods: Sequence | Mapping[str, Any], datasets: Sequence | Mapping[str, Data], protocol: str | None = None,
    study: str | None = None, results_dir: str | PathLike = RESULTS, n_jobs: int = 1, data_dir: Where = None,
    overrides: Sequence[str] = (), verbose: bool = True, reuse: str = OWN,
) -> "Study":  # fmt: skip
    """Run methods on data sets, as ``python run.py -m`` does, and return the study; what is stored is not run again.

    Calls from several threads wait for each other; `n_jobs` makes use of several processors.

    Parameters
    ----------
    methods : list or mapping of str to method
        Each is a name of conf/method; an estimator, of which a copy with its parameters is run; or a class with
        ``fit(X)`` or a function of X (docs/own_method.md).  In a mapping they have names, else those of their classes.
    datasets : list or mapping of str to data
        Each is a name of conf/dataset, a `Dataset`, or (X, y).
    protocol : str, optional
        A file of conf/protocol; by default "fair" if any of the data are your own, else "demo".
    study : str, optional
        The protocol's name by default.  A study keeps to one protocol.
    results_dir : path, default="results"
        In the current folder.
    n_jobs : int, default=1
        Worker processes; 1 runs here, which what a notebook defines needs.
    data_dir : path, optional
        As in `load_dataset`.
    overrides : list of str
        More words of a command line of run.py, such as ``"protocol.sizes=[5,10]"`` or ``"runner.points=default"``.
    verbose : bool, default=True
        Print what run.py prints.
    reuse : {"own", "shipped"}, default="own"
        Take fits that another study in `results_dir` has, or also those of the shipped results.

    Returns
    -------
    Study

    Raises
    ------
    ConfigError, DataError, StoreError
        Before any fit, where something cannot be run as it is asked for.
    """
    given = each("datasets", datasets, offer_dataset)
    protocol = protocol or (OWN_PROTOCOL if any(data is not None for data in given.values()) else NAMED_PROTOCOL)
    chosen = each("methods", methods, lambda name, method: offer_method(name, method, n_jobs))
    groups = (("method", chosen), ("dataset", given), ("protocol", [known("protocol", protocol)]))
    words = [f"{group}={','.join(map(read_back, names))}" for group, names in groups]
    words += [f"results_dir={quoted(str(folder_of(results_dir)))}", f"runner.n_jobs={n_jobs}"]
    words += [f"runner.reuse={reuse}"] if reuse != OWN else []
    words += [f"{name}={quoted(str(value))}" for name, value in (("study", study), ("data_dir", data_dir)) if value]
    more = checked_words(overrides)
    if answer := refused([*words, *more]):
        raise ConfigError(f"overrides={more}: {answer}")
    try:
        every = cells_of_words(*words, *more)
    except HydraException as error:
        raise ConfigError(words_of(error)) from error
    check_cells(every, more, dataset=given, method=chosen, protocol=[protocol])
    arithmetic.warn_if_late(stacklevel=3)
    with printed(verbose):
        log.info("%s, study %s", protocol_words(protocol), every[0].study)
        for settings in every if len(every) > 1 else ():
            _ = _cell(settings, given).asked  # what a method refuses is said here, before the others are fitted
        for number, settings in enumerate(every):
            cell = _cell(settings, given)  # one at a time, as each holds its data
            if unscored := cell.run(f"cell {number + 1} of {len(every)}: " if len(every) > 1 else ""):
                count, first = counted(len(unscored), "trial"), unscored[0]
                warnings.warn(f"{cell}: {count} without scores, the first: {first['status']}, {first['error']}",
                              stacklevel=3)  # fmt: skip
    return Study(Stored.open(every[0].results_dir, every[0].study).filled())


def _cell(settings, given):
    """Return the cell of some settings, with the data that were given under their name, if any."""
    cell = Cell(settings)
    if (data := given[settings.dataset["name"]]) is not None:
        cell.dataset = data
    return cell


def open_study(study: str, results_dir: str | PathLike = RESULTS) -> "Study":
    """Return the `Study` of a name: your own results, and the shipped ones that you lack; a ValueError without any."""
    if not study or not isinstance(study, str):
        raise ValueError(f"study={study!r} must be the name of a study, such as 'demo' or 'fair'.")
    return Study(Stored.find(folder_of(results_dir), study).filled())


class Study:
    """The results that are stored under the name of a study.

    Attributes
    ----------
    trials : DataFrame
        One row per fit, with the columns of docs/shipped.md that belong to it, and sizes.
    """

    def __init__(self, stored: Stored) -> None:
        self._stored, self.name = stored, stored.name
        self.trials = stored.trials

    def table(self, metric: str | None = None, selection: str = "best_over_grid", **parts: Any) -> pd.DataFrame:
        """Return the means in percent, methods by data sets; `parts` are rows and columns, lists of names."""
        table = self._table(metric, selection, parts)
        values = [[table.cell(row, column)["mean"] for column in table.columns] for row in table.rows]
        return pd.DataFrame(values, index=pd.Index(table.rows.values(), name="method"), columns=table.columns.values())

    def to_latex(self, metric: str | None = None, selection: str = "best_over_grid", **parts: Any) -> str:
        """Return the table that `python -m scripts.make_table study=... format=latex` prints."""
        return to_latex(self._table(metric, selection, parts))

    def plot(self, figure: str = "acc_vs_size", dataset: str | None = None, **options: Any) -> Any:
        """Return a matplotlib figure, one of `scripts.make_figure.FIGURES`, with the options of its function."""
        if figure not in FIGURES:
            raise ValueError(f"figure={figure!r} must be one of {', '.join(FIGURES)}.{did_you_mean(figure, FIGURES)}")
        there = self.trials["dataset"].unique()
        if "dataset" in inspect.signature(FIGURES[figure]).parameters:
            if dataset is None and len(there) > 1:
                raise ValueError(f"dataset=None must be one of {', '.join(there)} for {figure}.")
            options["dataset"] = there[0] if dataset is None else dataset
        check_options(f"figure={figure!r}", FIGURES[figure], options)
        return FIGURES[figure](self._stored, **options)

    def ranks(self, **options: Any) -> pd.DataFrame:
        """Return the average rank of each method over the data sets, from `scripts.ranks.rank_study`.

        `options` are those of `scripts.ranks.field.field_of`, such as metric="nmi".
        """
        check_options("ranks", field_of, options)
        return rank_study(field_of(self._stored, **options)).table

    def features(self, dataset: str | None = None, **options: Any) -> pd.DataFrame:
        """Return the features that methods select, by name, from `scripts.features.features_of`."""
        check_options("features", features_of, options)
        return features_of(self._stored, dataset, **options)

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy frame, one row per feature set, with the columns of docs/shipped.md."""
        return self._stored.whole

    @property
    def scores(self) -> pd.DataFrame:
        """One row per K-means restart of a feature set: trial, dataset, method, n_selected, clusterer, acc and nmi."""
        rows = self.frame[self.frame["acc"].notna()]
        names = ["trial", "dataset", "method", "n_selected", "clusterer"]
        scores = rows.loc[rows.index.repeat(rows["n_restarts"]), names]
        shares = (acc / n for acc, n in zip(rows["acc"], rows["n_samples"], strict=True))
        scores = scores.assign(acc=np.concatenate([[], *shares]), nmi=np.concatenate([[], *rows["nmi"]]))
        scores.insert(5, "restart", [restart for n in rows["n_restarts"] for restart in range(n)])
        return scores.reset_index(drop=True)

    def to_parquet(self, path: str | PathLike) -> None:
        """Write the frame as a file of Parquet."""
        self.frame.to_parquet(path, index=False)

    def __repr__(self) -> str:
        return f"{self._stored.origin()} {counted(len(self.trials), 'trial')}."

    def _repr_html_(self):
        return to_html(self._table(None, "best_over_grid", {}))

    def _table(self, metric, selection, parts):
        if metric not in (None, *(metrics := [*METRICS, "seconds"])):
            raise ValueError(f"metric={metric!r} must be one of {', '.join(metrics)}.{did_you_mean(metric, metrics)}")
        if unknown := sorted(set(parts) - {"rows", "columns", "title"}):
            raise ValueError(f"{unknown[0]!r} is no part of a table: there are rows, columns and title.")
        parts = {
            name: [part] if name != "title" and isinstance(part, str | int) else part for name, part in parts.items()
        }
        return study_table(self._stored, selection, metric, **parts)
