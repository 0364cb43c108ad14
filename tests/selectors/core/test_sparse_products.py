"""Products of sparse arrays: the sums that are written down, to the last bit."""

import numpy as np
import pytest
from scipy import sparse

from ufs_bench.methods.core.sparse_data import times, transposed_times


def by_hand(A, F):
    product = np.zeros((A.shape[0], F.shape[1]))
    for i in range(A.shape[0]):
        terms = [A.data[p] * F[A.indices[p]] for p in range(A.indptr[i], A.indptr[i + 1])]
        whole = len(terms) // 4 * 4
        for p in range(0, whole, 4):
            product[i] += (terms[p] + terms[p + 1]) + (terms[p + 2] + terms[p + 3])
        for term in terms[whole:]:
            product[i] += term
    return product


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 2, 5, 10, 26])
@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
def test_product_is_the_sum_that_is_written_down(density, n_columns, order):
    rng = np.random.default_rng(0)
    A = sparse.random_array((23, 40), density=density, rng=rng, format="csr")
    F = np.asarray(rng.normal(size=(40, n_columns)), order=order)
    found = times(A, F)
    np.testing.assert_array_equal(found, by_hand(A, F))
    np.testing.assert_allclose(found, A.toarray() @ F, atol=1e-13)


def test_full_arrays_are_multiplied_as_they_are():
    rng = np.random.default_rng(1)
    X, F = rng.normal(size=(12, 7)), rng.normal(size=(12, 3))
    np.testing.assert_array_equal(times(X.T, F), X.T @ F)
    np.testing.assert_allclose(transposed_times(X, None, F), X.T @ F, atol=1e-13)
    np.testing.assert_allclose(transposed_times(X, sparse.csr_array(X.T), F), X.T @ F, atol=1e-13)
