"""The restart engine: scikit-learn's Lloyd, exact arithmetic, every route to the same labels, empty clusters, seeds."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import forked
import numpy as np
import pytest
from sklearn.cluster import KMeans, kmeans_plusplus
from threadpoolctl import threadpool_limits

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.metrics.kmeans import kmeans_restarts, lloyd, starting_rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sklearn_labels(X, starts, max_iter=100):
    settings = {"n_init": 1, "algorithm": "lloyd", "tol": 0, "max_iter": max_iter}
    return np.array([KMeans(len(rows), init=X[rows], **settings).fit(X).labels_ for rows in starts])


def exact_labels(X, rows, max_iter=100):
    """Run Lloyd's algorithm in rational arithmetic, written as plainly as possible."""
    X = [[Fraction(int(value)) for value in row] for row in X]
    centres = [X[row] for row in rows]

    def distance(x, centre):
        return sum((a - b) ** 2 for a, b in zip(x, centre, strict=True))

    labels = None
    for _ in range(max_iter):
        nearest = [min(range(len(rows)), key=lambda k: (distance(x, centres[k]), k)) for x in X]
        if nearest == labels:
            break
        labels, members = nearest, list(nearest)
        for k in range(len(rows)):
            if k not in members:
                free = [i for i in range(len(X)) if members.count(members[i]) > 1]
                members[min(free, key=lambda i: (-distance(X[i], centres[labels[i]]), i))] = k
        groups = [[x for x, member in zip(X, members, strict=True) if member == k] for k in range(len(rows))]
        centres = [[sum(column) / len(group) for column in zip(*group, strict=True)] for group in groups]
    return labels


@pytest.mark.parametrize(("n_samples", "n_features", "n_clusters"), [(30, 3, 2), (200, 20, 7), (150, 400, 12)])
@pytest.mark.parametrize("offset", [0, 1e4])
def test_labels_equal_scikit_learn_on_random_data(n_samples, n_features, n_clusters, offset):
    X = np.random.default_rng(n_samples).normal(size=(n_samples, n_features)) + offset
    starts = starting_rows(n_samples, n_clusters, 10, 3)
    assert np.array_equal(lloyd(X, starts), sklearn_labels(X, starts))


@pytest.mark.parametrize(
    ("name", "size", "n_restarts"),
    [("pie10p", 50, 20), ("umist", 300, 20), ("coil20", 50, 20), ("usps", 100, 2)],
)
def test_labels_equal_scikit_learn_on_real_data(data_dir, name, size, n_restarts):
    dataset = load_dataset(name, data_dir)
    columns = np.random.default_rng(size).choice(dataset.n_features, size, replace=False)
    X = np.ascontiguousarray(scale(dataset.X, "minmax")[:, columns])
    starts = starting_rows(len(X), dataset.n_classes, n_restarts, 0)
    assert np.array_equal(kmeans_restarts(X, dataset.n_classes, n_restarts), sklearn_labels(X, starts))


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_an_early_stop_leaves_the_assignment_to_the_last_centres(max_iter):
    X = np.random.default_rng(0).normal(size=(300, 5))
    starts = starting_rows(300, 8, 5, 0)
    labels = lloyd(X, starts, max_iter)
    assert np.array_equal(labels, sklearn_labels(X, starts, max_iter))
    assert not np.array_equal(labels, lloyd(X, starts))


@pytest.mark.parametrize("seed", range(20))
def test_ties_and_empty_clusters_are_decided_as_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    n_samples, n_features, n_clusters = rng.integers(6, 30), rng.integers(1, 5), rng.integers(1, 7)
    X = rng.integers(rng.integers(2, 6), size=(n_samples, n_features)).astype(float)
    starts = starting_rows(int(n_samples), int(n_clusters), 4, seed)
    for weight in (1, 1 / 255, 1e6):
        assert lloyd(X * weight, starts).tolist() == [exact_labels(X, rows) for rows in starts]


def test_binary_data_give_the_same_labels_for_every_order_of_the_features():
    X = np.random.default_rng(0).integers(2, size=(200, 64)).astype(float)
    labels = kmeans_restarts(X, 10)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(64)
        assert np.array_equal(kmeans_restarts(X[:, order], 10), labels)


def test_extreme_numbers_of_clusters():
    X = np.random.default_rng(0).normal(size=(12, 3))
    assert not kmeans_restarts(X, 1).any()
    assert all(sorted(row) == list(range(12)) for row in kmeans_restarts(X, 12))


def test_starts_are_distinct_samples_that_depend_only_on_seed_restart_and_sizes():
    rows = starting_rows(50, 12, 20, 7)
    assert all(len(set(row)) == 12 for row in rows)
    assert np.array_equal(rows[:5], starting_rows(50, 12, 5, 7))
    assert len({tuple(row) for row in rows} | {tuple(row) for row in starting_rows(50, 12, 20, 8)}) == 40
    assert rows.min() >= 0
    assert rows.max() < 50


