"""The trials of a grid: which there are, their keys, and what is refused before any fit."""

from dataclasses import replace

import numpy as np
import pytest
from fits import DATA, PROTOCOL, made_up, method_of, trials_of

from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.messages import ConfigError
from ufs_bench.runners.workers.fit import evaluate_set
from ufs_bench.scripts.core.conf import find


def test_the_grid_is_the_product_of_its_lists_and_marks_the_default():
    trials = trials_of()
    assert [trial.params["gain"] for trial in trials] == [1.0, 2.0, 3.0, 4.0]
    assert [trial.is_default for trial in trials] == [True, False, False, False]
    assert all(trial.sizes == (2, 3) for trial in trials)


def test_a_size_that_is_part_of_the_model_gets_a_trial_of_its_own():
    trials = trials_of("PerSize")
    assert len(trials) == 8
    assert {trial.sizes for trial in trials} == {(2,), (3,)}


@pytest.mark.parametrize(
    "change",
    [
        {"data_sha": "ff"}, {"dataset": "other"}, {"params": {"gain": 1.5}}, {"sizes": (2,)},
        {"protocol": replace(PROTOCOL, seed=1)}, {"protocol": replace(PROTOCOL, restarts=4)},
    ],
)  # fmt: skip
def test_the_key_changes_with_everything_that_changes_the_numbers_and_not_with_the_study(change):
    trial = trials_of()[0]
    assert replace(trial, **change).key != trial.key == replace(trial, study="other").key


@pytest.mark.parametrize(
    "change, words",
    [
        ({"grid": {"gian": [1.0]}}, "gian.*Did you mean gain"),
        ({"params": {"n_clusters": 3}}, "n_clusters is set by the runner: give protocol.clusters instead"),
        ({"grid": {"gain": []}}, "must be a list"),
        ({"grid": {"gain": 3.0}}, "must be a list"),
        ({"grid": {"gain": [1.0, -1.0]}}, r"gain=-1.0 must be a number in \[0"),
        ({"grid": {"gain": [1.0, 1.0]}}, "1.0 and 1.0, which are the same value"),
        ({"target": "methods.nothing.Nothing"}, "methods.nothing"),
    ],
)
def test_a_mistake_in_the_file_of_a_method_shows_before_any_fit(change, words):
    with pytest.raises(ConfigError, match=words):
        expand("s", DATA, method_of() | change, PROTOCOL)


def test_sizes_above_the_number_of_features_are_left_out_and_none_left_is_an_error():
    assert trials_of(protocol=replace(PROTOCOL, sizes=(3, 99)))[0].sizes == (3,)
    with pytest.raises(ConfigError, match="n_features=6"):
        trials_of(protocol=replace(PROTOCOL, sizes=(99,)))


@pytest.mark.parametrize(("clusters", "number"), [("classes", 3), ("half", 2), ("twice", 6)])
def test_methods_and_k_means_are_told_as_many_clusters_as_the_protocol_says(clusters, number):
    dataset, protocol = made_up(), replace(PROTOCOL, clusters=clusters)
    (trial, *_) = expand("s", dataset, find("method", "rufs"), protocol)
    assert trial.params["n_clusters"] == number
    labelled, unlabelled = (evaluate_set([0, 1, 2], dataset.X, y, protocol)[0] for y in (dataset.y, np.array(3)))
    right, _ = evaluate(np.arange(3), dataset.X, dataset.y, PROTOCOL, number)
    np.testing.assert_array_equal(labelled, right)
    np.testing.assert_array_equal(unlabelled[2:-1], right[2:-1])  # all but ACC, NMI and nearest neighbours
    most = {"classes": 1.0, "half": 2 / 3, "twice": 0.9}
    assert labelled[0].max() <= most[clusters]


def test_more_clusters_than_samples_are_refused_before_a_fit():
    dataset = made_up()
    dataset.n_classes = 16
    with pytest.raises(ConfigError, match=r"clusters=twice is 32 on blobs, which has 30 samples"):
        expand("s", dataset, find("method", "rufs"), replace(PROTOCOL, clusters="twice"))
