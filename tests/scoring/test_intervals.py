"""Bootstrap intervals of ranks and gains: on other data sets of other families."""

import re

import numpy as np
import pandas as pd
import pytest
from pages import words_of

from ufs_bench.metrics.study.intervals import means_by_family


def table(values, names=None):
    values = np.asarray(values, dtype=float)
    return pd.DataFrame(values, index=[f"d{i:02}" for i in range(len(values))] if names is None else names)


def own(values):
    """Make every data set a family of its own."""
    return {name: name for name in values.index}


def width(values, families):
    low, high = means_by_family(values, families)
    return float((high - low)[0])


def test_with_a_family_for_each_data_set_the_interval_is_that_of_the_mean():
    values = table(np.random.default_rng(0).normal(3, 2, size=(40, 1)))
    low, high = means_by_family(values, own(values))
    error = float(values.std(ddof=0)[0] / np.sqrt(40))
    # The quantile of t with 39 degrees of freedom, for the error with 39 in its denominator.
    assert low[0] == pytest.approx(values[0].mean() - 2.05 * error, abs=0.15 * error)
    assert high[0] == pytest.approx(values[0].mean() + 2.05 * error, abs=0.15 * error)


def drawn(rng, sizes):
    """Return gains of families of these sizes, which differ as much as the data sets in them, and the families."""
    families = np.repeat(np.arange(len(sizes)), sizes)
    values = table((rng.normal(size=len(sizes))[families] + rng.normal(size=len(families)))[:, None])
    return values, dict(zip(values.index, families, strict=True))


def test_many_data_sets_of_one_family_do_not_narrow_as_independent_ones_do():
    def mean_width(sizes):
        rng = np.random.default_rng(0)
        return np.mean([width(*drawn(rng, sizes)) for _ in range(40)])

    six, one_large, thirty = mean_width([1] * 6), mean_width([25, 1, 1, 1, 1, 1]), mean_width([1] * 30)
    assert thirty < 0.6 * six
    assert one_large > 0.85 * six


def test_the_order_of_data_sets_and_columns_does_not_matter():
    rng = np.random.default_rng(0)
    values = table(rng.normal(size=(9, 4)))
    families = {name: f"family {i % 3}" for i, name in enumerate(values.index)}
    low, high = means_by_family(values, families)
    rows, columns = rng.permutation(9), rng.permutation(4)
    other_low, other_high = means_by_family(values.iloc[rows, columns], families)
    assert other_low == pytest.approx(low[columns], abs=1e-12)
    assert other_high == pytest.approx(high[columns], abs=1e-12)


def test_one_data_set_has_no_interval():
    assert np.isnan(means_by_family(table(np.ones((1, 2))), {"d00": "d00"})).all()


def test_a_family_that_is_alone_is_resampled_inside():
    values = table(np.arange(8.0)[:, None])
    low, high = means_by_family(values, dict.fromkeys(values.index, "faces"))
    same_low, same_high = means_by_family(values, own(values))
    # Other draws of the same bootstrap.
    assert [low[0], high[0]] == pytest.approx([same_low[0], same_high[0]], abs=0.2)


def test_intervals_of_no_gain_hold_zero_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    held, falsely = 0, 0
    for _ in range(200):
        values, families = drawn(rng, [5, 4, 3, 2, 1, 1, 1, 1])
        for names in (families, own(values)):
            low, high = means_by_family(values, names, n_resamples=1000)
            held += names is families and low[0] <= 0 <= high[0]
            falsely += names is not families and low[0] <= 0 <= high[0]
    assert held >= 0.92 * 200
    assert falsely < held  # a family for every data set is too narrow


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ([4, 3, 2], r"(\d+) of 100 intervals contain 0 with three families"),
        ([4, 2], r"(\d+) with two"),
        ([1, 1, 1], r"(\d+) contain 0 \(three families\)"),
        ([1, 1], r"and (\d+) \(two\)"),
    ],
)
def test_intervals_over_few_families_hold_zero_as_often_as_the_page_says(sizes, sentence):
    rng, held = np.random.default_rng(0), 0
    for _ in range(1000):
        low, high = means_by_family(*drawn(rng, sizes), n_resamples=200)
        held += low[0] <= 0 <= high[0]
    said = int(re.search(sentence, words_of("docs/reading.md"))[1])
    assert held / 10 == pytest.approx(said, abs=2.5)  # two standard errors
