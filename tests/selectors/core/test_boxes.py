import numpy as np
import pytest
from numba import njit

from methods.core.boxes import LEAF, boxes, first_bit, lower_bounds, within


@njit
def bits_of(Yt, i, found, leaf, reach, v):
    """What `within` says, as places."""
    bits, places = within(Yt, i, found.members, leaf, reach, v), []
    while bits:
        places.append(first_bit(bits))
        bits &= bits - np.uint64(1)
    return places


def embedding(n, m, tied):
    rng = np.random.default_rng(n + m)
    Y = rng.normal(size=(n, m))
    if tied:
        Y = np.eye(m)[rng.integers(m, size=n)]
    return np.ascontiguousarray(Y.T)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 10])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 65, 500])
def test_every_sample_is_in_the_box_of_its_leaf(n, m, tied):
    Yt = embedding(n, m, tied)
    found = boxes(Yt)
    np.testing.assert_array_equal(np.sort(found.order), np.arange(n))
    np.testing.assert_array_equal(found.home[found.order], np.arange(n) // LEAF)
    for leaf, members in enumerate(found.members):
        own = Yt[:, found.order[leaf * LEAF : (leaf + 1) * LEAF]]
        np.testing.assert_array_equal(members[:, : own.shape[1]], own)
        assert (members[:, own.shape[1] :] == np.inf).all()
        np.testing.assert_array_equal(found.low[:, leaf], own.min(axis=1))
        np.testing.assert_array_equal(found.high[:, leaf], own.max(axis=1))


@pytest.mark.parametrize("m", [1, 2, 3, 10])
def test_what_a_leaf_is_skipped_by_is_no_more_than_its_distances_to_the_last_bit(m):
    Yt = embedding(300, m, False)
    found, v, lower = boxes(Yt), np.empty(LEAF), np.empty(300 // LEAF + 1)
    for i in range(0, 300, 7):
        lower_bounds(Yt, i, found.low, found.high, lower)
        for leaf in range(len(lower)):
            own = found.order[leaf * LEAF : (leaf + 1) * LEAF]
            expected = ((Yt[:, own] - Yt[:, [i]]) ** 2).sum(axis=0)
            reach = np.median(expected)
            near = bits_of(Yt, i, found, leaf, reach, v)
            np.testing.assert_allclose(v[: len(own)], expected, rtol=1e-14)
            assert near == list(np.flatnonzero(v < reach))
            assert lower[leaf] <= v.min()


def test_few_boxes_are_near_where_the_samples_are_on_lines():
    """As indicators are, one entry a row: what it is for."""
    rng = np.random.default_rng(0)
    labels, size = rng.integers(10, size=2000), rng.uniform(0.5, 1.5, 2000)
    Y = np.eye(10)[labels] * size[:, None]
    Yt = np.ascontiguousarray(Y.T)
    found, lower, shares = boxes(Yt), np.empty(-(-2000 // LEAF)), []
    for i in range(0, 2000, 20):
        lower_bounds(Yt, i, found.low, found.high, lower)
        reach = np.sort(((Y - Y[i]) ** 2).sum(axis=1))[30]
        shares.append((lower < reach).mean())
    assert np.mean(shares) < 0.1
