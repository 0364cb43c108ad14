"""Highly variable genes: the formulas, term by term, and no negative values."""

import numpy as np
import pytest
from scipy import sparse

from ufs_bench.methods import HighlyVariableGenes
from ufs_bench.methods.hvg import deviances, dispersions


def counts(n_samples=60, n_features=400, seed=0):
    """Return Poisson counts of unequal means; the first ten features also differ between two kinds of sample."""
    rng = np.random.default_rng(seed)
    rates = 0.5 + rng.gamma(1.0, 4.0, size=n_features)
    rates[:10] = 4.0
    rates = np.tile(rates, (n_samples, 1))
    rates[::2, :10] *= 4
    X = rng.poisson(rates).astype(float)
    X[:, 20] = 0
    return X


def deviance(x, totals):
    p = x.sum() / totals.sum()
    parts = [
        (x[i] * np.log(x[i] / (totals[i] * p)) if x[i] else 0)
        + ((totals[i] - x[i]) * np.log((totals[i] - x[i]) / (totals[i] * (1 - p))) if x[i] < totals[i] else 0)
        for i in range(len(x))
    ]
    return 2 * sum(parts)


def test_deviance_is_the_sum_of_its_terms():
    X = counts()[:, :30]
    X[3] = 0  # a sample without counts
    totals = X.sum(axis=1)
    by_definition = [deviance(x[totals > 0], totals[totals > 0]) if x.any() else 0 for x in X.T]
    np.testing.assert_allclose(deviances(X), by_definition, rtol=1e-9, atol=1e-9)


def test_dispersion_is_standardised_within_its_bin():
    X = counts()
    scores = dispersions(X, 5)
    place = np.log1p(X.mean(axis=0))
    varying = X.var(axis=0) > 0
    ratio = np.log(X.var(axis=0)[varying] / X.mean(axis=0)[varying])
    edges = np.linspace(place[varying].min(), place[varying].max(), 6)
    bins = np.clip(np.searchsorted(edges, place[varying], side="right") - 1, 0, 4)
    for index in range(5):
        of_bin = ratio[bins == index]
        assert len(of_bin) >= 3
        np.testing.assert_allclose(
            scores[varying][bins == index], (of_bin - of_bin.mean()) / of_bin.std(ddof=1), rtol=1e-9
        )


@pytest.mark.parametrize(
    ("flavor", "least"), [("dispersion", 8), ("deviance", 10)]
)  # the ten share a bin, and its mean
def test_features_that_differ_between_samples_come_first(flavor, least):
    fit = HighlyVariableGenes(10, flavor=flavor, n_bins=5).fit(counts())
    assert len(set(fit.ranking_[: 2 * 10 - least]) & set(range(10))) >= least
    assert fit.ranking_[-1] == 20


@pytest.mark.parametrize("values", [np.array, sparse.csr_array])
def test_negative_values_are_refused_before_a_fit(values):
    X = counts()
    X[0, 0] = -1
    with pytest.raises(ValueError, match=r"Negative values in data: -1 is the least\. .*before any scaling"):
        HighlyVariableGenes().check_parameters(values(X))
