"""The audit of a study, with all that its scores do not show: ``python -m scripts.audit --help``."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from metrics.study import audit
from metrics.study.evaluators import evaluators
from metrics.study.sets import distinct_sets
from metrics.study.summary import SELECTIONS
from runners.repeats import default_trial, load_stability, measure
from scripts.audit.findings import findings
from scripts.core.conf import find, read_group
from scripts.core.data import data_of


@dataclass(frozen=True)
class Audit:
    """The findings of `make_audit`.

    Attributes
    ----------
    tables : dict
        Title -> DataFrame, which is empty where there is nothing to say.
    findings : list of (str, str, str, str)
        Data set, method, claim, detail.
    notes : list of str
        The parts that could not be audited, and why.
    """

    tables: dict
    findings: list
    notes: list


def make_audit(study, metric="acc", stability=0, n_jobs=1):
    """Audit the results of a study.

    Parameters
    ----------
    study : Study
        Overlaps and stability need its data; nothing is downloaded.
    metric : {"acc", "nmi"}, default="acc"
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
    if study.trials.empty:
        folder = Path(study.results_dir) / study.name
        raise ValueError(f"nothing is stored in {folder}: run something with study={study.name} first.")
    results, _ = study.results, study.summary  # a study that mixes protocols is refused before any fit
    notes, overlaps, n_features = [], [], {}
    for dataset, trials in results.trials.groupby("dataset"):
        X, _, reason = data_of(trials, study.data_dir)
        if X is None:
            notes.append(f"No overlaps and no stability on {dataset}: {reason}")
            continue
        n_features[dataset] = X.shape[1]
        rankings = audit.trivial_rankings(X)
        for method, cell in trials.groupby("method"):
            found = audit.trivial_overlaps(cell, rankings)
            overlaps.append(found.assign(dataset=dataset, method=method))
            if stability:
                notes += _measure(cell, X, Path(study.results_dir) / study.name / dataset / method, stability, n_jobs)
    fits = load_stability(study.results_dir, study.name)
    fits = fits[fits["trial"].isin(results.trials["trial"]) & fits["dataset"].isin(n_features)]
    columns = "dataset method ranking n_selected is_start chance median low high".split()
    tables = {
        "distinct": distinct_sets(results.trials),
        "parameters": audit.parameter_effects(results.trials, n_features),
        "overlaps": pd.concat(overlaps, ignore_index=True)[columns] if overlaps else pd.DataFrame(columns=columns),
        "outcomes": audit.outcomes(results.trials, results.traces),
        "movements": audit.movements(results.trials, results.facts),
        "choices": audit.choices({name: study.select(metric, name) for name in SELECTIONS}),
        "evaluators": evaluators(study.summary),
        "gaps": audit.objective_gaps(results.trials, _optima()),
        "stability": audit.stabilities(fits, n_features),
    }
    return Audit(tables, list(findings(tables)), notes)


def _measure(cell, X, folder, repeats, n_jobs):
    """Repeat the fits; list those that could not be repeated."""
    method = folder.name
    content = find("method", method)
    if content is None:
        return [f"No stability of {method}: it is not in conf/method."]
    trial, size = default_trial(cell, content["target"])
    if trial is None:
        return [f"No stability of {method} on {folder.parent.name}: no stored trial at the parameters of its file."]
    if size < X.shape[1]:
        measure(trial, size, X, folder, repeats, n_jobs)
    return []


def _optima():
    files = read_group("method").values()
    return {content["name"]: content["optimum"] for content in files if "optimum" in content}
