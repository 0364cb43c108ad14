"""A method with a random part is its distribution over seeds: one point of several fits."""

import numpy as np
import pytest
from frames import PROTOCOL, study_of

from ufs_bench.metrics.study.summary import select
from ufs_bench.scripts.core.papers import TableSpec
from ufs_bench.scripts.make_table import table_cells
from ufs_bench.scripts.rank.field import field_of, rank_study

SEEDED = PROTOCOL | {"seeds": 3}
SCORES = {
    0: {50: [0.2, 0.4], 100: [0.5, 0.5]},
    1: {50: [0.8, 0.8], 100: [0.5, 0.7]},
    2: {50: [0.2, 0.6], 100: [0.3, 0.7]},
}
MEANS = {50: np.mean([30, 80, 40]), 100: np.mean([50, 60, 50])}


def study(leave_out=(), **changed):
    """Return a study of a method with three seeds, and of one without a random part."""
    fits = [{"nth_seed": seed, "acc": acc} | changed.get(f"seed{seed}", {}) for seed, acc in SCORES.items()]
    points = [{"dataset": "umist", "method": "socfs"} | fit for fit in fits if fit["nth_seed"] not in leave_out]
    points.append({"dataset": "umist", "method": "mcfs", "acc": {50: [0.4, 0.5], 100: [0.1, 0.2]}})
    return study_of(points, protocol=SEEDED)


def cell(one, selection="best_over_grid", **how):
    chosen = select(one.summary, "acc", selection, **how)
    return chosen[chosen["method"] == "socfs"].iloc[0]


def test_the_score_of_a_point_is_the_mean_over_its_seeds():
    one = study()
    assert len(one.summary) == 4
    assert len(one.trials) == 4
    chosen = select(one.summary, "acc", "default_params", per_size=True)
    chosen = chosen[chosen["method"] == "socfs"].set_index("n_selected")
    assert chosen["mean"].to_dict() == pytest.approx(MEANS)
    assert cell(one)["mean"] == pytest.approx(MEANS[100])
    assert cell(one)["n_missing"] == 0
    # The best single seed would have chosen 50 features.
    assert cell(one)["n_selected"] == 100


def test_the_spread_over_seeds_stands_apart_from_that_over_restarts():
    seeds = study().seeds.set_index("n_selected")
    assert seeds["n_seeds"].to_dict() == {50: 3, 100: 3}
    assert seeds.loc[50, "acc_std"] == pytest.approx(np.std([30, 80, 40], ddof=1))
    within = [100 * np.std(acc[50], ddof=1) for acc in SCORES.values()]
    own = study().summary.query("method == 'socfs' and n_selected == 50").iloc[0]
    assert own["acc_std"] == pytest.approx(np.sqrt(np.mean(np.square(within))))


def test_objectives_that_go_down_without_end_say_nothing():
    """A warning is an error here."""
    one = study(**{f"seed{seed}": {"objective": -1e308} for seed in SCORES})
    assert cell(one)["mean"] == pytest.approx(MEANS[100])


@pytest.mark.parametrize(
    "one", [study(leave_out=(2,)), study(seed1={"status": "timeout"})], ids=["a seed not run", "a seed without scores"]
)
def test_a_partial_set_of_seeds_is_partial(one):
    names = {"name": "t", "title": "T", "study": "dgufs", "protocol": "dgufs"}
    spec = TableSpec(**names, metric="acc", rows=["mcfs", "socfs"], columns=["umist"])
    cells = table_cells(spec, one, "best_over_grid").set_index("method")
    assert cells["status"].to_dict() == {"mcfs": "complete", "socfs": "partial"}
    assert cell(one)["n_missing"] == 2  # two sizes


def test_a_seed_without_scores_is_counted_with_its_reason_and_the_others_are_averaged():
    one = study(seed0={"status": "timeout"})
    assert cell(one)["n_timeout"] == 2
    assert cell(one)["mean"] == pytest.approx(60)
    assert cell(one)["status"] == "converged"
    assert cell(study(**{f"seed{seed}": {"status": "failed"} for seed in SCORES}))["n_failed"] == 6


def test_one_collapsed_seed_marks_the_point():
    assert cell(study(seed1={"status": "collapsed"}))["status"] == "collapsed"


def test_the_same_seed_twice_is_refused():
    with pytest.raises(ValueError, match="more than once"):
        _ = study(seed1={"nth_seed": 2}).summary


def test_ranks_under_other_starts_are_those_of_the_mean_over_seeds():
    points = []
    for place in range(6):
        name = f"blobs{place}"
        points += [
            {"dataset": name, "method": "socfs", "nth_seed": n, "acc": {50: [a, a]}} for n, a in ((0, 0.9), (1, 0))
        ]
        points.append({"dataset": name, "method": "mcfs", "acc": {50: [0.5, 0.6]}})
    table = rank_study(field_of(study_of(points, protocol=PROTOCOL | {"seeds": 2}))).table
    assert table.loc["socfs", ["average_rank", "low", "high"]].tolist() == [2, 2, 2]
    assert table.loc["mcfs", ["average_rank", "low", "high"]].tolist() == [1, 1, 1]
