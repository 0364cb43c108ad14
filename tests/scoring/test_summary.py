"""The numbers of a table from trials and scores."""

import json

import numpy as np
import pandas as pd
import pytest
from frames import PROTOCOL, frames, study_of

from ufs_bench.metrics.study.summary import SELECTIONS, select, summarise
from ufs_bench.runners.store.tidy import tidy


def cell(points, selection="best_over_grid", metric="acc", clusterer="kmeans"):
    """Return the single selected row of `points`, which are all of one data set and method."""
    summary = study_of([{"dataset": "umist", "method": "mcfs", **point} for point in points]).summary
    chosen = select(summary, metric, selection)
    return chosen[chosen["clusterer"] == clusterer].iloc[0]


def test_summary_has_mean_and_sample_std_over_restarts():
    fits = frames([{"dataset": "umist", "method": "mcfs", "acc": {100: [0.7] * 3, 50: [0.4, 0.6, 0.5]}}])
    summary = summarise(tidy(fits))
    assert summary["n_selected"].tolist() == [50, 100]
    assert summary["acc_mean"].tolist() == pytest.approx([0.5, 0.7])
    assert summary["acc_std"].tolist() == pytest.approx([0.1, 0])
    assert summary["nmi_mean"].tolist() == pytest.approx([0.25, 0.35])
    assert summary["n_restarts"].tolist() == [3, 3]


def test_learned_labels_are_a_row_of_their_own_without_std():
    points = [{"acc": {50: [0.4, 0.6]}, "learned": {50: 0.8}}]
    learned, kmeans = cell(points, clusterer="learned"), cell(points)
    assert (learned["mean"], learned["n_restarts"], kmeans["mean"]) == (80, 1, 50)
    assert np.isnan(learned["std"])
    assert kmeans["std"] == pytest.approx(np.std([40, 60], ddof=1))


def test_best_over_grid_is_the_largest_mean_of_all_points():
    rng = np.random.default_rng(0)
    points = [{"params": {"ridge": i}, "acc": {s: rng.random(4).tolist() for s in (50, 100, 300)}} for i in range(5)]
    chosen = cell(points)
    means = {(i, s): np.mean(values) for i, point in enumerate(points) for s, values in point["acc"].items()}
    best = max(means, key=means.get)
    assert chosen["mean"] == pytest.approx(100 * means[best])
    assert (json.loads(chosen["params"])["ridge"], chosen["n_selected"]) == best


def test_each_metric_chooses_for_itself():
    point = {"dataset": "umist", "method": "mcfs", "acc": {50: [0.4, 0.6], 100: [0.5, 0.9]}, "nmi": {50: [0.9, 0.9]}}
    summary = summarise(tidy(frames([point])))
    assert select(summary, "acc")["n_selected"].tolist() == [100]
    assert select(summary, "nmi")["n_selected"].tolist() == [50]


def test_equal_means_go_to_fewer_features_and_then_to_the_first_params():
    point = {"acc": {100: [0.1, 0.5], 50: [0.5, 0.1]}}  # equal, though their sums round differently
    chosen = cell([{"params": {"ridge": 2}, **point}, {"params": {"ridge": 1}, **point}])
    assert (chosen["n_selected"], chosen["params"]) == (50, '{"ridge": 1}')


def test_default_params_take_the_size_nearest_to_100_whatever_scores_best():
    sizes = {size: [size / 1000] * 2 for size in PROTOCOL["sizes"]}
    chosen = cell(
        [{"acc": sizes}, {"params": {"ridge": 9}, "acc": {size: [0.9] * 2 for size in sizes}}], "default_params"
    )
    assert (chosen["n_selected"], chosen["mean"], chosen["params"]) == (100, 10, "{}")


def test_of_two_sizes_equally_near_to_100_the_smaller_is_the_default():
    protocol = {**PROTOCOL, "sizes": [50, 150]}
    points = [{"dataset": "umist", "method": "mcfs", "acc": {50: [0.1], 150: [0.2]}}]
    summary = study_of(points, protocol=protocol).summary
    assert select(summary, selection="default_params")["n_selected"].tolist() == [50]


