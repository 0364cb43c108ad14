"""Products of a sparse matrix with a few columns: those of scipy, to the last bit."""

import numpy as np
import pytest
from scipy import sparse

from methods.core.sparse_products import times


def sample(shape, density=0.3, seed=0, dtype=np.int32):
    A = sparse.random_array(shape, density=density, format="csr", rng=np.random.default_rng(seed))
    A.indices, A.indptr = A.indices.astype(dtype), A.indptr.astype(dtype)
    A.data -= 0.5
    return A


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 20, 24, 26, 33, 40])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_product_is_that_of_scipy_to_the_last_bit(n_columns, dtype):
    A = sample((37, 53), dtype=dtype)
    F = np.random.default_rng(1).normal(size=(53, n_columns))
    np.testing.assert_array_equal(times(A, F), A @ F)
    np.testing.assert_array_equal(times(A, np.asfortranarray(F)), A @ F)
    A.data.flags.writeable = F.flags.writeable = False
    np.testing.assert_array_equal(times(A, F), A @ F)
    transposed = sparse.csr_array(A.T)
    G = np.random.default_rng(2).normal(size=(37, n_columns))
    np.testing.assert_array_equal(times(transposed, G), A.T @ G)
    np.testing.assert_array_equal(times(transposed, G), (G.T @ A).T)


def test_rows_without_entries_and_entries_that_are_not_finite():
    A = sample((20, 20), density=0.05)
    assert (np.diff(A.indptr) == 0).any()
    F = np.random.default_rng(1).normal(size=(20, 9))
    F[3] = np.inf, np.nan, *F[3, 2:]
    np.testing.assert_array_equal(times(A, F), A @ F)
    empty = sparse.csr_array((4, 20))
    np.testing.assert_array_equal(times(empty, F), np.zeros((4, 9)))


def test_other_arrays_are_multiplied_as_ever():
    A, F = sample((20, 30)), np.random.default_rng(1).normal(size=(30, 9))
    np.testing.assert_array_equal(times(A.toarray(), F), A.toarray() @ F)
    np.testing.assert_array_equal(times(A.tocsc(), F), A.tocsc() @ F)
    np.testing.assert_array_equal(times(A, F[:, 0]), A @ F[:, 0])
    np.testing.assert_array_equal(times(A.astype(np.float32), F), A.astype(np.float32) @ F)
    np.testing.assert_array_equal(times(A, np.ones((30, 3), dtype=int)), A @ np.ones((30, 3)))
    with pytest.raises(ValueError, match="dimension mismatch"):
        times(A, F[:-1])
