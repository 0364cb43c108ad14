"""Made-up data: what is relevant is so and nothing else, the difficulty is all that a signal changes."""

import re

import numpy as np
import pytest

from ufs_bench.datasets import DataError, dataset_names, load_dataset, read_spec
from ufs_bench.datasets.synthetic import check_recipe, read_synthetic, truth_of
from ufs_bench.datasets.truth import truth_names

RECIPE = {
    "structure": "clusters", "samples": 400, "relevant": 6, "noise": 30, "classes": 5, "signal": 3.0, "seed": 1
}  # fmt: skip
STRUCTURES = pytest.mark.parametrize("structure", ["clusters", "curve"])


def explained(X, y):
    """Return the share of the variance of every feature that lies between the classes."""
    means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])[np.unique(y, return_inverse=True)[1]]
    return means.var(axis=0) / X.var(axis=0)


ONE_SEED = [name for name in truth_names() if name.endswith("_s3")]
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in truth_names() if name not in ONE_SEED]


@pytest.mark.parametrize("name", ONE_SEED + OTHERS)
def test_every_data_set_of_known_truth_has_the_values_that_its_family_states(name):
    spec, data = read_spec(name), load_dataset(name, download=False)
    assert spec["data_sha256"] == data.sha and spec["family"] == "synthetic"
    assert data.X.shape == (spec["samples"], spec["features"]) and data.n_classes == spec["classes"]
    assert len(data.truth.groups) in (10, 50)


@STRUCTURES
@pytest.mark.parametrize("tails", ["gaussian", "heavy"])
def test_the_relevant_features_and_no_others_tell_the_classes(structure, tails):
    options = RECIPE | {"structure": structure, "tails": tails, "copies": 1}
    X, y = read_synthetic(None, **options)
    relevant = np.isin(np.arange(X.shape[1]), truth_of(**options).relevant)
    share = explained(X, y)
    assert relevant.sum() == 12 and share[relevant].min() > 0.3 and share[~relevant].max() < 0.1


@STRUCTURES
def test_a_variance_does_not_tell_what_is_relevant(structure):
    X, _ = read_synthetic(None, **RECIPE | {"structure": structure, "samples": 20000, "copies": 3})
    np.testing.assert_allclose(X.var(axis=0), 1, atol=0.06)


def test_a_feature_resembles_those_of_its_group_most():
    options = RECIPE | {"copies": 3, "samples": 2000}
    X, _ = read_synthetic(None, **options)
    truth, likeness = truth_of(**options), np.abs(np.corrcoef(X.T))
    assert sorted(feature for group in truth.groups for feature in group) == list(truth.relevant)
    for group in truth.groups:
        within = np.sort(likeness[np.ix_(group, group)].ravel())[:-4]  # without itself
        others = np.delete(likeness[group, :], group, axis=1)
        assert len(group) == 4 and within.max() > 0.98 and within.min() > 0.55
        assert all(
            own[np.argsort(own)[-2]] > other.max()
            for own, other in zip(likeness[np.ix_(group, group)], others, strict=True)
        )


def of_family(name, difficulty=1, seed=3):
    """Return the samples of a family, their labels, and which features are relevant."""
    data = load_dataset(f"truth_{name}_d{difficulty}_s{seed}")
    return data.X, data.y, np.isin(np.arange(data.X.shape[1]), data.truth.relevant)


@pytest.mark.parametrize("name", ["permuted", "parity", "pixels"])
def test_a_permuted_probe_has_the_values_of_a_relevant_feature_and_tells_nothing(name):
    X, y, relevant = of_family(name)
    values = {tuple(np.sort(column)) for column in X[:, relevant].T}
    assert all(tuple(np.sort(column)) in values for column in X[:, ~relevant].T)
    assert explained(X, y)[~relevant].max() < 0.2 < explained(X, y)[relevant].max()


def test_any_two_features_of_a_parity_are_uncorrelated_and_three_are_not():
    options = RECIPE | {"structure": "parity", "samples": 3200, "relevant": 15, "classes": 16, "signal": 50.0}
    X, _ = read_synthetic(None, **options)
    found = np.sign(X[:, truth_of(**options).relevant])
    assert np.abs(np.corrcoef(found.T) - np.eye(15)).max() < 0.01
    products = found[:, 0, None] * found[:, 1, None] * found[:, 2:]
    assert np.sort(np.abs(products.mean(axis=0)))[-2:].tolist() == [0.0, 1.0]  # the third of a triple is known


def test_correlated_probes_share_a_factor_in_blocks_of_ten():
    options = RECIPE | {"probes": "correlated", "samples": 4000, "noise": 25}
    X, _ = read_synthetic(None, **options)
    likeness = np.abs(np.corrcoef(np.delete(X, truth_of(**options).relevant, axis=1).T))
    near = np.sort((likeness > 0.4).sum(axis=0))
    assert near.tolist() == [5] * 5 + [10] * 20 and np.all((likeness < 0.1) | (likeness > 0.4))
    np.testing.assert_allclose(X.var(axis=0), 1, atol=0.15)