def test_sizes_above_the_number_of_features_do_not_count_as_the_default():
    points = [
        {"dataset": "digits", "method": "all_features", "acc": {64: [0.5]}},
        {"dataset": "digits", "method": "mcfs", "acc": {50: [0.3]}},
    ]
    chosen = select(study_of(points).summary, selection="default_params").set_index("method")
    assert chosen["n_selected"].to_dict() == {"all_features": 64, "mcfs": 50}


def test_a_default_that_has_not_run_is_missing_and_not_replaced():
    assert np.isnan(cell([{"params": {"ridge": 1}, "acc": {100: [0.9]}}], "default_params")["mean"])
    # One trial per size: another method shows that size 100 belongs to the data set.
    points = [
        {"dataset": "umist", "method": "dgufs", "acc": {50: [0.3]}},
        {"dataset": "umist", "method": "mcfs", "acc": {50: [0.4], 100: [0.4]}},
    ]
    chosen = select(study_of(points).summary, selection="default_params").set_index("method")["mean"]
    assert np.isnan(chosen["dgufs"])
    assert chosen["mcfs"] == 40


def test_grid_median_is_over_all_points_and_has_no_size():
    chosen = cell([{"params": {"ridge": i}, "acc": {50: [i / 10], 100: [i / 5]}} for i in range(3)], "grid_median")
    assert chosen["mean"] == pytest.approx(np.median([0, 10, 20, 0, 20, 40]))
    assert np.isnan(chosen["std"])
    assert pd.isna(chosen["n_selected"])


@pytest.mark.parametrize("selection", SELECTIONS)
def test_failed_trials_are_counted_and_never_chosen(selection):
    failed = {"params": {"ridge": 5}, "status": "failed", "sizes": [50, 100]}
    chosen = cell([{"acc": {50: [0.3], 100: [0.3]}}, failed], selection)
    assert chosen["mean"] == 30
    assert chosen[["n_params", "n_points", "n_failed", "n_missing"]].tolist() == [2, 2, 2, 2]
    chosen = cell([failed], selection)
    assert np.isnan(chosen["mean"])
    assert chosen["n_points"] == 0


def test_a_grid_point_that_lacks_a_size_shows():
    chosen = cell([{"acc": {50: [0.3], 100: [0.3]}}, {"params": {"ridge": 1}, "acc": {50: [0.3]}}])
    assert chosen[["n_points", "n_failed", "n_missing"]].tolist() == [3, 0, 1]


def test_sizes_that_no_trial_of_a_method_has_reached_yet_show():
    points = [
        {"dataset": "umist", "method": "dgufs", "params": {"alpha": alpha}, "acc": {50: [0.3]}} for alpha in (1, 10)
    ]
    points.append({"dataset": "umist", "method": "mcfs", "acc": {50: [0.4], 100: [0.4]}})
    points.append({"dataset": "umist", "method": "all_features", "acc": {644: [0.4]}})
    chosen = select(study_of(points).summary).set_index("method")["n_missing"]
    assert chosen.to_dict() == {"all_features": 0, "dgufs": 2, "mcfs": 0}


def test_a_failed_trial_is_missing_from_the_learned_labels_too():
    points = [{"acc": {50: [0.3]}, "learned": {50: 0.5}}, {"params": {"a": 1}, "status": "failed", "sizes": [50]}]
    assert cell(points, clusterer="learned")["n_missing"] == 1


def test_one_number_per_size_on_request():
    points = [
        {"dataset": "umist", "method": "mcfs", "params": {"a": i}, "acc": {50: [i / 4], 100: [-i / 4]}} for i in (1, 2)
    ]
    summary = study_of(points).summary
    best = select(summary, selection="best_over_grid", per_size=True)
    assert best[["n_selected", "mean"]].values.tolist() == [[50, 50], [100, -25]]
    median = select(summary, selection="grid_median", per_size=True)
    assert median["mean"].tolist() == pytest.approx([37.5, -37.5])
    assert median["n_selected"].tolist() == [50, 100]


