"""The hypotheses of the plan, and their outcomes on studies in which it is known who gains."""

import re

import numpy as np
import pytest
from frames import PROTOCOL, study_of
from test_plan_estimates import SIZES, study

from ufs_bench.datasets import read_spec
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.findings import plan, predictions
from ufs_bench.scripts.rank.choice import base_methods

NEW = list(plan.datasets_of(plan.CONFIRMATORY))
pytestmark = pytest.mark.usefixtures("few_flips")


def noise(mean, seed):
    return mean + np.random.default_rng(seed).normal(0, 1.5, len(NEW))


def rows_of(own, grids=None):
    """Return the rows of the table of outcomes, by the number of the hypothesis."""
    head, *rows = predictions.lines(own, plan.estimates(own), own if grids is None else grids)
    return {int(row[0]): dict(zip(head[2:], row[2:], strict=True)) for row in rows}


@pytest.fixture(scope="module")
def planted():
    few = np.where(np.arange(len(NEW)) < 9, 4.0, np.nan)
    gains = {"socfs": 4, "jgufs": -4, "fssl": 0, "jelsr": 4, "mcfs": 0, "dgufs": -4, "sf2sog": 4, "greedy_css": 0}
    own = {name: noise(mean, seed) for seed, (name, mean) in enumerate(gains.items())}
    return {**own, "ndfs": few}


@pytest.fixture(scope="module")
def own(planted):
    return study(planted, NEW)


def test_the_hypotheses_are_those_of_the_plan():
    text = (ROOT / "docs/plan.md").read_text(encoding="utf-8").split("## Hypotheses")[1]
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    assert [(int(number), words) for number, words, _ in rows] == list(enumerate(predictions.HYPOTHESES, 1))
    counts = [" or ".join(map(str.upper, one.scores)) for one in predictions.METHODS]
    assert [what for *_, what in rows[: len(counts)]] == counts


def test_what_is_planted_is_confirmed_or_contradicted_and_nothing_else(own):
    found, table = rows_of(own), plan.estimates(own).table
    assert {number: found[number]["Outcome"] for number in range(1, 9)} == {
        1: "confirmed", 2: "contradicted", 3: "not confirmed", 4: "confirmed",
        5: "not tested: scores in too few families", 6: "not confirmed", 7: "confirmed", 8: "contradicted",
    }  # fmt: skip
    row = table.loc[("socfs", "acc")]
    assert f"to {row['high']:+.1f}), p = {row['p']:.2g}" in found[1]["ACC"]
    assert found[4]["ACC"] == "" and found[4]["NMI"].startswith("+2.")  # NMI is half of ACC in these studies


def test_a_gain_over_greedy_columns_counts_for_methods_since_2019_alone(planted, own):
    found = rows_of(own)[9]
    assert found["Outcome"] == "contradicted: SF2SOG in ACC and SF2SOG in NMI"  # SOCFS is of 2015
    none = planted | {"sf2sog": planted["jgufs"], "greedy_css": planted["socfs"]}
    found = rows_of(study(none, NEW))[9]
    assert found["Outcome"].startswith("not tested: none of 2 gains, but CAE, DUFS, ")  # most are not there
    assert found["Outcome"].endswith("lack scores in enough families") and "median half-width" in found["ACC"]
    recent = [name for name in base_methods() if predictions.is_recent(name)]
    found = rows_of(study({name: noise(-4.0, seed) for seed, name in enumerate(recent)} | none, NEW))[9]
    assert found["Outcome"] == f"confirmed: none of {len(recent)}"


