"""A verdict and a note say how many points of its grid a method was run at."""

import pandas as pd
import pytest
from frames import study_of
from paper_studies import RUFS, point, published

from ufs_bench.runners.experiment.method import load_class
from ufs_bench.scripts.compare import compare_studies
from ufs_bench.scripts.compare.headline import is_partial, line_table
from ufs_bench.scripts.compare.tables import line_lines, verdict_lines
from ufs_bench.scripts.core.conf import REPEATS, find, read_group, whole_grid
from ufs_bench.scripts.core.controls import COLUMNS
from ufs_bench.scripts.make_table import study_table

NO_CONTROLS = pd.DataFrame(columns=["paper", *COLUMNS])


def test_the_whole_grid_of_a_paper_has_its_values_of_every_parameter():
    jgufs, fair = find("protocol", "jgufs"), find("protocol", "fair")
    assert (
        whole_grid("jgufs", jgufs) == 343 and whole_grid("jgufs", {}) == 63 and whole_grid("all_features", jgufs) == 1
    )
    assert whole_grid("jgufs", jgufs | {"coarse": True}) == 343
    assert whole_grid("random_rankings", jgufs) == len(find("method", "random_rankings")["grid"]["draw"])
    assert whole_grid("jgufs", fair) is None and whole_grid("of_a_user", jgufs) is None


def test_parameters_that_only_repeat_a_method_are_those_of_the_classes():
    found = {name for content in read_group("method").values() for name in load_class(content["target"]).repeats}
    assert found == set(REPEATS)


def test_a_cell_with_fewer_points_than_its_grid_is_partial():
    rows = [("jgufs", "jaffe", 7), ("jgufs", "mnist", 3), ("jgufs", "usps", 3), ("mcfs", "jaffe", 1)]
    cells = pd.DataFrame(rows, columns=["method", "dataset", "points"]).assign(status="complete")
    cells = cells.assign(grid=cells["method"].map({"jgufs": 343}).astype("Int64"))
    assert is_partial(cells).tolist() == [True, True, True, False]


@pytest.fixture(scope="module")
def study():
    """Return the RUFS paper's own values at one point of each grid, without its cells on ORL."""
    cells = published("rufs")
    names = [name for name in cells.index if name[0] != "orl"]
    return study_of([point(*name, *cells.loc[name]) for name in names], "rufs", RUFS)


def test_a_verdict_on_a_part_of_a_grid_is_provisional_and_counts_what_is_not_run(study):
    comparison = compare_studies({"rufs": study})
    own = comparison[(comparison["method"] == "rufs") & (comparison["dataset"] == "umist")].iloc[0]
    assert own["points"] == 1 and own["grid"] == whole_grid("rufs", study.protocol) > 1
    lines = line_table(comparison, NO_CONTROLS).assign(verdict="reproduced")
    absent = (comparison["left_out"] == "not run") & (comparison["method"] == comparison["published_method"])
    assert set(lines["absent"]) == {absent.sum()} and verdict_lines(lines)[1][0] == "RUFS*"
    assert all("reproduced (provisional)" in row for row in line_lines(lines)[1:])


def test_the_notes_that_fit_into_a_paper_say_where_fewer_points_than_the_grid_were_run():
    points = [("umist", "rufs", 1.0), ("umist", "rufs", 10.0), ("orl", "rufs", 1.0), ("umist", "mcfs", None)]
    rows = [
        point(dataset, method, 40, 40, params={"alpha": value} if value else {}) for dataset, method, value in points
    ]
    made = study_of(rows, "rufs", RUFS)
    notes = [note for note in study_table(made).short if note.startswith("Fewer points")]
    assert notes == ["Fewer points than the grid has, so that its best may lie elsewhere: rufs 1 to 2 of 49."]
    assert not any(note.startswith("Fewer points") for note in study_table(made, "default_params").short)
