"""The audit of a study: its tables, and the sentences that follow from them."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from datasets import DataError, load_dataset, scale
from metrics.study import audit
from metrics.study.summary import SELECTIONS, summarise
from runners.repeats import default_trial, load_stability, measure
from runners.store import load_results
from scripts.core.conf import CONF, read
from scripts.core.words import POOR

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
    findings : list of (str, str, str, str)
        Data set, method, claim, detail.
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
        "parameters": audit.parameter_effects(results.trials, n_features),
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
    yield from _inert(tables["parameters"])
    yield from _repeated(tables["distinct"])
    yield from _trivial(tables["overlaps"])
    yield from _hollow(tables["choices"])
    yield from _ends(tables["outcomes"])
    for (dataset, method, optimum), rows in tables["gaps"].groupby(["dataset", "method", "optimum"]):
        gap = _range(100 * rows["gap"], "{:.2f} %")
        yield dataset, method, f"it ends above the optimum of its own objective, which {optimum} reaches", f"by {gap}"
    changes = {"samples": "permuted samples", "columns": "permuted columns", "seed": "new seeds"}
    for row in tables["stability"].itertuples():
        if row.nogueira < UNSTABLE:
            interval = f"Nogueira {row.nogueira:.2f} [{row.low:.2f}, {row.high:.2f}], Jaccard {row.jaccard:.2f}"
            claim = f"the selected features change under {changes[row.change]}"
            yield row.dataset, row.method, claim, f"{row.n_selected} of them: {interval}"


def _inert(parameters):
    for row in parameters.itertuples():
        corrected = (row.shared - row.chance) / (1 - row.chance) if row.chance < 1 else 0.0
        hardly = f"{row.parameter} hardly matters"
        if not row.n_changed:
            claim = f"{row.parameter} is inert, no step along it changes a selected set"
            yield row.dataset, row.method, claim, f"{row.n_steps} steps"
        elif row.n_changed <= HARDLY * row.n_steps:
            claim = f"{hardly}, few steps along it change a selected set"
            yield row.dataset, row.method, claim, f"{row.n_changed} of {row.n_steps}"
        elif corrected >= SAME:
            claim = f"{hardly}, its neighbouring values select nearly the same features"
            yield row.dataset, row.method, claim, f"{row.shared:.0%}, by chance {row.chance:.0%}"


def _repeated(distinct):
    for (dataset, method), rows in distinct.groupby(["dataset", "method"]):
        if rows["n_points"].max() > 1 and (rows["n_distinct"] == 1).all():
            claim = "all points of the grid select the same features at every size"
            yield dataset, method, claim, f"{rows['n_points'].max()} points"


def _trivial(overlaps):
    """A method that is itself the trivial ranking is left out by its name: max_variance and the like are controls."""
    controls = {"max_variance", "min_variance", "min_norm", "first_index", "all_features"}
    rows = overlaps[~overlaps["method"].isin(controls) & (overlaps["chance"] < SAME)]
    corrected = (rows["median"] - rows["chance"]) / (1 - rows["chance"])
    same = rows[corrected >= SAME]
    for (dataset, method, ranking, is_start), found in same.groupby(["dataset", "method", "ranking", "is_start"]):
        what = "its first features, as many as clusters," if is_start else "its features"
        overlap, chance = (_range(found[name], "{:.0%}") for name in ("median", "chance"))
        detail = f"{overlap} of {_range(found['n_selected'], '{:d}')}, by chance {chance}"
        yield dataset, method, f"{what} are those of {ranking}", detail


def _hollow(choices):
    rows = choices[(choices["clusterer"] == "kmeans") & choices["oracle_status"].isin(POOR)]
    for row in rows.itertuples():
        claim = f"the best score of its grid, as judged by the labels, is that of a fit that {row.oracle_status}"
        yield row.dataset, row.method, claim, f"{100 * row.best_over_grid:.1f} %"


def _ends(outcomes):
    for row in outcomes.itertuples():
        for share, what in ((row.collapsed, "collapsed"), (row.diverged, "diverged"), (row.failed, "failed")):
            if share:
                yield row.dataset, row.method, f"fits {what}", f"{share:.0%} of {row.n_trials}"
        if row.max_iter >= 0.5:
            yield row.dataset, row.method, "fits stopped at max_iter", f"{row.max_iter:.0%} of {row.n_trials}"
        if row.rose > 0:
            yield row.dataset, row.method, "the objective rose in traced fits", f"{row.rose:.0%} of {row.n_traced}"


def _range(values, form):
    low, high = form.format(values.min()), form.format(values.max())
    return low if low == high else f"{low} to {high}"


def by_method(findings):
    """The findings of every method, with the data sets on which they hold.

    Parameters
    ----------
    findings : list of (str, str, str, str)
        Data set, method, claim, detail.

    Returns
    -------
    dict
        Method -> dict of claim -> list of (data set, detail), in the order in which they were found.
    """
    grouped = {method: {} for method in sorted({method for _, method, *_ in findings})}
    for dataset, method, claim, detail in findings:
        grouped[method].setdefault(claim, []).append((dataset, detail))
    return grouped


def in_words(places):
    """(data set, detail) as text; a detail that all share is written once."""
    details = {detail for _, detail in places}
    if len(details) == 1:
        return f"{', '.join(dataset for dataset, _ in places)} ({details.pop()}{' each' if len(places) > 1 else ''})"
    return "; ".join(f"{dataset} ({detail})" for dataset, detail in places)


def selection_names():
    """Title of each column of the table of choices."""
    return dict(zip(SELECTIONS, ("oracle", "default", "median", "stability", "silhouette"), strict=True))
