"""The functions of `ufs_bench` from Python; docs/python.md shows how."""

import numbers
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

import pandas as pd
from hydra.errors import HydraException
from numpy.typing import ArrayLike

from ufs_bench.datasets import Dataset, load_dataset, scale
from ufs_bench.datasets.given import as_dataset
from ufs_bench.metrics.centred import centred
from ufs_bench.metrics.evaluate import evaluate as evaluate_features
from ufs_bench.metrics.measures import PER_RESTART, PER_SET
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners import arithmetic
from ufs_bench.runners.cli.boundary import words_of
from ufs_bench.runners.cli.choices import OWN_PROTOCOL
from ufs_bench.runners.cli.help import refused
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.kinds import quoted, read_back
from ufs_bench.runners.experiment.settings import OWN, Settings, read_protocol
from ufs_bench.runners.experiment.sweep import cells_of_words
from ufs_bench.runners.messages import ConfigError, counted
from ufs_bench.runners.papers import protocol_words
from ufs_bench.runners.progress import log, printed
from ufs_bench.scripts.core.conf import find, known
from ufs_bench.scripts.core.given import (
    checked_ranking,
    checked_words,
    dataset_of,
    each,
    folder_of,
    offer_dataset,
    offer_method,
)
from ufs_bench.scripts.core.study import Study as Stored
from ufs_bench.scripts.rank.versus import split_by_data, versus
from ufs_bench.study import Study

__all__ = ["as_dataset", "compare", "evaluate", "load_dataset", "open_study", "run"]
Data = str | Dataset | tuple[Any, Any]  # a name of conf/dataset, a data set, or (X, y)
Where = str | PathLike[str] | None
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
    whole = centred(X)
    for size in reached:
        scores, _ = evaluate_features(features[:size], X, data.y, rules, rules.clusters_of(data.n_classes), whole)
        frame = pd.DataFrame(scores.T, columns=[*PER_RESTART, *PER_SET])
        frame[list(PER_SET)] = frame[list(PER_SET)].iloc[0].to_numpy()
        frame.insert(0, "restart", range(len(frame)))
        frame.insert(0, "n_selected", size)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Let other threads wait: Hydra, the limits of a fit and its CPU seconds belong to the whole process."""
    with _RUNNING:
        yield


@_alone()
def run(
    methods: Sequence[Any] | Mapping[str, Any], datasets: Sequence[Any] | Mapping[str, Data],
    protocol: str | None = None, study: str | None = None, results_dir: str | PathLike[str] = RESULTS, n_jobs: int = 1,
    data_dir: Where = None, overrides: Sequence[str] = (), verbose: bool = True, reuse: str = OWN,
) -> Study:  # fmt: skip
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
        Worker processes.  What a notebook defines needs 1, and is fitted in this process.
    data_dir : path, optional
        As in `load_dataset`.
    overrides : list of str
        More words of a command line of run.py, such as ``"protocol.sizes=[5,10]"`` or ``"runner.points=default"``.
    verbose : bool, default=True
        Print what run.py prints.
    reuse : {"own", "shipped", "none"}, default="own"
        Take fits that another study in `results_dir` has, or also those of the shipped results, or none.

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
    given_words = (("study", study), ("data_dir", data_dir))
    words += [f"{name}={quoted(str(value))}" for name, value in given_words if value is not None]
    more = checked_words(overrides)
    if answer := refused([*words, *more]):
        raise ConfigError(f"overrides={more}: {answer}")
    try:
        every = cells_of_words(*words, *more)
    except HydraException as error:
        raise ConfigError(words_of(error)) from error
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


def _cell(settings: Settings, given: Mapping[str, Any]) -> Cell:
    """Return the cell of some settings, with the data that were given under their name, if any."""
    cell = Cell(settings)
    if (data := given[settings.dataset["name"]]) is not None:
        cell.dataset = data
    return cell


def open_study(study: str, results_dir: str | PathLike[str] = RESULTS) -> Study:
    """Return the `Study` of a name: your own results, and the shipped ones that you lack; a ValueError without any."""
    if not study or not isinstance(study, str):
        raise ValueError(f"study={study!r} must be the name of a study, such as 'demo' or 'fair'.")
    return Study(Stored.find(folder_of(results_dir), study).filled())


def compare(
    study: Study | str,
    method: str,
    others: Study | str | None = None,
    metric: str = "acc",
    selection: str = "default_params",
    variants: str = "base",
    results_dir: str | PathLike[str] = RESULTS,
) -> pd.DataFrame:
    """Compare a method with all others on the data sets of both, as ``python -m scripts.rank method=...`` does.

    Parameters
    ----------
    study : Study or str
        The study with the results of the method, or its name, as in `open_study`.
    method : str
        The method.
    others : Study or str, optional
        The study with the other methods, under the same protocol, such as "fair"; by default that of the method.
    metric, selection : str
        The scores that are compared.
    variants : {"base", "all"}, default="base"
        One variant of each of the others, or all.
    results_dir : path, default="results"
        The folder in which the studies are, where names are given.

    Returns
    -------
    DataFrame
        One row per other method and control, the largest gain first: mean, the gain of the method over it in points;
        low and high, a 95 % interval for other data sets, missing with fewer than six; n_datasets, wins, ties, losses;
        p of Wilcoxon's test, and p_holm.

    Raises
    ------
    ValueError
        If the studies have other protocols or data, or no other method, or the method no score.
    """
    mine = _stored(study, results_dir)
    theirs = mine if others is None else _stored(others, results_dir)
    if differences := Protocol(**mine.protocol).differences(Protocol(**theirs.protocol)):
        raise ValueError(f"study={mine.title} and study={theirs.title} differ in protocol {', '.join(differences)}.")
    rivals = set(theirs.trials["method"]) - {method}
    with_method, with_others = mine.part([method], _data_sets(theirs)), theirs.part(rivals, _data_sets(mine))
    if with_method.frame.empty or with_others.frame.empty:
        raise ValueError(
            f"method={method!r} must have results in study={mine.title}, and others in study={theirs.title}, on the "
            "same data sets."
        )
    same, _ = split_by_data(with_others, with_method, _data_sets(with_others))
    found = versus(theirs, with_method, method, same, selection, metric, variants).table
    return found.sort_values("mean", ascending=False, kind="stable").rename_axis("method")


def _stored(study: Study | str, results_dir: str | PathLike[str]) -> Stored:
    return (study if isinstance(study, Study) else open_study(study, results_dir))._stored


def _data_sets(study: Stored) -> list[str]:
    return sorted(study.trials["dataset"].unique())
