"""The scalings: they keep their definitions, and stay finite."""

import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ufs_bench.datasets import scale
from ufs_bench.datasets.scaling import KEEP_ZEROS, SCALINGS

X = np.arange(24.0).reshape(6, 4)

finite = st.floats(-1e6, 1e6, allow_subnormal=False)
matrices = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=finite)


@settings(max_examples=60, deadline=None)
@given(matrices, st.sampled_from(sorted(SCALINGS)))
def test_every_scaling_is_finite_and_leaves_its_input_alone(samples, how):
    before = samples.copy()
    samples.flags.writeable = False
    scaled = scale(samples, how)
    assert np.isfinite(scaled).all() and scaled.shape == samples.shape and scaled.dtype == np.float64
    np.testing.assert_array_equal(samples, before)


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_minmax_spans_exactly_zero_to_one_and_keeps_the_order(samples):
    scaled = scale(samples, "minmax")
    constant = samples.min(axis=0) == samples.max(axis=0)
    assert (scaled.min(axis=0) == 0).all()
    np.testing.assert_array_equal(scaled.max(axis=0), np.where(constant, 0, 1))
    order = np.argsort(samples, axis=0, kind="stable")
    assert (np.diff(np.take_along_axis(scaled, order, axis=0), axis=0) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(arrays(np.int32, st.tuples(st.integers(2, 8), st.integers(1, 5)), elements=st.integers(-1000, 1000)))
def test_zscore_gives_mean_zero_and_deviation_one(samples):
    scaled = scale(samples, "zscore")
    constant = samples.min(axis=0) == samples.max(axis=0)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose((scaled**2).mean(axis=0), np.where(constant, 0, 1), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_unit_norm_gives_samples_of_norm_one_in_their_own_direction(samples):
    scaled = scale(samples, "unit_norm")
    norms = np.array([math.hypot(*sample) for sample in samples])
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), norms > 0, atol=1e-12)
    np.testing.assert_allclose(scaled * norms[:, None], samples, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3, 1e300])
@pytest.mark.parametrize("how", ["minmax", "zscore"])
def test_a_constant_feature_becomes_zero_whatever_rounding_does_to_its_mean(value, how):
    samples = np.column_stack([np.full(7, value), np.arange(7)])
    scaled = scale(samples, how)
    assert not scaled[:, 0].any() and scaled[:, 1].any()


def test_an_unknown_scaling_lists_the_known_ones():
    with pytest.raises(
        ValueError, match="scaling='standard' must be one of none, minmax, zscore, unit_norm, unit_features"
    ):
        scale(X, "standard")


@pytest.mark.parametrize("samples", [X[0], X[:0], np.where(X == 4, np.nan, X)])
def test_what_is_no_finite_matrix_is_not_scaled(samples):
    with pytest.raises(ValueError, match="X "):
        scale(samples, "none")


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_unit_features_is_unit_norm_of_the_transpose(samples):
    np.testing.assert_array_equal(scale(samples, "unit_features"), scale(samples.T, "unit_norm").T)


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, (7, 5), elements=st.sampled_from([0.0, 0.0, 0.0, 1e-200, 0.1, -1 / 3, 7.0, 1e200])))
def test_a_sparse_array_is_scaled_to_the_values_of_the_dense_one_and_stays_sparse(samples):
    held = scipy.sparse.coo_matrix(samples)
    for how in KEEP_ZEROS:
        scaled = scale(held, how)
        assert scaled.format == "csr" and not scaled.data.flags.writeable
        np.testing.assert_allclose(scaled.toarray(), scale(samples, how), rtol=1e-14)
    if (samples >= 0).all() and not (samples > 0).all(axis=0).any():
        np.testing.assert_allclose(scale(held, "minmax").toarray(), scale(samples, "minmax"), rtol=1e-14)


def test_a_scaling_that_would_fill_a_sparse_array_says_which_do_not():
    held = scipy.sparse.csr_array(-np.eye(3))
    with pytest.raises(ValueError, match="zscore would fill .* take one of none, unit_norm, unit_features"):
        scale(held, "zscore")
    with pytest.raises(ValueError, match="feature 0 has the minimum -1"):
        scale(held, "minmax")
