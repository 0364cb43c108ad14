"""A sparse data set in a run: from the file to the scores of the same values in a dense array."""

from types import SimpleNamespace

import numpy as np
import pytest
from frames import load_results
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from ufs_bench import run as bench
from ufs_bench.datasets import load_dataset
from ufs_bench.datasets.own import own_spec
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.experiment.method import Method, check_sparse, methods_that_take_sparse
from ufs_bench.runners.messages import ConfigError
from ufs_bench.runners.workers.data import Data, opened
from ufs_bench.scripts.core.conf import find


def write(path, n_samples, n_features, share):
    """Write a LIBSVM file in which the first tenth of the features tells three classes apart."""
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 3
    count = int(share * n_samples * n_features)
    rows, columns = rng.integers(n_samples, size=count), rng.integers(n_features, size=count)
    telling = (columns < n_features // 10) & (columns % 3 == y[rows])
    values = np.where(telling, 3.0, 1.0) * rng.random(count)
    X = sparse.csr_array((values, (rows, columns)), shape=(n_samples, n_features))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")  # scikit-learn writes no others
    dump_svmlight_file(X, y, str(path), zero_based=True)
    return path


def test_every_method_that_takes_sparse_has_the_scores_of_the_dense_data(tmp_path):
    path, methods = write(tmp_path / "words.svm", 90, 60, 0.1), methods_that_take_sparse()
    data = [load_dataset(*own_spec(path, name=name, sparse=name == "kept")) for name in ("kept", "full")]
    overrides = ["runner.points=default", "protocol.sizes=[5]"]
    bench(methods, data, "smoke", "s", tmp_path, overrides=overrides, verbose=False)
    results = load_results(tmp_path, "s")
    trials = results.trials.set_index(["method", "params"]).sort_index()
    kept, full = (trials[trials["dataset"] == name] for name in ("kept", "full"))
    assert set(kept.index.get_level_values("method")) == set(methods)
    assert (kept["ranking"] == full["ranking"]).all() and (kept["status"] == full["status"]).all()
    index = ["method", "params", "n_selected", "clusterer", "restart"]
    every = results.scores.merge(results.trials[["trial", "params"]], on="trial").set_index(index)
    scores = [every[every["dataset"] == name] for name in ("kept", "full")]
    # The same sets of features, and so the same columns, to the last digit.
    columns = ["acc", "nmi"]
    assert len(scores[0]) and scores[0][columns].sort_index().equals(scores[1][columns].sort_index())
    joined = results.measures.merge(results.trials[["trial", "dataset", "method", "params"]], on="trial")
    values = joined.pivot_table(index=["method", "params", "n_selected", "name"], columns="dataset", values="value")
    np.testing.assert_allclose(values["kept"], values["full"], atol=1e-8)  # as `metrics.evaluate.evaluate` says


def test_a_dense_method_and_a_scaling_that_fills_are_refused_by_the_names_of_those_that_do_it():
    X = sparse.csr_array(np.eye(4, 3))
    data = SimpleNamespace(name="words", X=X)
    protocol = Protocol(name="p", sizes=(2,), scaling="minmax", restarts=2, seed=0, nmi="geometric", max_iter=5)
    udfs, mcfs = (Method.read(find("method", name)) for name in ("udfs", "mcfs"))
    check_sparse(mcfs, protocol, data, {})
    with pytest.raises(ConfigError, match=r"udfs needs a dense X, and words \(4 x 3\).*laplacian_score.*mcfs"):
        check_sparse(udfs, protocol, data, {})
    for how, sign, words in (("zscore", 1, "take one of none, unit_norm"), ("minmax", -1, "moves the zeros")):
        found = SimpleNamespace(name="words", X=sign * X)
        with pytest.raises(ConfigError, match=words):
            check_sparse(mcfs, Protocol(**{**vars(protocol), "scaling": how}), found, {})
    # Before the data are loaded their shape stands for them.
    shape, spec = SimpleNamespace(name="words", X=np.broadcast_to(0.0, (10**5, 10**4))), {"sources": [{"sparse": True}]}
    check_sparse(mcfs, protocol, shape, spec)
    check_sparse(udfs, protocol, shape, {"sources": [{}]})
    with pytest.raises(ConfigError, match="7,629.4 MB"):
        check_sparse(udfs, protocol, shape, spec)
    with pytest.raises(ConfigError, match="zscore would fill"):
        check_sparse(mcfs, Protocol(**{**vars(protocol), "scaling": "zscore"}), shape, spec)


def test_shared_samples_are_those_that_were_given_and_cannot_be_written_to():
    X = sparse.csr_array(np.diag([1.0, 2.0, 0.0]))
    X.eliminate_zeros()
    with Data(X, np.array(3)).shared() as source:
        found, y, fitted_on = opened(source)
    assert found.has_canonical_format and (found != X).nnz == 0 and not found.data.flags.writeable
    assert fitted_on is found and y == 3