def with_grids(gain, kept=lambda row: True, changed=lambda row: {}, seeds=1):
    """Return a study of the methods of hypotheses 1 to 8 at three points, the best silhouette gaining so much.

    The rows of fits go through `kept` and `changed`.
    """
    rows = [
        {"dataset": name, "method": "random_rankings", "acc": {size: [0.4] for size in SIZES}} for name in NEW
    ]  # fmt: skip
    for place, name in enumerate(NEW):
        for method in (one.method for one in predictions.METHODS):
            score = {None: 0.41, 1: 0.41 + gain / 100 + 0.001 * (place % 3), 2: 0.41}
            rows += [
                {"dataset": name, "method": method, "params": {"alpha": alpha} if alpha else {}, "nth_seed": seed,
                 "acc": {size: [own] for size in SIZES},
                 "silhouette_all": dict.fromkeys(SIZES, 0.6 if alpha == 1 else 0.4)}
                for alpha, own in score.items() for seed in range(seeds)
            ]  # fmt: skip
    protocol = PROTOCOL | {"seeds": seeds} if seeds > 1 else PROTOCOL
    return study_of([row | changed(row) for row in rows if kept(row)], protocol=protocol)


@pytest.fixture(scope="module")
def whole():
    """Return the study of which nothing is lacking."""
    return with_grids(3.0)


@pytest.mark.parametrize(("gain", "outcome"), [(3.0, "contradicted: "), (-3.0, "confirmed: none of ")])
def test_choices_without_labels_are_tested_where_there_are_grids(gain, outcome, whole):
    own = whole if gain == 3.0 else with_grids(gain)
    found = rows_of(own, own)[10]
    assert found["Outcome"].startswith(outcome)
    assert ("silhouette, all features in ACC" in found["Outcome"]) == (gain > 0)
    assert ("; silhouette, all features, " in found["ACC"] and found["ACC"].endswith(" lose")) == (gain < 0)


LAST = ("sc_celseq2_5cl", "sf2sog")


def of(row, alphas, cell=LAST):
    return (row["dataset"], row["method"]) == cell and row["params"].get("alpha") in alphas


def test_a_choice_takes_only_what_has_a_score_of_every_seed(whole):
    def ended(row):
        return {"status": "timeout"} if of(row, (1,)) and row["nth_seed"] else {}

    gains = predictions.over_defaults(with_grids(3.0, changed=ended, seeds=2)).loc[LAST[0], ("silhouette_all", "acc")]
    all_scored = predictions.over_defaults(whole).loc[LAST[0], ("silhouette_all", "acc")]  # seeds have the same scores
    assert gains == pytest.approx(all_scored * 7 / 8)  # of the 8 methods one takes its default


def test_a_method_of_which_one_point_alone_has_scores_has_nothing_to_choose(whole):
    own = with_grids(3.0, changed=lambda row: {"status": "timeout"} if of(row, (1, 2)) else {})
    column = ("silhouette_all", "acc")
    found, all_scored = (predictions.over_defaults(one)[column] for one in (own, whole))
    np.testing.assert_allclose(found, all_scored)  # and not 7 / 8 of it


def test_only_data_with_grids_count_among_the_families_of_a_choice(whole):
    assert list(predictions.over_defaults(whole).index) == list(plan.datasets_of(predictions.SEARCHED))


def test_where_a_choice_lacks_scores_none_of_the_others_confirms_nothing():
    lacking = with_grids(-3.0, changed=lambda row: {"replication": dict.fromkeys(SIZES, np.nan)})
    found = predictions.no_choice_gains(lacking)[0]
    assert found == "not tested: none of 5 gains, but replication lacks scores in enough families"
    nothing = with_grids(3.0, changed=lambda row: {"status": "timeout"} if row.get("params") else {})
    assert predictions.no_choice_gains(nothing)[0] == "not tested: scores in too few families"


def test_the_data_with_grids_are_the_new_ones_below_a_thousand_samples():
    small = [name for name in NEW if (read_spec(name)["samples"] or 0) < 1000]
    assert set(plan.datasets_of(predictions.SEARCHED)) == set(small)


def test_without_grids_the_last_hypothesis_is_not_tested(own):
    assert rows_of(own)[10]["Outcome"] == "not tested: scores in too few families"


def test_the_year_of_a_method_is_that_of_its_paper():
    years = {name: predictions.year_of(name) for name in ("spca_psd", "socfs", "min_norm", "mine")}
    assert years == {"spca_psd": 2023, "socfs": 2015, "min_norm": 0, "mine": 0}