def test_a_nuisance_has_two_clusters_of_its_own_as_strong_at_every_signal():
    options = RECIPE | {"nuisance": 12, "samples": 2000}
    (easy, y), (hard, _) = (read_synthetic(None, **options | {"signal": signal}) for signal in (4, 0.5))
    others = np.delete(np.arange(36), truth_of(**options).relevant)
    np.testing.assert_array_equal(easy[:, others], hard[:, others])
    likeness = np.abs(np.corrcoef(easy[:, others].T))
    own = (likeness > 0.6).sum(axis=0) > 1
    assert own.sum() == 12 and explained(easy, y)[others].max() < 0.02
    assert (likeness[np.ix_(own, own)] > 0.7).all()


def test_counts_are_whole_numbers_with_a_depth_of_each_sample():
    X, y, relevant = of_family("counts")
    assert X.min() == 0 and np.array_equal(X, np.floor(X))
    depth = X[:, ~relevant].sum(axis=1)
    assert depth.std() / depth.mean() > 0.25
    share = explained(np.log1p(X), y)
    assert share[relevant].mean() > 4 * share[~relevant].mean()


def test_a_shift_moves_three_classes_by_the_same_in_every_relevant_feature():
    options = RECIPE | {"structure": "shift", "samples": 6000, "classes": 3, "signal": 0.7}
    X, y = read_synthetic(None, **options)
    relevant = truth_of(**options).relevant
    means = np.array([X[y == label][:, relevant].mean(axis=0) for label in range(3)])
    np.testing.assert_allclose(means, np.array([[0.7], [-0.7], [0.0]]) + np.zeros(len(relevant)), atol=0.1)
    np.testing.assert_allclose(np.delete(X, relevant, axis=1).var(axis=0), 1, atol=0.1)


@STRUCTURES
def test_a_signal_changes_the_relevant_features_only(structure):
    options = RECIPE | {"structure": structure, "tails": "heavy"}
    (easy, y), (hard, labels) = (read_synthetic(None, **options | {"signal": signal}) for signal in (4, 0.5))
    others = np.delete(np.arange(easy.shape[1]), truth_of(**options).relevant)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(easy[:, others], hard[:, others])
    assert truth_of(**options) == truth_of(**options | {"signal": 0.5}) != truth_of(**options | {"seed": 2})
    assert explained(easy, y).max() > 0.6 and explained(hard, y).max() < 0.4


def test_without_a_signal_nothing_is_to_be_found():
    X, y = read_synthetic(None, **RECIPE | {"signal": 0})
    assert explained(X, y).max() < 0.06


def test_heavy_noise_has_outliers_and_scales_of_its_own():
    X, _ = read_synthetic(None, **RECIPE | {"tails": "heavy"})
    noise = np.delete(X, truth_of(**RECIPE).relevant, axis=1)
    spread = np.subtract(*np.percentile(noise, [75, 25], axis=0))
    farthest = np.abs(noise - np.median(noise, axis=0)).max(axis=0) / spread
    assert spread.max() / spread.min() > 20 and np.sum(farthest > 4) >= 15


def test_the_truth_is_known_of_made_up_data_alone(tmp_path):
    assert load_dataset("digits").truth is None
    data = load_dataset("truth_redundant_d1_s0")
    assert [len(group) for group in data.truth.groups] == [4] * 10


def test_names_are_those_of_a_family_a_difficulty_and_a_seed():
    names = dataset_names(truth=True)
    assert names == sorted(names) and {"umist", "truth_clusters_d1_s0", "truth_wide_d4_s4"} <= set(names)
    assert not set(truth_names()) & set(dataset_names())
    for wrong in ("truth_clusters_d5_s0", "truth_cluster_d1_s0", "truth_clusters_d1_s20", "truth_clusters_d01_s0"):
        with pytest.raises(DataError, match=f"{wrong}.*truth_FAMILY_dDIFFICULTY_sSEED, such as truth_clusters_d1_s0"):
            read_spec(wrong)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"structure": "rings"}, "structure='rings' must be one of clusters, curve, parity, pixels, shift"),
        ({"tails": "fat"}, "tails='fat' must be one of gaussian, heavy"),
        ({"structure": "parity"}, "classes=5 must be a power of 2 above relevant=6"),
        ({"probes": "permuted", "copies": 2}, "copies=2 has no effect with probes="),
        ({"values": "counts", "tails": "heavy"}, "tails='heavy' has no effect with values="),
        ({"rings": 1}, "it differs in ['rings']"),
    ],
)
def test_a_wrong_recipe_says_what_is_wrong(change, words):
    with pytest.raises(DataError, match=re.escape(words)):
        check_recipe(RECIPE | change)


def test_a_recipe_that_lacks_something_is_refused_where_the_data_are_named():
    options = {name: value for name, value in RECIPE.items() if name != "seed"}
    texts = dict.fromkeys(("paper_name", "citation", "origin", "terms"), "none")
    shape = {"samples": 400, "features": 36, "classes": 5, "image": None, "data_sha256": None}
    spec = {"name": "mine", **texts, **shape, "sources": [{"format": "synthetic", "options": options}]}
    with pytest.raises(DataError, match=re.escape("it differs in ['seed']")):
        load_dataset(spec)
    spec["sources"][0]["options"] = RECIPE
    assert load_dataset(spec).truth == truth_of(**RECIPE)
