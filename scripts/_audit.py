"""The audit of a study: its tables, and the sentences that follow from them."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets import DataError, load_dataset, scale
from metrics import audit
from metrics.summary import SELECTIONS, summarise
from runners.stability import default_trial, load_stability, measure
from runners.store import load_results
from scripts._conf import CONF, read

# From here on an overlap, corrected for chance, says that two rankings select the same.
SAME = 0.9
HARDLY = 0.2  # of the steps along a parameter
UNSTABLE = 0.75  # Nogueira et al.: above it agreement is excellent


@dataclass(frozen=True)
class Audit:
    """What `make_audit` found.

    Attributes
    ----------
    tables : dict
        Title -> DataFrame; empty ones where there is nothing to say.
    findings : list of (str, str, str)
        Data set, method, sentence.
    notes : list of str
        What could not be looked at, and why.
    """

    tables: dict
    findings: list
    notes: list


def make_audit(results_dir, study, metric="acc", data_dir=None, stability=0, n_jobs=1):
    """Look at everything that the results of a study disclose.

    Parameters
    ----------
    results_dir : path
    study : str
    metric : {"acc", "nmi"}, default="acc"
    data_dir : path, optional
        Where the data are; nothing is downloaded.
    stability : int, default=0
        Extra fits of every default point for each kind of change; 0 reads those of earlier audits only.
    n_jobs : int, default=1

    Returns
    -------
    Audit

    Raises
    ------
    ValueError
        When nothing is stored under that name, or the study mixes protocols.
    """
    results = load_results(results_dir, study=study)
    if results.trials.empty:
        raise ValueError(f"nothing is stored in {Path(results_dir) / study}: run something with study={study} first.")
    summary = summarise(results.trials, results.scores)
    notes, overlaps, n_features = [], [], {}
    for dataset, trials in results.trials.groupby("dataset"):
        X, reason = _data(dataset, trials, data_dir)
        if X is None:
            notes.append(f"No overlaps and no stability on {dataset}: {reason}")
            continue
        n_features[dataset] = X.shape[1]
        rankings = audit.trivial_rankings(X)
        for method, cell in trials.groupby("method"):
            found = audit.trivial_overlaps(cell, rankings)
            overlaps.append(found.assign(dataset=dataset, method=method))
            if stability:
                notes += _measure(cell, X, Path(results_dir) / study / dataset / method, stability, n_jobs)
    fits = load_stability(results_dir, study)
    fits = fits[fits["trial"].isin(results.trials["trial"]) & fits["dataset"].isin(n_features)]
    columns = "dataset method ranking n_selected is_start chance median low high".split()
    tables = {
        "distinct": audit.distinct_sets(results.trials),
        "parameters": audit.parameter_effects(results.trials),
        "overlaps": pd.concat(overlaps, ignore_index=True)[columns] if overlaps else pd.DataFrame(columns=columns),
        "outcomes": audit.outcomes(results.trials, results.traces),
        "choices": audit.choices(summary, metric),
        "gaps": audit.objective_gaps(results.trials, _optima()),
        "stability": audit.stabilities(fits, n_features),
    }
    return Audit(tables, list(_findings(tables)), notes)


def _data(dataset, trials, data_dir):
    """Scaled samples, or None and why: the numbers must be those that the trials were run on."""
    try:
        loaded = load_dataset(dataset, data_dir=data_dir, download=False)
    except DataError as error:
        return None, str(error).splitlines()[0]
    if set(trials["data_sha"]) != {loaded.sha}:
        return None, "the data here are not those of the stored trials."
    return scale(loaded.X, json.loads(trials["protocol"].iloc[0])["scaling"]), ""


def _measure(cell, X, folder, repeats, n_jobs):
    """Fit again; what could not be."""
    method = folder.name
    path = CONF / "method" / f"{method}.yaml"
    if not path.exists():
        return [f"No stability of {method}: it is not in conf/method."]
    trial, size = default_trial(cell, read(path)["target"])
    if trial is None:
        return [f"No stability of {method} on {folder.parent.name}: no stored trial at the parameters of its file."]
    if size < X.shape[1]:
        measure(trial, size, X, folder, repeats, n_jobs)
    return []


def _optima():
    files = (read(path) for path in sorted((CONF / "method").glob("*.yaml")))
    return {content["name"]: content["optimum"] for content in files if "optimum" in content}


def _findings(tables):
    yield from _inert(tables)
    yield from _repeated(tables["distinct"])
    yield from _trivial(tables["overlaps"])
    for row in tables["outcomes"].itertuples():
        for share, what in ((row.collapsed, "collapsed"), (row.diverged, "diverged"), (row.failed, "failed")):
            if share:
                yield row.dataset, row.method, f"{share:.0%} of {row.n_trials} fits {what}"
        if row.max_iter >= 0.5:
            yield row.dataset, row.method, f"{row.max_iter:.0%} of {row.n_trials} fits stopped at max_iter"
        if row.rose > 0:
            yield row.dataset, row.method, f"the objective rose in {row.rose:.0%} of {row.n_traced} traced fits"
    for (dataset, method, optimum), rows in tables["gaps"].groupby(["dataset", "method", "optimum"]):
        low, high = 100 * rows["gap"].min(), 100 * rows["gap"].max()
        gap = f"{low:.2f} %" if low == high else f"{low:.2f} to {high:.2f} %"
        yield dataset, method, f"ends {gap} above the optimum of its own objective, which {optimum} reaches"
    for row in tables["stability"].itertuples():
        if row.nogueira < UNSTABLE:
            names = {"samples": "permuted samples", "columns": "permuted columns", "seed": "new seeds"}
            yield (
                row.dataset,
                row.method,
                (
                    f"under {names[row.change]} the {row.n_selected} selected features change: Nogueira "
                    f"{row.nogueira:.2f} [{row.low:.2f}, {row.high:.2f}], Jaccard {row.jaccard:.2f}"
                ),
            )


def _inert(tables):
    for row in tables["parameters"].itertuples():
        name, changed, steps = row.parameter, row.n_changed, row.n_steps
        if not changed:
            yield row.dataset, row.method, f"{name} is inert: {steps} steps along it change no selected set"
        elif changed <= HARDLY * steps:
            text = f"{name} hardly matters: {changed} of {steps} steps along it change the selected set"
            yield row.dataset, row.method, text


def _repeated(distinct):
    for (dataset, method), rows in distinct.groupby(["dataset", "method"]):
        if rows["n_points"].max() > 1 and (rows["n_distinct"] == 1).all():
            points = rows["n_points"].max()
            yield dataset, method, f"all {points} grid points select the same features at every size"


def _trivial(overlaps):
    """A method that is itself the trivial ranking is left out by its name: max_variance and the like are controls."""
    controls = {"max_variance", "min_variance", "min_norm", "first_index", "all_features"}
    rows = overlaps[~overlaps["method"].isin(controls) & (overlaps["chance"] < 1)]
    corrected = (rows["median"] - rows["chance"]) / (1 - rows["chance"])
    same = rows[corrected >= SAME]
    for (dataset, method, ranking, is_start), found in same.groupby(["dataset", "method", "ranking", "is_start"]):
        sizes = ", ".join(str(size) for size in found["n_selected"])
        what = f"its first {sizes} features, as many as clusters, are" if is_start else f"its {sizes} features are"
        yield (
            dataset,
            method,
            (
                f"{what} those of {ranking}: median overlap {_percents(found['median'])}, by chance "
                f"{_percents(found['chance'])}"
            ),
        )


def _percents(shares):
    low, high = f"{shares.min():.0%}", f"{shares.max():.0%}"
    return low if low == high else f"{low} to {high}"


def selection_names():
    """Title of each column of the table of choices."""
    return dict(zip(SELECTIONS, ("oracle", "default", "median", "stability", "silhouette"), strict=True))
