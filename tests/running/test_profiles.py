"""Seconds of a method on data sets that it was not fitted on, as other methods differ between these."""

import numpy as np
import pandas as pd
import pytest

from ufs_bench.runners.experiment.plan import STUDY, seconds_like_others, seconds_of_defaults
from ufs_bench.runners.store import reference
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.rank.choice import choose, is_control

CAP_S = 600.0  # of the shipped fits


def test_the_seconds_are_those_of_the_methods_that_differ_alike_between_the_known_data_sets(monkeypatch):
    table = pd.DataFrame(
        {"small": [1.0, 10.0, 1.0, 9.0], "large": [10.0, 100.0, 10.0, 9.0], "other": [40.0, 400.0, 40.0, 9.0]},
        index=["grows", "slowly", "mine_released", "flat"],
    )
    monkeypatch.setattr("ufs_bench.runners.experiment.plan.seconds_of_defaults", lambda study, folder: table)
    assert seconds_like_others("mine", {"small": 2.0, "large": 20.0}, "other") == pytest.approx(80, rel=0.02)
    assert seconds_like_others("mine", {"small": 2.0, "large": 2.0}, "other") == pytest.approx(2.0, rel=0.02)
    assert np.isnan(seconds_like_others("mine", {"small": 2.0}, "unknown"))
    assert np.isnan(seconds_like_others("mine", {"unknown": 2.0}, "other"))


@pytest.mark.slow  # it moves with what is shipped alone
def test_shipped_methods_left_out_one_by_one_take_what_their_largest_data_sets_say():
    """Default parameters on three data sets stand for whole grids on all."""
    study = Study.open(None, f"{reference.PREFIX}{STUDY}")
    defaults = seconds_of_defaults(STUDY, reference.SHIPPED)
    datasets = choose(study).datasets
    shapes = study.trials.groupby("dataset")[["n_samples", "n_features"]].first().loc[datasets]
    first = sorted({*shapes.idxmax(), shapes.prod(axis=1).idxmax()})
    assert first == ["pix10p", "sc_celseq2_5cl", "splice"]  # most features, both, most samples
    fits = study.trials[study.trials["dataset"].isin(datasets)].dropna(subset=["fit_s"])
    fits = fits.assign(seconds=fits["fit_s"] + fits["eval_s"].fillna(0))
    ratios = {}
    for method, own in fits.groupby("method"):
        known = defaults.loc[method, first].dropna().to_dict()
        if is_control(method) or not known:
            continue
        planned = 0.0
        for dataset, rows in own.groupby("dataset"):
            planned += len(rows) * (
                known[dataset] if dataset in known else min(seconds_like_others(method, known, dataset), CAP_S)
            )
        ratios[method] = planned / own["seconds"].sum()
    ratios = pd.Series(ratios)
    within = ratios.between(0.5, 2)
    assert len(ratios) >= 40 and within.mean() >= 0.9, ratios[~within].to_dict()
    assert np.exp(np.log(ratios).abs().mean()) < 1.5
