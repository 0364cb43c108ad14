"""The audit of a study, with all that its scores do not show: ``python -m scripts.audit --help``."""

from dataclasses import dataclass

import pandas as pd

from ufs_bench.datasets import scale
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import audit
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.scored import scored
from ufs_bench.metrics.study.sets import distinct_sets
from ufs_bench.metrics.study.stability import stabilities
from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.scripts.core.conf import find, read_group
from ufs_bench.scripts.core.data import data_of
from ufs_bench.scripts.core.refits import STABILITY, load_refits

USED = "dataset method trial params n_selected features protocol data_sha".split()  # columns that overlaps need


@dataclass(frozen=True)
class Audit:
    """The tables of `make_audit`."""

    tables: dict  # title -> DataFrame, which is empty where there is nothing to say
    notes: list  # the parts that could not be audited, and why


def make_audit(study, metric="acc", stability=0, n_jobs=1):
    """Return the `Audit` of a study's results; overlaps and stability need its data, and nothing is downloaded.

    `stability` is the number of extra fits of every default point for each kind of change; 0 reads the fits of earlier
    audits only.  A ValueError says that nothing is stored under that name, or that the study mixes protocols.
    """
    if study.filled().is_shipped and stability:
        raise ValueError(study.refusal("stability"))
    whole, _ = study.whole, study.summary  # a study that mixes protocols is refused before any fit
    trials = study.trials
    notes, overlaps, n_features = [], [], {}
    for dataset, rows in whole[USED].groupby("dataset"):  # all columns would be copied for every cell
        data, reason = data_of(rows, study.data_dir)
        if data is None:
            notes.append(f"No overlaps and no stability on {dataset}: {reason}")
            continue
        n_features[dataset], rankings = data.n_features, {}
        for method, cell in rows.groupby("method"):
            protocol = Protocol.from_json(cell["protocol"].iloc[0])
            scaling = protocol.scaling_of(method)
            if scaling not in rankings:
                rankings[scaling] = audit.trivial_rankings(scale(data.X, scaling))
            found = audit.trivial_overlaps(cell, rankings[scaling])
            if len(found):  # a cell may have no selection: no fit came to an end
                overlaps.append(found.assign(dataset=dataset, method=method))
            if stability:
                fits = trials[(trials["dataset"] == dataset) & (trials["method"] == method)]
                notes += _measure(fits, data, protocol, study.folder / dataset / method, stability, n_jobs)
    fits = load_refits(study, STABILITY)
    fits = fits[fits["trial"].isin(trials["trial"]) & fits["dataset"].isin(n_features)]
    columns = "dataset method ranking n_selected is_start chance median low high".split()
    tables = {
        "distinct": distinct_sets(study.summary),
        "parameters": audit.parameter_effects(whole, n_features),
        "overlaps": pd.concat(overlaps, ignore_index=True)[columns] if overlaps else pd.DataFrame(columns=columns),
        "outcomes": audit.outcomes(trials),
        "movements": audit.movements(trials),
        "starts": audit.starts(trials),
        "scored": scored(trials),
        "choices": audit.choices({name: study.select(metric, name) for name in SELECTIONS}),
        "evaluators": percent(audit.evaluators(study.shares)),
        "gaps": audit.objective_gaps(trials, _optima()),
        "stability": stabilities(fits, n_features),
    }
    return Audit(tables, notes)


def _measure(cell, data, protocol, folder, repeats, n_jobs):
    """Repeat the fits; list those that could not be repeated."""
    from ufs_bench.runners.workers.data import Data  # here, as only what fits needs all that a fit does
    from ufs_bench.scripts.refit.stability import default_trial, refit_changed

    method = folder.name
    content = find("method", method)
    if content is None:
        return [f"No stability of {method}: it is not in conf/method."]
    trial, size = default_trial(cell, content["target"])
    if trial is None:
        return [f"No stability of {method} on {folder.parent.name}: no stored trial at the parameters of its file."]
    if size < data.n_features:
        refit_changed(trial, size, Data.scaled(data, protocol, method), folder, repeats, n_jobs)
    return []


def _optima():
    files = read_group("method").values()
    return {content["name"]: content["optimum"] for content in files if "optimum" in content}
