"""ACC and NMI: invariances, bounds, edges, brute force, scikit-learn and the released programs."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from ufs_bench.metrics.clustering import AVERAGES, acc_nmi, accuracy, contingency, nmi


def labellings(seed, n_samples=60, n_classes=4, n_clusters=6):
    rng = np.random.default_rng(seed)
    return rng.integers(n_classes, size=n_samples), rng.integers(n_clusters, size=n_samples)


@pytest.mark.parametrize("seed", range(2))
def test_contingency_counts_every_pair_of_groups(seed):
    y, labels = labellings(seed)
    names = np.array(["cat", "cow", "dog", "hen"])[y]
    assert np.array_equal(contingency(names, labels - 3), contingency_matrix(names, labels))
    assert contingency(y, labels).sum() == len(y)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("seed", range(2))
def test_nmi_equals_scikit_learn(seed, average):
    y, labels = labellings(seed)
    assert nmi(y, labels, average) == pytest.approx(normalized_mutual_info_score(y, labels, average_method=average))


@pytest.mark.parametrize(("n_classes", "n_clusters"), [(3, 3), (4, 2), (2, 5), (1, 3), (3, 1)])
def test_accuracy_is_the_best_of_all_one_to_one_matchings(n_classes, n_clusters):
    y, labels = labellings(0, 25, n_classes, n_clusters)
    size = max(n_classes, n_clusters)
    best = max(np.mean(np.array(names)[labels] == y) for names in permutations(range(size)))
    assert accuracy(y, labels) == pytest.approx(best)


@pytest.mark.parametrize("average", AVERAGES)
def test_a_single_cluster_has_no_information_and_two_single_ones_agree(average):
    y, single = np.arange(6) % 3, np.zeros(6, dtype=int)
    assert nmi(y, single, average) == 0 == nmi(single, y, average)
    assert nmi(single, single + 4, average) == 1
    assert accuracy(y, single) == pytest.approx(1 / 3)


@pytest.mark.parametrize("average", AVERAGES)
def test_rows_score_as_they_do_alone(average):
    rng = np.random.default_rng(5)
    y, labels = rng.integers(5, size=80), rng.integers(9, size=(12, 80)) % np.arange(1, 13)[:, None]
    acc, information = acc_nmi(y, labels, average)
    assert acc.tolist() == [accuracy(y, row) for row in labels]
    assert information.tolist() == [nmi(y, row, average) for row in labels]
    alone = [acc_nmi(y, row[None], average) for row in labels]
    assert information.tolist() == [float(values[1][0]) for values in alone]


def test_labels_far_apart_need_no_large_table():
    y, labels = labellings(6)
    acc, information = acc_nmi(y * 10**12, labels[None] * 10**12 - 5)
    assert (acc[0], information[0]) == (accuracy(y, labels), nmi(y, labels))


@pytest.mark.parametrize(
    ("y", "labels"), [([0, 1], [[0, 1, 1]]), ([[0, 1]], [[0, 1]]), ([0, 1], [0, 1]), ([], np.empty((1, 0)))]
)
def test_labellings_that_do_not_fit_are_refused(y, labels):
    with pytest.raises(ValueError, match="must hold"):
        acc_nmi(y, labels)


def test_lengths_and_averages_are_named_in_errors():
    with pytest.raises(ValueError, match=r"\(3,\) and \(2,\)"):
        accuracy([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="average='harmonic' must be one of geometric, max, min, arithmetic"):
        nmi([0, 1], [0, 1], "harmonic")


def test_scores_agree_with_the_released_programs(reference):
    pair = reference("step13_metrics_kmeans")
    y = pair["yt"].ravel()
    for labels, suffix in ((pair["lk"].ravel(), ""), (pair["y3"].ravel(), "3")):
        assert accuracy(y, labels) == pytest.approx(pair[f"acc{suffix}"].item(), abs=1e-12)
        assert nmi(y, labels, "max") == pytest.approx(pair[f"nmi_max{suffix}"].item(), abs=1e-12)
        assert nmi(y, labels, "geometric") == pytest.approx(pair[f"nmi_sqrt{suffix}"].item(), abs=1e-12)
        assert nmi(y, labels) == pytest.approx(pair[f"nmi_g{suffix}"].item(), abs=1e-12)
