"""The hypotheses of the plan, and their outcomes on studies in which it is known who gains."""

import re

import numpy as np
import pytest
from frames import study_of
from test_findings import setting
from test_plan_estimates import SIZES, study

from datasets import read_spec
from scripts.core.conf import ROOT
from scripts.findings import plan, predictions
from scripts.findings.findings_page import sentences
from scripts.ranks.choice import base_methods

NEW = list(plan.datasets_of(plan.CONFIRMATORY))


def noise(mean, seed):
    return mean + np.random.default_rng(seed).normal(0, 1.5, len(NEW))


def rows_of(own, grids=None):
    """Return the rows of the table of outcomes, by the number of the hypothesis."""
    head, *rows = predictions.lines(own, plan.estimates(own), grids)
    return {int(row[0]): dict(zip(head[2:], row[2:], strict=True)) for row in rows}


@pytest.fixture(scope="module")
def planted():
    few = np.where(np.arange(len(NEW)) < 9, 4.0, np.nan)
    gains = {"socfs": 4, "jgufs": -4, "fssl": 0, "jelsr": 4, "mcfs": 0, "dgufs": -4, "sf2sog": 4, "greedy_css": 0}
    own = {name: noise(mean, seed) for seed, (name, mean) in enumerate(gains.items())}
    return {**own, "ndfs": few}


def test_the_hypotheses_are_those_of_the_plan():
    text = (ROOT / "docs/plan.md").read_text(encoding="utf-8").split("## Hypotheses")[1]
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    assert [(int(number), words) for number, words, _ in rows] == list(enumerate(predictions.HYPOTHESES, 1))
    counts = [" or ".join(map(str.upper, one.scores)) for one in predictions.METHODS]
    assert [what for *_, what in rows[: len(counts)]] == counts


def test_what_is_planted_is_confirmed_or_contradicted_and_nothing_else(planted):
    own = study(planted, NEW)
    found, table = rows_of(own), plan.estimates(own).table
    assert {number: found[number]["Outcome"] for number in range(1, 9)} == {
        1: "confirmed", 2: "contradicted", 3: "not confirmed", 4: "confirmed",
        5: "not tested: scores in fewer than 15 families", 6: "not confirmed", 7: "confirmed", 8: "contradicted",
    }  # fmt: skip
    row = table.loc[("socfs", "acc")]
    assert f"half-width {row['high'] - row['mean']:.1f}, p = {row['p']:.2g}" in found[1]["ACC"]
    assert found[4]["ACC"] == "" and found[4]["NMI"].startswith("+2.")  # NMI is half of ACC in these studies


def test_a_gain_over_greedy_columns_counts_for_methods_since_2019_alone(planted):
    found = rows_of(study(planted, NEW))[9]
    assert found["Outcome"] == "contradicted: SF2SOG in ACC and SF2SOG in NMI"  # SOCFS is of 2015
    none = planted | {"sf2sog": planted["jgufs"], "greedy_css": planted["socfs"]}
    found = rows_of(study(none, NEW))[9]
    assert found["Outcome"].startswith("not tested whole: none of 2 gains, and CAE, DUFS, ")  # most are not there
    assert found["Outcome"].endswith("lack scores in 15 families") and "median half-width" in found["ACC"]
    recent = [name for name in base_methods() if predictions.is_recent(name)]
    found = rows_of(study({name: noise(-4.0, seed) for seed, name in enumerate(recent)} | none, NEW))[9]
    assert found["Outcome"] == f"confirmed: none of {len(recent)}"


def with_grids(gain, lacking=None):
    """Return a study of the methods of hypotheses 1 to 8 at two points, the better silhouette gaining so much."""
    rows = [
        {"dataset": name, "method": "random_rankings", "acc": {size: [0.4] for size in SIZES}} for name in NEW
    ]  # fmt: skip
    for place, name in enumerate(NEW):
        for method in (one.method for one in predictions.METHODS):
            score = {None: 0.41, 1: 0.41 + gain / 100 + 0.001 * (place % 3)}
            rows += [
                {"dataset": name, "method": method, "params": {"alpha": alpha} if alpha else {},
                 "acc": {size: [own] for size in SIZES}, "silhouette_all": dict.fromkeys(SIZES, 0.6 if alpha else 0.4)}
                for alpha, own in score.items() if (name, method) != lacking
            ]  # fmt: skip
    return study_of(rows)


@pytest.mark.parametrize(("gain", "outcome"), [(3.0, "contradicted: "), (-3.0, "confirmed: none of ")])
def test_choices_without_labels_are_tested_where_there_are_grids(gain, outcome):
    own = with_grids(gain)
    found = rows_of(own, own)[10]
    assert found["Outcome"].startswith(outcome)
    assert ("silhouette, all features in ACC" in found["Outcome"]) == (gain > 0)


def test_choices_without_labels_wait_until_the_last_cell_has_its_grid():
    found = rows_of(with_grids(0.0), with_grids(3.0, lacking=("sc_celseq2_5cl", "sf2sog")))[10]
    assert found == {"Outcome": "not tested yet: 231 of 232 cells have their grids", "ACC": "", "NMI": ""}


def test_the_data_with_grids_are_the_new_ones_below_a_thousand_samples():
    small = [name for name in NEW if (read_spec(name)["samples"] or 0) < 1000]
    assert set(plan.datasets_of(predictions.SEARCHED)) == set(small)


def test_before_the_data_have_run_nothing_is_said_but_how_many_have(planted):
    some = {name: gains[:5] for name, gains in planted.items()}
    data = [*NEW[:5], "umist", "coil20", "webkb"]
    own = study({name: [*gains, 1.0, 2.0, 3.0] for name, gains in some.items()}, data)
    assert set(rows_of(own)[1]) == {"Outcome"}
    assert {row["Outcome"] for row in rows_of(own).values()} == {"waits: 5 of 35 data sets have been run"}
    assert rows_of(study(planted, NEW))[10]["Outcome"].startswith("needs the grids")


def test_the_status_says_that_the_data_are_new(planted):
    own = study({"socfs": planted["socfs"]}, NEW)
    found = plan.estimates(own)
    told = predictions.lines(own, found)
    first, _, status, _ = sentences([setting({"socfs": (1, 3)})._replace(plan=found, predictions=told)] * 2)[:4]
    assert "SOCFS by +" in first and "p < 0.001) and +" in first
    assert "The 35 data sets are new" in status
    assert "not counted: CAE, " in status and "SOCFS" not in status
    assert "written before, 1 is confirmed and 9 are not tested (each below)" in status