def test_starts_are_uniform():
    counts = np.bincount(starting_rows(20, 4, 2000, 0).ravel(), minlength=20)
    chi_squared = ((counts - 400) ** 2 / 400).sum()
    assert chi_squared < 43.8  # the 0.1 % point for 19 degrees of freedom; draws without replacement spread less


def test_restarts_do_not_influence_each_other_and_data_stay_untouched():
    X = np.random.default_rng(2).normal(size=(90, 6))
    X.flags.writeable = False
    labels = kmeans_restarts(X, 5, n_restarts=8, seed=1)
    assert np.array_equal(kmeans_restarts(X, 5, n_restarts=3, seed=1), labels[:3])
    starts = starting_rows(90, 5, 8, 1)
    assert all(np.array_equal(lloyd(X, starts[[r]])[0], labels[r]) for r in range(8))


def test_threads_and_memory_order_change_nothing():
    X = np.random.default_rng(3).normal(size=(700, 40))
    labels = kmeans_restarts(X, 9)
    with threadpool_limits(2):
        assert np.array_equal(kmeans_restarts(np.asfortranarray(X), 9), labels)


COMPILE = "from ufs_bench.metrics.kmeans import load_engine; load_engine(lambda: print('compiling'))"


@pytest.mark.slow
def test_the_engine_is_compiled_once_and_says_so_and_processes_that_compile_at_once_do_not_clash(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", COMPILE]
    root = Path(__file__).resolve().parents[2]
    at_once = [subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in at_once] == ["compiling\n"] * 2
    assert [process.returncode for process in at_once] == [0, 0]
    assert subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout == ""


def test_labels_agree_with_the_released_program(reference):
    pair = reference("step13_metrics_kmeans")
    labels = lloyd(pair["X"], pair["init_idx"].T.astype(int) - 1)[0]
    assert np.array_equal(labels, pair["lk"].ravel() - 1)
    centres = np.array([pair["X"][labels == cluster].mean(axis=0) for cluster in range(4)])
    assert np.allclose(centres, pair["ck"], atol=1e-12)
    # Three equal starts: two clusters are empty after the first assignment, and it serves them as we do.
    assert np.array_equal(lloyd(pair["X"], pair["init_bad"].T.astype(int) - 1)[0], pair["lk_bad"].ravel() - 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 9}, r"n_clusters=9 must be in \[1, n_samples=8\]"),
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_clusters": 2, "n_restarts": 0}, "n_restarts=0"),
        ({"n_clusters": 2, "seed": -1}, "seed=-1"),
        ({"n_clusters": 2, "max_iter": 0}, "max_iter=0"),
    ],
)
def test_settings_out_of_bounds_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        kmeans_restarts(np.eye(8), **settings)


def test_data_that_are_no_samples_are_refused():
    for X in (np.ones(4), np.ones((0, 3)), np.ones((3, 0))):
        with pytest.raises(ValueError, match="n_samples, n_features"):
            kmeans_restarts(X, 1)
    with pytest.raises(ValueError, match="finite"):
        kmeans_restarts([[1.0], [np.nan]], 1)
    with pytest.raises(ValueError, match="rows of X"):
        lloyd(np.eye(3), [[0, 3]])


def test_labels_are_the_same_at_the_ends_of_the_range_of_numbers():
    """They are found in a process of its own, as centres that were nan once ended it with a signal."""
    code = (
        "import warnings; warnings.simplefilter('error'); "
        "import numpy as np; from ufs_bench.metrics.kmeans import kmeans_restarts as restarts; "
        "X = np.random.default_rng(0).integers(-9, 9, size=(60, 5)) + np.repeat([0.0, 40.0, 90.0], 20)[:, None]; "
        "same = [f for f in (1e-309, 1e-320, 1e300, 1e306) if (restarts(X * f, 3, 5) == restarts(X, 3, 5)).all()]; "
        "assert len(same) == 4, same"
    )
    forked.printed(["-c", code], Path(__file__).parents[2])


def test_the_starts_of_k_means_plus_plus_are_those_of_scikit_learn():
    X = np.random.default_rng(4).normal(size=(80, 6))
    found = kmeans_restarts(X, 5, 3, seed=7, starts="kmeans++")
    seeds = [np.random.RandomState(np.random.MT19937([7, restart])) for restart in range(3)]
    starts = np.array([kmeans_plusplus(X, 5, random_state=seed)[1] for seed in seeds])
    assert np.array_equal(found, sklearn_labels(X, starts))
    assert np.array_equal(found[:2], kmeans_restarts(X, 5, 2, seed=7, starts="kmeans++"))


def test_a_replicated_restart_is_the_tightest_of_its_starts():
    X = np.random.default_rng(5).normal(size=(60, 4))

    def inertia(labels):
        return sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels))

    single = kmeans_restarts(X, 6, 12, seed=1)
    best = kmeans_restarts(X, 6, 3, seed=1, replicates=4)
    values = [min(group, key=inertia) for group in single.reshape(3, 4, 60)]
    assert len({inertia(labels) for labels in single}) > 6  # so that a choice is made
    assert np.array_equal(best, values)