def test_protocols_are_not_mixed():
    one = frames([{"dataset": "umist", "method": "mcfs", "acc": {50: [0.3]}}])
    other = frames([{"dataset": "orl", "method": "mcfs", "acc": {50: [0.3]}}], protocol={**PROTOCOL, "seed": 1})
    both = pd.concat([tidy(one), tidy(other)])
    with pytest.raises(ValueError, match=r"mixes 2 protocols \(seed: 0 or 1\)"):
        summarise(both)


def test_two_data_sets_of_one_name_are_refused():
    point = {"dataset": "mine", "acc": {50: [0.3]}}
    rows = [{**point, "method": "mcfs", "data_sha": "a"}, {**point, "method": "udfs", "data_sha": "b"}]
    with pytest.raises(
        ValueError, match="2 data sets that were called 'mine': that of mcfs is another one than that of"
    ):
        summarise(tidy(frames(rows)))
    assert len(summarise(tidy(frames([{**row, "data_sha": "a"} for row in rows])))) == 2


def test_one_point_of_two_versions_of_the_data_is_refused():
    point = {"dataset": "umist", "method": "mcfs", "acc": {50: [0.3]}}
    with pytest.raises(ValueError, match="mcfs on umist .* more than once"):
        study_of([point, point]).summary  # noqa: B018


def test_nothing_stored_gives_empty_frames():
    assert select(summarise(tidy(frames([])))).empty


def test_unknown_choices_list_the_options():
    summary = study_of([]).summary
    with pytest.raises(ValueError, match="metric='ari' must be one of acc, nmi"):
        select(summary, "ari")
    with pytest.raises(
        ValueError, match="selection='best' must be one of best_over_grid, default_params, largest_size"
    ):
        select(summary, selection="best")


@pytest.mark.parametrize("selection", ["stability", "silhouette"])
def test_a_choice_without_labels_follows_its_criterion_and_not_the_scores(selection):
    criterion = {"stability": "agreement", "silhouette": "silhouette"}[selection]
    points = [
        {"params": {"ridge": 1}, "acc": {50: [0.9, 0.8], 100: [0.7, 0.6]}, criterion: {50: 0.1, 100: 0.2}},
        {"params": {"ridge": 2}, "acc": {50: [0.3, 0.2], 100: [0.5, 0.4]}, criterion: {50: 0.9, 100: 0.3}},
    ]
    chosen = cell(points, selection)
    assert (chosen["mean"], chosen["n_selected"], chosen["params"]) == (25, 50, '{"ridge": 2}')
    rng = np.random.default_rng(0)
    others = [{**point, "acc": {size: rng.random(2).tolist() for size in point["acc"]}} for point in points]
    assert cell(others, selection)["params"] == chosen["params"]


def test_equal_criteria_go_to_fewer_features_and_then_to_the_first_params():
    point = {"acc": {100: [0.9, 0.9], 50: [0.1, 0.1]}, "agreement": {50: 0.1 + 0.2, 100: 0.3}}
    chosen = cell([{"params": {"ridge": 2}, **point}, {"params": {"ridge": 1}, **point}], "stability")
    assert (chosen["n_selected"], chosen["params"]) == (50, '{"ridge": 1}')


def test_learned_labels_are_those_of_the_trial_that_the_criterion_chose():
    points = [
        {"params": {"ridge": i}, "acc": {50: [0.5, 0.5], 100: [0.5, 0.5]}, "learned": {100: 0.1 * i}, "agreement": free}
        for i, free in ((1, {50: 0.2, 100: 0.3}), (2, {50: 0.9, 100: 0.1}), (3, {50: 0.4, 100: 0.4}))
    ]
    assert cell(points, "stability", clusterer="learned")["mean"] == pytest.approx(20)
    assert cell(points, "best_over_grid", clusterer="learned")["mean"] == pytest.approx(30)


def test_a_single_restart_has_no_stability_to_choose_by():
    points = [{"acc": {50: [0.5]}, "agreement": {50: np.nan}}]
    assert np.isnan(cell(points, "stability")["mean"])
    assert cell(points, "silhouette")["mean"] == 50
