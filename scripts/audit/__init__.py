"""The audit of a study, with all that its scores do not show: ``python -m scripts.audit --help``."""

from dataclasses import dataclass

import pandas as pd

from ufs_bench.datasets import scale
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import audit
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.scored import scored
from ufs_bench.metrics.study.sets import distinct_sets
from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.scripts.core.conf import read_group
from ufs_bench.scripts.core.data import data_of

USED = "dataset method trial params n_selected features protocol data_sha".split()  # columns that overlaps need


@dataclass(frozen=True)
class Audit:
    """The tables of `make_audit`."""

    tables: dict  # title -> DataFrame, which is empty where there is nothing to say
    notes: list  # the parts that could not be audited, and why


def make_audit(study, metric="acc"):
    """Return the `Audit` of a study's results; overlaps need its data, and nothing is downloaded.

    A ValueError says that nothing is stored under that name, or that the study mixes protocols.
    """
    whole = study.filled().whole
    trials = study.trials
    notes, overlaps, n_features = [], [], {}
    for dataset, rows in whole[USED].groupby("dataset"):  # all columns would be copied for every cell
        data, reason = data_of(rows, study.data_dir)
        if data is None:
            notes.append(f"No overlaps on {dataset}: {reason}")
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
    }
    return Audit(tables, notes)


def _optima():
    files = read_group("method").values()
    return {content["name"]: content["optimum"] for content in files if "optimum" in content}
