"""Values that fits on the same data share are computed once, recognised by content, and cannot be changed."""

import numpy as np
import pytest
from scipy import sparse

from ufs_bench.methods.core.shared import shared


@pytest.fixture
def counted():
    """Return a pure function, and the list of the calls that reached it."""
    calls = []

    def function(X, *args):
        calls.append(args)
        return X.sum(axis=0) * (args[0] if args else 1)

    return function, calls


def test_same_bytes_are_computed_once_and_other_arguments_and_functions_anew(counted):
    function, calls = counted
    X = np.arange(12.0).reshape(4, 3)
    first = shared(X, function, 2)
    assert shared(X.copy(), function, 2) is first
    np.testing.assert_array_equal(first, 2 * X.sum(axis=0))
    shared(X, function, 1)
    assert calls == [(2,), (1,)]
    np.testing.assert_array_equal(shared(X, np.transpose), X.T)


def test_a_changed_array_is_not_taken_for_the_old_one(counted):
    function, _ = counted
    X = np.ones((4, 3))
    shared(X, function)
    X[2, 1] = 5.0
    np.testing.assert_array_equal(shared(X, function), [4, 8, 4])


def test_shape_and_type_are_part_of_the_content_and_memory_layout_is_not(counted):
    function, calls = counted
    X = np.zeros((4, 3))
    for same_bytes in (X, np.asfortranarray(X), X.reshape(3, 4), X.reshape(2, 6), X.view(np.int64)):
        assert shared(same_bytes, function).shape == same_bytes.shape[1:]
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("order", "n_calls"), [([0, 1, 2, 1, 2], 3), ([0, 1, 2, 0], 4), ([0, 1, 0, 2, 0], 3)], ids=["kept", "lost", "used"]
)
def test_only_the_two_data_sets_that_were_used_last_are_kept(counted, order, n_calls):
    function, calls = counted
    data = [np.full((2, 2), value) for value in (0.0, 1.0, 2.0)]
    for index in order:
        shared(data[index], function)
    assert len(calls) == n_calls


def test_a_failed_computation_is_not_remembered():
    outcomes = iter([ValueError("too few samples"), np.ones(2)])

    def function(X):
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    with pytest.raises(ValueError, match="too few"):
        shared(np.zeros((2, 2)), function)
    np.testing.assert_array_equal(shared(np.zeros((2, 2)), function), 1)


def test_a_function_may_ask_for_what_is_shared_itself():
    X = np.arange(6.0).reshape(3, 2)

    def outer(X):
        return shared(X, np.transpose) @ X

    np.testing.assert_array_equal(shared(X, outer), X.T @ X)


def test_results_are_read_only_also_within_tuples_and_sparse_arrays():
    X = np.eye(3)
    dense, (label, graph) = shared(X, lambda X: (X.copy(), ("name", sparse.csr_array(X))))
    assert label == "name"
    for array in (dense, graph.data, graph.indices, graph.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
