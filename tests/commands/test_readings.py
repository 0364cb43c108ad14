"""Released programs are compared with our solvers on the cells that both have, and only there."""

import numpy as np
import pytest
from paper_studies import point, published, random_rankings, reproduction, study

from ufs_bench.scripts.compare import compare_studies
from ufs_bench.scripts.compare.evidence import LINES, NOT_REPRODUCED, REPRODUCED
from ufs_bench.scripts.compare.headline import weighed
from ufs_bench.scripts.compare.tables import reading_lines, readings, released, with_programs

pytestmark = pytest.mark.usefixtures("without_power")

PROGRAMS = ("mcfs", "udfs", "ndfs", "rufs")


def compared_with(kind, datasets):
    """Return RUFS's paper compared with random rankings, and with another kind of scores for the released programs."""
    rng, cells = np.random.default_rng(1), published("rufs")
    points = [
        point(dataset, f"{method}_released", *kind(cells, dataset, method, rng))
        for dataset in datasets
        for method in PROGRAMS
    ]
    return compare_studies({"rufs": study("rufs", random_rankings, seed=3, more=points)})


@pytest.fixture(scope="module")
def programs():
    return compared_with(reproduction, published("rufs").index.unique("dataset"))


def test_programs_that_reproduce_the_paper_are_told_from_solvers_that_do_not(programs):
    (row,) = reading_lines(readings(programs))[1:]
    paper, cells, ours, theirs, by, nearer, *_, changed = row
    assert (paper, cells) == ("RUFS", "60")
    assert float(theirs) < float(ours) / 2 and int(nearer.split(" of ")[0]) > 40
    gain, low, _, high = by.replace("(", "").replace(")", "").split()
    assert float(gain) == pytest.approx(float(ours) - float(theirs), abs=0.011)
    assert 0 < float(low) < float(gain) < float(high)
    parts = dict(part.split(": ") for part in changed.split("; "))
    assert parts == dict.fromkeys(LINES, f"{NOT_REPRODUCED} to {REPRODUCED}")


def test_the_rows_of_programs_take_the_place_of_ours_and_all_others_stay(programs):
    changed = released(programs)
    own, now = (frame.set_index(["method", "dataset", "metric", "clusterer"])["mean"] for frame in (programs, changed))
    for name in PROGRAMS:
        assert now[name].equals(own[f"{name}_released"])
    assert now["laplacian_score"].equals(own["laplacian_score"])
    assert not {f"{name}_released" for name in PROGRAMS} & set(changed["method"])


def test_readings_are_compared_on_the_cells_that_both_have():
    part = compared_with(reproduction, ["umist", "orl"])
    (found,) = readings(part).values()
    assert found["cells"] == 20  # of two data sets
    both = weighed(part)["rufs"].query("dataset in ['umist', 'orl']")
    assert found["before"]["distance"].value == pytest.approx(both["difference"].abs().mean())


def test_a_reading_with_the_same_scores_changes_nothing(programs):
    own = weighed(programs)["rufs"]
    found = with_programs(own, own)
    assert [found[name] for name in ("cells", "nearer", "differ", "gain")] == [60, 0, 0, (0, 0, 0)]
    _, (*_, ours, theirs, _, nearer, order, other, changed) = reading_lines({"rufs": found})
    assert (nearer, changed) == ("0 of 0", "none") and ours == theirs and order == other
    assert with_programs(own, own[:0]) is None


def test_an_interval_over_data_sets_is_printed_of_three_or_more(programs):
    """Programs are nearer by a point on one half of the data sets, and farther by as much on the other."""
    own = weighed(programs)["rufs"]
    away = own["difference"].abs()
    turns = np.where(own["dataset"].isin(sorted(own["dataset"].unique())[::2]), 1, -1)
    found = with_programs(own.assign(difference=away + 2), own.assign(difference=away + 2 + turns))
    assert found["gain"][1] < 0 < found["gain"][2]
    few = readings(compared_with(reproduction, ["umist", "orl"]))
    assert "(" not in reading_lines(few)[1][4] and "(" in reading_lines({"rufs": found})[1][4]
