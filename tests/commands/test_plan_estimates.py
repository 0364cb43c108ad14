"""The estimates of the plan: who gains by its rule and by nothing else, and what is said of it."""

import numpy as np
import pandas as pd
import pytest
from frames import study_of

from ufs_bench.metrics.study.families import family_means, step_down
from ufs_bench.scripts.core.conf import ROOT, family_of
from ufs_bench.scripts.findings import lacking_lines, plan, sizes
from ufs_bench.scripts.findings.__main__ import main as findings_main

DATA = ["umist", "orl", "allaml", "isolet", "webkb", "coil20", "digits", "micromass"]
SIZES = [10, 25]


def study(gains, data=DATA, bare=()):
    """Return a study in which methods gain so many points in ACC on each data set, at two sizes.

    Where it is nan a method was not run, and where it is infinite it has no score at the second size.  Random rankings
    were not run on those of `bare`.
    """
    rows = []
    for place, name in enumerate(data):
        rows += [
            {"dataset": name, "method": "random_rankings", "params": {"draw": draw}, "is_default": draw == 0,
             "acc": {size: [0.4 + 0.001 * draw] * 2 for size in SIZES}} for draw in range(0 if name in bare else 3)
        ]  # fmt: skip
        for method, own in gains.items():
            if not np.isnan(own[place]):
                score, n_sizes = (0.401 + own[place] / 100, 2) if np.isfinite(own[place]) else (0.5, 1)
                rows.append({"dataset": name, "method": method, "acc": {size: [score] * 2 for size in SIZES[:n_sizes]}})
    return study_of(rows)


def test_the_confirmatory_data_are_tested_alone_and_only_once_all_have_been_run():
    new = plan.datasets_of(plan.CONFIRMATORY)
    assert plan.tested([*DATA, *new]) == list(new)
    assert plan.tested([*DATA, *list(new)[:-1]]) == DATA
    assert plan.tested(DATA) == DATA


SURE = [3.0, 3.2, 2.8, 3.1, 2.9, 3.3, 2.7, 3.0]
MIXED = [5.0, -4.0, 3.0, -6.0, 2.0, -1.0, 4.0, -3.0]


def test_a_gain_is_the_mean_over_sizes_and_p_counts_all_methods_and_scores():
    found = plan.estimates(study({"mcfs": SURE, "udfs": MIXED}))
    families = [family_of(name) for name in DATA]
    assert found.families == dict(zip(DATA, families, strict=True))
    assert found.table.loc[("mcfs", "acc"), "mean"] == pytest.approx(
        family_means(np.array([SURE]).T, families).mean(), abs=1e-6
    )
    np.testing.assert_allclose(found.table["p"], step_down(found.means))
    assert list(found.named(1).index.unique("method")) == ["mcfs"] and found.named(-1).empty


def test_a_data_set_without_random_rankings_is_left_out():
    found = plan.choice_of(study({"mcfs": SURE}, bare=["webkb"]))
    assert found.datasets == sorted(set(DATA) - {"webkb"})
    assert "webkb" not in plan.estimates(study({"mcfs": SURE}, bare=["webkb"])).families


def test_a_claim_names_the_families_without_which_it_is_gone():
    found = plan.estimates(study({"mcfs": SURE}))
    for column in found.named(1).index:
        for family in found.means.index:
            p = pd.Series(step_down(found.means.drop(index=family)), found.means.columns)[column]
            assert (family in found.table.loc[column, "needs"]) == (p > plan.LEVEL)


def test_a_method_that_lacks_families_is_not_among_the_others():
    lacking = [*SURE[:-1], np.nan]
    found = plan.estimates(study({"mcfs": SURE, "udfs": lacking}))
    assert set(found.table.index.unique("method")) == {"mcfs"}
    assert plan.estimates(study({"udfs": [np.nan] * len(DATA)})) is None


def test_a_data_set_that_was_not_run_is_not_among_those_on_which_a_method_ended_without_a_score():
    assert family_of("umist") == family_of("orl")
    gains = {"mcfs": SURE, "udfs": [np.nan, *SURE[1:]], "ndfs": [SURE[0], np.inf, *SURE[2:]]}
    found = plan.estimates(study(gains))
    assert found.not_run == {"udfs": ["umist"]} and found.lacking == {"ndfs": ["orl"]}
    names = {name: name for name in gains}
    assert lacking_lines(found, names)[1:] == [["ndfs", "ORL", ""], ["udfs", "", "UMIST"]]


def test_the_reference_on_the_confirmatory_data_is_the_mean_of_many_random_rankings():
    shipped = pd.read_parquet(ROOT / "results/reference/fair/random_rankings.parquet")
    draws = shipped.groupby("dataset")["params"].nunique()
    assert draws[list(plan.datasets_of(plan.CONFIRMATORY))].min() >= 25


@pytest.mark.parametrize(("study", "why"), [("nope", "has no results in"), ("dgufs", "study=dgufs lacks acsf1")])
def test_the_findings_are_refused_of_other_studies(monkeypatch, capsys, study, why):
    monkeypatch.setattr("sys.argv", ["findings", f"study={study}"])
    with pytest.raises(SystemExit):
        findings_main()
    assert why in capsys.readouterr().err


@pytest.fixture(scope="module")
def found():
    half = study({"mcfs": np.negative(SURE), "ndfs": MIXED}, DATA[:-1])
    twice = study({"mcfs": np.add(SURE, 2), "ndfs": MIXED})
    return sizes.changes(study({"mcfs": SURE, "ndfs": MIXED}), {"half": half, "twice": twice}, DATA)


def test_a_change_is_of_the_data_sets_that_all_three_studies_have(found):
    assert found.loc[("mcfs", "acc"), ("data", "sets")] == len(DATA) - 1
    families = [family_of(name) for name in DATA[:-1]]
    assert found.loc[("mcfs", "acc"), ("data", "families")] == len(set(families))
    means = [np.mean([SURE[n] for n, own in enumerate(families) if own == family]) for family in set(families)]
    assert found.loc[("mcfs", "acc"), ("half", "mean")] == pytest.approx(-2 * np.mean(means), abs=1e-6)
    assert found.loc[("mcfs", "acc"), ("twice", "mean")] == pytest.approx(2, abs=1e-6)
    assert found.loc[("ndfs", "acc"), ("twice", "mean")] == pytest.approx(0, abs=1e-6)
    assert found["half", "mean"].isna().sum() == 14  # all features and six methods were not run


def test_the_table_has_the_gain_and_both_changes(found):
    (row,) = [row for row in sizes.change_lines(found) if row[:2] == ["MCFS", "ACC"]]
    assert row[3].startswith("+3.") and row[4].startswith("-6.") and row[5].startswith("+2.0")
