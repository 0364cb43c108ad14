"""Data sets that stay sparse from their file on: ``sparse: true`` in a source, ``sparse=true`` beside ``data=``."""

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from ufs_bench.datasets import DataError, load_dataset, loaders
from ufs_bench.datasets.base import data_sha
from ufs_bench.datasets.given import as_dataset
from ufs_bench.datasets.own import own_spec

rng = np.random.default_rng(0)
X = np.where(rng.random((12, 7)) < 0.3, rng.normal(size=(12, 7)), 0.0)
Y = np.arange(12) % 3


@pytest.fixture
def files(tmp_path):
    """Return paths of the same samples in each format, with the label that own_spec is told."""
    held = sparse.csc_array(X)
    dump_svmlight_file(sparse.csr_array(X), Y, str(tmp_path / "a.svm"), zero_based=True)
    savemat(tmp_path / "a.mat", {"X": held, "y": Y})
    sparse.save_npz(tmp_path / "only.npz", held)
    np.savez(tmp_path / "a.npz", **dict(np.load(tmp_path / "only.npz")), y=Y)
    return {tmp_path / "a.svm": None, tmp_path / "a.mat": "y", tmp_path / "a.npz": "y"}


def test_every_format_gives_the_same_sparse_samples_and_without_the_word_the_dense_ones(files):
    found = []
    for path, label in files.items():
        kept = load_dataset(*own_spec(path, label, sparse=True))
        assert sparse.issparse(kept.X) and kept.X.has_canonical_format and kept.X.nnz == np.count_nonzero(X)
        with pytest.raises(ValueError, match="read-only"):
            kept.X.data[0] = 1
        full = load_dataset(*own_spec(path, label))
        np.testing.assert_allclose(kept.X.toarray(), full.X, rtol=1e-14)
        np.testing.assert_array_equal(kept.y, full.y)
        assert isinstance(full.X, np.ndarray) and kept.sha != full.sha
        found.append(kept.X.toarray())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-14)
    np.testing.assert_array_equal(found[2], found[1])


def test_the_checksum_belongs_to_the_values_and_not_to_how_they_are_held():
    messy = sparse.coo_array(([*X[X != 0], 0.0], [np.append(part, 0) for part in np.nonzero(X)]), shape=X.shape)
    shas = {as_dataset(held, Y).sha for held in (messy, sparse.csr_array(X), sparse.csc_matrix(X))}
    assert len(shas) == 1
    moved = sparse.csr_array(X[:, ::-1])
    assert data_sha(as_dataset(moved, Y).X, Y) not in shas


def test_what_cannot_be_kept_sparse_is_said(files):
    path, label = list(files.items())[2]
    with pytest.raises(DataError, match="fill=median needs a dense X"):
        load_dataset(*own_spec(path, label, sparse=True, fill="median"))
    with pytest.raises(DataError, match="sparse='yes' must be true or false"):
        own_spec(path, label, sparse="yes")
    broken = sparse.csr_array(X)
    broken.data[0] = np.nan
    i, j = np.argwhere(np.isnan(broken.toarray()))[0]
    with pytest.raises(DataError, match=f"the first \\(nan\\) in sample {i}, feature {j}"):
        as_dataset(broken, Y)


def test_a_sparse_file_that_is_too_large_to_be_written_out_says_what_to_do(files, monkeypatch):
    monkeypatch.setattr(loaders, "LARGEST_DENSE", X.size - 1)
    for path, label in files.items():
        with pytest.raises(DataError, match="say sparse=true"):
            load_dataset(*own_spec(path, label))
        assert load_dataset(*own_spec(path, label, sparse=True)).n_samples == len(X)
