"""The loss of a choice without labels."""

import io

import numpy as np
import pandas as pd
import pytest
from frames import frames, store, study_of

from ufs_bench.metrics.study.losses import candidates, losses, mean_losses
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.rank.page import choices_text

FAMILIES = {"umist": "faces", "orl": "objects"}


def cell(dataset, method, accs, **measures):
    """Return one fit scored at three sizes."""
    sizes = (50, 100, 150)
    free = {name: dict(zip(sizes, values, strict=True)) for name, values in measures.items()}
    return {
        "dataset": dataset,
        "method": method,
        "acc": {size: [a, a] for size, a in zip(sizes, accs, strict=True)},
        **free,
    }


def test_a_loss_is_what_the_oracle_has_more():
    study = study_of([
        cell("umist", "mcfs", (0.3, 0.5, 0.4), silhouette=(0.9, 0.1, 0.1), replication=(0.1, 0.9, 0.2)),
        cell("orl", "mcfs", (0.2, 0.2, 0.4), silhouette=(0.9, 0.1, 0.1), replication=(0.1, 0.9, 0.2)),
    ])  # fmt: skip
    found = losses(candidates(study.whole)).set_index(["selection", "dataset"])["loss"]
    assert found["silhouette", "umist"] == pytest.approx(0.2)
    assert found["replication", "umist"] == 0
    assert found["default_params", "umist"] == 0  # at 100
    assert found["largest_size", "orl"] == 0
    assert "best_over_grid" not in found.index.get_level_values(0)
    table = mean_losses(losses(candidates(study.whole)), FAMILIES).set_index("selection")
    assert table.loc["replication", "loss"] == pytest.approx(0.1)
    assert table.loc["silhouette", "smallest"] == 1
    assert table.loc["largest_size", "largest"] == 1
    assert table.loc["silhouette", "low"] <= 0.2 <= table.loc["silhouette", "high"] + 1e-12
    assert set(table.index) < set(BY_NAME)


def test_the_oracle_is_scored_on_restarts_that_did_not_choose_it():
    """Each half of the restarts has its own best size, which is worth .4 and .3 in the other half."""
    lucky = {50: [0.9, 0.3] * 2, 100: [0.4, 0.8] * 2, 150: [0.5, 0.5] * 2}
    study = study_of([{"dataset": "umist", "method": "mcfs", "acc": lucky}])
    found = losses(candidates(study.whole)).set_index("selection")["loss"]
    assert found["largest_size"] == pytest.approx((0.3 + 0.4) / 2 - 0.5)
    assert found["default_params"] == pytest.approx((0.3 + 0.4) / 2 - 0.6)


def test_keeping_all_features_is_a_choice_where_they_were_run():
    everything = {"dataset": "umist", "method": "all_features", "acc": {644: [0.45, 0.45]}, "sizes": [644]}
    study = study_of([cell("umist", "mcfs", (0.3, 0.5, 0.4)), cell("orl", "mcfs", (0.3, 0.5, 0.4)), everything])
    found = losses(candidates(study.whole))
    own = found[found["selection"] == "all_features"].set_index("dataset")["loss"]
    assert own["umist"] == pytest.approx(0.05)
    assert np.isnan(own["orl"])
    assert set(found["method"]) == {"mcfs"}


def test_a_cell_without_a_choice_to_make_and_controls_do_not_count():
    study = study_of([
        cell("umist", "mcfs", (0.5, 0.5, 0.5)),
        cell("umist", "random_rankings", (0.3, 0.5, 0.4)),
        cell("umist", "ndfs", (0.3, 0.5, 0.4)),
    ])  # fmt: skip
    assert set(losses(candidates(study.whole))["method"]) == {"ndfs"}


def test_data_sets_count_alike_however_many_methods_they_have():
    points = [cell("umist", f"m{number}", (0.1, 0.5, 0.4)) for number in range(9)] + [
        cell("orl", "m0", (0.2, 0.2, 0.4))
    ]
    table = mean_losses(losses(candidates(study_of(points).whole)), FAMILIES).set_index("selection")
    assert table.loc["largest_size", "loss"] == pytest.approx((0.1 + 0.0) / 2)


def test_a_cell_without_the_default_says_nothing_of_what_less_a_choice_loses_than_it():
    """Here replication is better than the default by .1 where both choose; elsewhere it loses .5."""
    rows = [("mcfs", "default_params", 0.2), ("mcfs", "replication", 0.1), ("ndfs", "replication", 0.5)]
    found = pd.DataFrame(rows, columns=["method", "selection", "loss"]).assign(study="dgufs", dataset="umist")
    table = mean_losses(found.assign(smallest=False, largest=False), FAMILIES).set_index("selection")
    assert table.loc["replication", ["loss", "gain"]].tolist() == pytest.approx([0.3, 0.1])


def test_a_second_copy_of_a_source_does_not_count(tmp_path):
    store(frames([cell(name, "mcfs", (0.3, 0.5, 0.4)) for name in ("orl", "att")]), tmp_path)
    text = choices_text([Study.open(tmp_path, "dgufs")], "acc")
    assert "1 cell on 1 data set" in text
    assert "(no interval)" in text and " to " not in text.partition("Points that")[0], text  # nor one of no width


def test_of_copies_of_a_source_that_with_the_most_methods_counts_and_no_control(tmp_path):
    names = [("mnist500", "mcfs"), ("mnist500", "ndfs"), ("mnist", "mcfs"), ("mnist500", "min_norm")]
    store(frames([cell(*pair, (0.3, 0.5, 0.4)) for pair in names]), tmp_path)
    found = pd.read_csv(io.StringIO(choices_text([Study.open(tmp_path, "dgufs")], "acc", form="csv")))
    assert set(zip(found["dataset"], found["method"], strict=True)) == {("mnist500", "mcfs"), ("mnist500", "ndfs")}
    assert found["loss"].max() == pytest.approx(20)  # points, as on the page


def test_a_study_whose_fits_all_failed_has_nothing_to_choose(tmp_path):
    failed = [{"dataset": "umist", "method": "mcfs", "status": "failed", "sizes": [50]}]
    store(frames(failed), tmp_path)
    with pytest.raises(ValueError, match="no cell has two candidates that differ in acc"):
        choices_text([Study.open(tmp_path, "dgufs")], "acc")
