"""`scripts.compare.readings`: another reading of a paper is compared on the cells that both have, and only there."""

import numpy as np
import pytest
from paper_studies import point, published, random_rankings, reproduction, rows, study

from ufs_bench.scripts.compare import compare_studies
from ufs_bench.scripts.compare.comparison_page import comparison_page
from ufs_bench.scripts.compare.evidence import CANNOT_TELL, LINES, NOT_REPRODUCED, REPRODUCED
from ufs_bench.scripts.compare.headline import weighed
from ufs_bench.scripts.compare.readings import beside, other_studies, reading_lines, readings, released
from ufs_bench.scripts.compare.readings import programs as of_programs

pytestmark = pytest.mark.usefixtures("without_power")

PROGRAMS = ("mcfs", "udfs", "ndfs", "rufs")


def with_programs(kind, datasets):
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
    return with_programs(reproduction, published("rufs").index.unique("dataset"))


def test_programs_that_reproduce_the_paper_are_told_from_solvers_that_do_not(programs):
    page = comparison_page(programs, full=True)
    (row,) = rows(page, "By another reading")
    paper, reading, cells, ours, theirs, by, nearer, *_, changed = row
    assert (paper, reading, cells) == ("RUFS", "released programs", "60")
    assert float(theirs) < float(ours) / 2 and int(nearer.split(" of ")[0]) > 40
    gain, low, _, high = by.replace("(", "").replace(")", "").split()
    assert float(gain) == pytest.approx(float(ours) - float(theirs), abs=0.011)
    assert 0 < float(low) < float(gain) < float(high)
    parts = dict(part.split(": ") for part in changed.split("; "))
    assert parts == dict.fromkeys(LINES, f"{NOT_REPRODUCED} to {REPRODUCED}")
    cells = nearer.replace(" of ", " of the ")
    counts = f"in 1 of 1 papers, with an interval above 0 in 1 of them, and in {cells} cells whose scores differ."
    assert f"nearer to print than our solvers, on average, {counts}" in " ".join(page.split())


def test_the_rows_of_programs_take_the_place_of_ours_and_all_others_stay(programs):
    changed = released(programs)
    own, now = (frame.set_index(["method", "dataset", "metric", "clusterer"])["mean"] for frame in (programs, changed))
    for name in PROGRAMS:
        assert now[name].equals(own[f"{name}_released"])
    assert now["laplacian_score"].equals(own["laplacian_score"])
    assert not {f"{name}_released" for name in PROGRAMS} & set(changed["method"])


def test_readings_are_compared_on_the_cells_that_both_have():
    part = with_programs(reproduction, ["umist", "orl"])
    (found,) = readings(part, {})
    assert found.n_cells == 20  # of two data sets
    both = weighed(part)["rufs"].query("dataset in ['umist', 'orl']")
    assert found.before["distance"].value == pytest.approx(both["difference"].abs().mean())


def test_a_reading_with_the_same_scores_changes_nothing(programs):
    own = weighed(programs)["rufs"]
    found = beside("rufs", "the same", own, own)
    assert (found.n_cells, found.n_nearer, found.n_differ, found.gain) == (60, 0, 0, (0, 0, 0))
    _, (*_, ours, theirs, _, nearer, order, other, changed) = reading_lines([found])
    assert (nearer, changed) == ("0 of 0", "none") and ours == theirs and order == other
    assert beside("rufs", "none", own, own[:0]) is None


def test_a_study_that_reads_the_data_otherwise_is_beside_the_one_of_its_paper_only():
    words = "the best of ten starts of K-means"
    names = {"jgufs": "reference/jgufs", "rufs": "reference/rufs"}
    assert other_studies(names) == {"jgufs": {words: "reference/jgufs_replicates10"}}
    assert not other_studies({"jgufs": "jgufs_quick"}) and not other_studies({"rufs": "rufs"})
    first, other = (compare_studies({"dgufs": study("dgufs", kind)}) for kind in (random_rankings, reproduction))
    found = readings(first, {("dgufs", words): other})
    _, (paper, reading, _, ours, theirs, *_, changed) = reading_lines(found)
    assert (paper, reading) == ("DGUFS", words) and float(theirs) < float(ours)
    assert changed != "none" and CANNOT_TELL not in changed.replace(f"{CANNOT_TELL} to", "")
    assert of_programs(found) == (0, 0, 0, 0, 0) and reading_lines(readings(first, {})) == []


def test_programs_that_are_nearer_by_less_than_is_printed_are_nearer(programs):
    """The numbers decide, not their two printed decimals."""
    (found,) = readings(programs, {})
    after = found.before | {"distance": found.before["distance"]._replace(value=found.before["distance"].value - 1e-4)}
    assert of_programs([found._replace(after=after)])[:2] == (1, 1)


def test_programs_whose_interval_has_0_in_it_are_not_counted_as_surely_nearer(programs):
    """Programs are nearer by a point on one half of the data sets, and farther by as much on the other."""
    own = weighed(programs)["rufs"]
    away = own["difference"].abs()
    turns = np.where(own["dataset"].isin(sorted(own["dataset"].unique())[::2]), 1, -1)
    found = beside(
        "rufs", "released programs", own.assign(difference=away + 2), own.assign(difference=away + 2 + turns)
    )
    assert found.gain[1] < 0 < found.gain[2] and of_programs([found])[2] == 0
    (few,) = readings(with_programs(reproduction, ["umist", "orl"]), {})
    assert few.gain[1] > 0 and of_programs([few])[2] == 0 and "(" not in reading_lines([few])[1][5]
    assert of_programs([found._replace(after=found.before)])[:2] == (0, 1)
