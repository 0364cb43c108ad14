"""Ranks and tests over data sets, against cases worked by hand, scipy alone, and simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ufs_bench.metrics.study.ranks import MIN_DATASETS, POSTHOC, compare, critical_difference, datasets_needed, ranks

# Demšar 2006, table 6: AUC of C4.5 and its variants on 14 data sets; average ranks 3.143, 2.000, 2.893, 1.964.
DEMSAR = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["C4.5", "m", "cf", "m,cf"],
)  # fmt: skip


def table(values):
    values = np.asarray(values, dtype=float)
    return pd.DataFrame(
        values, index=[f"d{i}" for i in range(len(values))], columns=list("abcdefgh")[: values.shape[1]]
    )


def test_ties_share_the_mean_of_their_places_also_when_summed_in_another_order():
    scores = table([[0.1 + 0.2, 0.3, 0.5, 0.1]])
    assert ranks(scores).iloc[0].tolist() == [2.5, 2.5, 1, 4]


def test_a_gap_is_refused_and_named():
    scores = table([[1, 2], [np.nan, 3]])
    for refuse in (ranks, compare):
        with pytest.raises(ValueError, match="a on d1"):
            refuse(scores)


def test_demsars_example_is_reproduced():
    assert ranks(DEMSAR).mean().to_numpy() == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    found = compare(DEMSAR)
    # He prints 9.28, without the correction for ties, and a critical difference of 1.25.
    assert critical_difference(14, 4) == pytest.approx(1.25, abs=5e-3)
    average = ranks(DEMSAR).mean()
    printed = 12 * 14 / (4 * 5) * ((average**2).sum() - 4 * 25 / 4)
    assert printed == pytest.approx(9.28, abs=0.01)
    ties = sum(count**3 - count for row in DEMSAR.to_numpy() for count in np.unique(row, return_counts=True)[1])
    assert found.friedman == pytest.approx(printed / (1 - ties / (14 * 4 * 15)))
    assert found.friedman_p == pytest.approx(stats.chi2.sf(found.friedman, 3))


# Demšar 2006, table 5 (a): the critical values of Nemenyi's test at 0.05 and at 0.10, for 2 to 10 methods.
CRITICAL = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


@pytest.mark.parametrize("n_methods", [3, 6, 10])
def test_the_p_of_a_pair_by_nemenyi_is_that_of_the_published_critical_values(n_methods):
    scores = pd.DataFrame(np.random.default_rng(n_methods).normal(size=(12, n_methods)))
    average, found = ranks(scores).mean(), compare(scores, posthoc="nemenyi").pairs
    assert (found == found.T).all(axis=None) and (np.diag(found) == 1).all()
    apart = np.abs(np.subtract.outer(average.to_numpy(), average.to_numpy()))
    for alpha, values in CRITICAL.items():
        # Half a unit of the last printed digit is 0.0005: nearer to the bound the table itself cannot tell.
        quantile = apart / np.sqrt(n_methods * (n_methods + 1) / (6 * 12))
        clear = np.abs(quantile - values[n_methods - 2]) > 5e-4
        assert ((found.to_numpy() < alpha) == (quantile > values[n_methods - 2]))[clear].all()
        assert critical_difference(12, n_methods, alpha) == pytest.approx(
            values[n_methods - 2] * np.sqrt(n_methods * (n_methods + 1) / (6 * 12)), rel=3e-4
        )


def test_wilcoxon_holm_is_scipys_test_stepped_down_by_hand():
    scores = table(np.random.default_rng(0).normal([0, 0.4, 2], 1, size=(12, 3)))
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    raw = {pair: stats.wilcoxon(scores[pair[0]], scores[pair[1]]).pvalue for pair in pairs}
    found = compare(scores, posthoc="wilcoxon_holm").pairs
    largest = 0.0
    for step, pair in enumerate(sorted(pairs, key=raw.get)):
        largest = max(largest, min(1, (3 - step) * raw[pair]))
        assert found.loc[pair] == found.loc[pair[::-1]] == pytest.approx(largest)


def test_methods_that_tie_everywhere_are_alike():
    for posthoc in POSTHOC:
        found = compare(table(np.ones((10, 3))), posthoc=posthoc)
        assert (found.friedman, found.friedman_p) == (0, 1)
        assert (found.pairs == 1).all(axis=None)


def test_two_methods_that_tie_everywhere_beside_a_third_that_always_wins():
    found = compare(table([[1, 1, 2 + i / 10] for i in range(10)]), posthoc="wilcoxon_holm").pairs
    assert found.loc["a", "b"] == 1
    assert found.loc["a", "c"] == pytest.approx(3 * 2 / 2**10)
    assert ranks(table([[1, 1, 2]])).iloc[0].tolist() == [2.5, 2.5, 1]


@pytest.mark.parametrize("n_datasets", [1, 3, MIN_DATASETS - 1])
def test_too_few_data_sets_are_refused_with_the_bound_and_the_reason(n_datasets):
    with pytest.raises(ValueError, match=rf"n_datasets={n_datasets} .*must be 6 or more: .*2/2\^5"):
        compare(table(np.random.default_rng(0).normal(size=(n_datasets, 3))))


def test_the_bound_is_where_a_pair_can_first_be_significant():
    def always_wins(n):
        return stats.wilcoxon(np.arange(1, n + 1)).pvalue

    assert always_wins(MIN_DATASETS - 1) > 0.05 > always_wins(MIN_DATASETS)
    for n_methods in (2, 3, 5, 8):
        needed, pairs = datasets_needed(n_methods), n_methods * (n_methods - 1) / 2
        assert pairs * always_wins(needed) <= 0.05
        assert needed == MIN_DATASETS or pairs * always_wins(needed - 1) > 0.05


def test_wilcoxon_holm_is_refused_where_nothing_could_be_significant():
    scores = table(np.random.default_rng(0).normal(size=(datasets_needed(5) - 1, 5)))
    with pytest.raises(ValueError, match=f"wilcoxon_holm: .*it takes {len(scores) + 1} data sets, or fewer methods"):
        compare(scores, posthoc="wilcoxon_holm")
    assert compare(scores, posthoc="nemenyi").pairs is not None


def test_two_methods_have_wilcoxon_only():
    scores = table([[1, 2 + i] for i in range(6)])
    assert compare(scores, posthoc="wilcoxon_holm").pairs.loc["a", "b"] == pytest.approx(2 / 2**6)
    assert np.isnan(compare(scores).friedman)
    with pytest.raises(ValueError, match="nemenyi needs three methods"):
        compare(scores, posthoc="nemenyi")
    with pytest.raises(ValueError, match="two methods"):
        compare(table(np.ones((6, 1))))


def test_a_pair_is_tested_on_request_only_and_by_a_test_that_there_is():
    found = compare(DEMSAR)
    assert found.pairs is None and np.isnan(found.critical_difference)
    with pytest.raises(ValueError, match="posthoc='t' must be one of nemenyi, wilcoxon_holm"):
        compare(DEMSAR, posthoc="t")
