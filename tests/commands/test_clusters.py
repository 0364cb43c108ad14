"""Changes of gains with half and twice as many clusters as classes, on studies in which it is known what they are."""

import numpy as np
import pytest
from test_plan_estimates import DATA, MIXED, SURE, study

from ufs_bench.scripts.core.conf import family_of
from ufs_bench.scripts.findings import sizes


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
