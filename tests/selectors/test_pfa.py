"""Principal feature analysis: components, clusters, and the features nearest to their centres."""

import numpy as np
import pytest

from ufs_bench.methods import PFA
from ufs_bench.methods.pfa import leading_vectors, scores_of


def groups(n_groups=4, each=6, noise=0.05, seed=0):
    """Return features that are one of a few factors, of either sign, with noise."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(60, n_groups)) * np.linspace(1, 1.5, n_groups)
    signs = rng.choice([-1, 1], n_groups * each)
    return np.repeat(factors, each, axis=1) * signs + noise * rng.normal(size=(60, n_groups * each))


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (15, 30)])
def test_components_are_the_fewest_eigenvectors_that_keep_the_share(shape, standardize):
    X = np.random.default_rng(1).normal(size=shape) * np.linspace(1, 4, shape[1])
    A = X - X.mean(axis=0)
    V = leading_vectors(A, standardize, 0.7, 20)
    C = np.corrcoef(X.T) if standardize else A.T @ A
    values, vectors = np.linalg.eigh(C)
    kept = np.cumsum(values[::-1]) / values.sum()
    q = V.shape[1]
    assert kept[q - 1] >= 0.7 > kept[q - 2]
    np.testing.assert_allclose(np.abs(vectors[:, ::-1][:, :q].T @ V), np.eye(q), atol=1e-8)
    assert leading_vectors(A, standardize, 1.0, 3).shape[1] == 3


def test_one_feature_of_every_group_is_selected_where_signs_do_not_count():
    X = groups()
    model = PFA(4, random_state=0).fit(X)
    assert sorted(model.subset(4) // 6) == [0, 1, 2, 3]
    assert len(np.unique(model.clusters_.reshape(4, 6), axis=1).T) == 1
    signed = PFA(4, absolute=False, random_state=0).fit(X)
    assert not np.array_equal(signed.clusters_, model.clusters_)


def test_of_each_cluster_the_feature_nearest_to_the_centre_is_selected_and_large_clusters_come_first():
    rng = np.random.default_rng(2)
    rows, clusters = rng.random((30, 3)), np.repeat([0, 1, 2], [5, 16, 9])
    scores = scores_of(rows, clusters, 3)
    chosen = np.argsort(-scores)[:3]
    assert clusters[chosen].tolist() == [1, 2, 0]
    for j in chosen:
        members = np.flatnonzero(clusters == clusters[j])
        distances = np.linalg.norm(rows[members] - rows[members].mean(axis=0), axis=1)
        assert members[distances.argmin()] == j
    assert (np.delete(scores, chosen) < 1).all()


def test_of_two_equally_near_features_the_longer_row_is_selected():
    rows = np.array([[0.1, 0.0], [0.5, 0.0], [0.0, 0.9]])
    assert np.argsort(-scores_of(rows, np.array([0, 0, 1]), 2))[0] == 1
