"""Gains with half and twice as many clusters as classes, on studies in which it is known what they change by."""

import numpy as np
import pandas as pd
import pytest
from test_findings import setting
from test_plan_estimates import DATA, MIXED, SURE, study

from ufs_bench.metrics.study.families import t_intervals
from ufs_bench.scripts.core.conf import family_of
from ufs_bench.scripts.findings import clusters, plan
from ufs_bench.scripts.findings.findings_page import sentences

FAMILIES = {name: family_of(name) for name in DATA}
OWN = study({"mcfs": SURE, "ndfs": MIXED})


def said(found):
    """Return the sentence on the number of clusters."""
    one = setting({"mcfs": (-1, 1)})._replace(clusters=found, plan=plan.estimates(OWN))
    (text,) = [text for text in sentences([one]) if "true number" in text]
    return text


@pytest.fixture(scope="module")
def found():
    half = study({"mcfs": np.negative(SURE), "ndfs": MIXED}, DATA[:-1])
    twice = study({"mcfs": np.add(SURE, 2), "ndfs": MIXED})
    return clusters.clusters_of(OWN, {"half": half, "twice": twice}, FAMILIES)


def test_a_change_is_of_the_data_sets_that_all_three_studies_have(found):
    assert list(found.families) == DATA[:-1]
    half, twice = found.changes("half"), found.changes("twice")
    means = [np.mean([SURE[DATA.index(name)] for name, own in FAMILIES.items() if own == family and name in DATA[:-1]])
             for family in set(found.families.values())]  # fmt: skip
    assert half.loc[("mcfs", "acc"), "mean"] == pytest.approx(-2 * np.mean(means), abs=1e-6)
    assert twice.loc[("mcfs", "acc"), "mean"] == pytest.approx(2, abs=1e-6)
    assert twice.loc[("ndfs", "acc"), "mean"] == pytest.approx(0, abs=1e-6)
    assert found.gains["half"].isna().sum() == 12  # six methods were not run


def test_what_keeps_its_sign_and_what_holds_0_is_counted(found):
    assert found.kept == (6, 8)  # MCFS changes its sign with half as many, in both scores
    assert found.moved == {"half": (2, 0, 4), "twice": (2, 0, 4)}  # NDFS does not change
    text = said(found)
    assert "6 of 8 keep their sign" in text and "of 7 data sets" in text and "twice as many by 0.0 to +2.0 and" in text
    assert "leaves out 0 for 2 of 4, 0 then nearer to 0 with half as many, and for 2 of 4, 0 then nearer" in text
    (row,) = [row for row in clusters.lines(found) if row[0] == "MCFS"]
    assert row[2].startswith("-3.") and row[3].startswith("+3.") and row[4].startswith("+5.")


def test_a_gain_that_shrinks_without_a_change_of_sign_is_told():
    half, twice = (study({"mcfs": np.multiply(SURE, times), "ndfs": MIXED}) for times in (0.25, 2))
    found = clusters.clusters_of(OWN, {"half": half, "twice": twice}, FAMILIES)
    assert found.kept == (8, 8) and found.moved == {"half": (2, 2, 4), "twice": (2, 0, 4)}
    assert "8 of 8 keep their sign" in said(found) and "0 for 2 of 4, all then nearer to 0 with half" in said(found)


@pytest.mark.parametrize("end, counted", [(-0.04, 0), (-0.06, 16)])
def test_an_end_of_a_change_that_prints_as_0_counts_as_0(end, counted):
    spread = np.array([-1.0, 0.0, 1.0])
    changes = {"classes": 0.0, "half": spread - t_intervals(spread[:, None])[2] + end, "twice": 0.0}
    columns = pd.MultiIndex.from_product([changes, clusters.COUNTED, plan.SCORES])
    means = pd.DataFrame({column: 9 + changes[column[0]] for column in columns}, index=["faces", "genes", "text"])
    found = clusters.Clusters(FAMILIES, means, means["classes"].count())
    assert found.moved == {"half": (counted, counted, 16), "twice": (0, 0, 16)}


def test_what_was_not_run_is_said():
    assert clusters.clusters_of(OWN, {"half": OWN}, FAMILIES) is None
    assert "with another number has not been run" in said(None)
