"""The methods that are first in each column of the papers' tables are counted, ties and variants too."""

import numpy as np
import pytest
from frames import study_of
from paper_studies import DGUFS, point

from ufs_bench.scripts.compare import compare_studies
from ufs_bench.scripts.compare.first import CLAIMS, claims, own_first, winners


def compared(*points):
    return compare_studies({"dgufs": study_of(list(points), "dgufs", DGUFS)})


def test_the_own_method_is_first_where_no_other_row_has_more():
    scores = {"mcfs": (40.0, 50.0), "ndfs": (45.0, 40.0), "dgufs": (44.0, 60.0)}
    rows = [point("umist", name, *own) for name, own in scores.items()]
    found = own_first(compared(*rows)).set_index("metric")
    assert (
        found["printed"].tolist() == found["n_printed"].tolist() == [6, 6]
    )  # the paper prints itself first everywhere
    assert found["columns"].tolist() == [1, 1] and found.loc[["acc", "nmi"], "first"].tolist() == [0, 1]
    assert found.loc["acc", "rank"] == 2 and found.loc["nmi", "rank"] == 1
    assert found["chance"].tolist() == pytest.approx([1 / 3, 1 / 3])
    first, columns = winners(compared(*rows))
    assert columns == 2 and first.to_dict() == {"ndfs": 1, "dgufs": 1}


def test_a_variant_counts_beside_and_a_released_program_instead():
    rows = [point("umist", "mcfs", 40.0, 50.0), point("umist", "mcfs_released", 47.0, 70.0)]
    rows += [point("umist", "dgufs", 39.0, 40.0), point("umist", "dgufs_normalized", 46.0, 60.0)]
    found = own_first(compared(*rows)).set_index("metric")
    assert found["first"].tolist() == [0, 0] and found["variant"].tolist() == [1, 1]
    assert winners(compared(*rows))[0].to_dict() == {"mcfs": 2}
    more = [*rows[:2], point("umist", "dgufs", 41.0, 60.0)]
    assert winners(compared(*more))[0].to_dict() == {"dgufs": 2}
    assert winners(compared(*more), "released")[0].to_dict() == {"mcfs": 2}


def test_methods_with_the_same_score_are_first_together():
    rows = [point("umist", "mcfs", 40.0, 50.0), point("umist", "dgufs", 40.0, 50.0)]
    assert winners(compared(*rows))[0].to_dict() == {"mcfs": 2, "dgufs": 2}


def test_a_claim_on_few_data_sets_has_no_p():
    rows = [point(name, method, acc, acc) for name, gap in (("umist", 1.0), ("pie10p", -3.0))
            for method, acc in (("mcfs", 40.0), ("ndfs", 40.0 + gap))]  # fmt: skip
    found = claims(compared(*rows)).set_index("words")
    (row,) = found[found.index.str.startswith("one step")].itertuples()
    assert (row.won, row.cells, row.datasets) == (2, 4, 2) and row.gap == pytest.approx(-1.0) and np.isnan(row.p)


def test_the_shipped_tables_have_every_claim_and_each_column_once(comparison):
    found = own_first(comparison[1])
    assert found["printed"].sum() == found["n_printed"].sum() == 56
    assert winners(comparison[1])[1] == found["columns"].sum()
    assert len(claims(comparison[1])) == len(CLAIMS)
