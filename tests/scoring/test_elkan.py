"""The engine of K-means: every route to the labels of the definition, and distances that keep their bounds."""

from pathlib import Path

import numpy as np
import pytest

from ufs_bench.metrics import elkan, kmeans
from ufs_bench.metrics.kmeans import kmeans_restarts, lloyd, starting_rows


def by_definition(X, rows, max_iter=100):
    """Compute labels by the docstring of `lloyd`, in float64, with its order of additions and without bounds."""
    X = kmeans.unit_samples(np.asarray(X, dtype=float))
    tie = kmeans.TIE * np.einsum("ij,ij", X, X) / len(X)
    centres, labels = X[rows], None
    for _ in range(max_iter + 1):
        squares = np.array([lanes((X - centre) ** 2) for centre in centres])
        nearest = (squares <= squares.min(axis=0) + tie).argmax(axis=0)
        if labels is not None and (nearest == labels).all():
            break
        labels, members = nearest, nearest.copy()
        for k in np.flatnonzero(np.bincount(labels, minlength=len(rows)) == 0):
            far = np.where(np.bincount(members)[members] > 1, squares[labels, np.arange(len(X))], -np.inf)
            members[np.argmax(far >= far.max() - tie)] = k
        # Unlike sum, accumulate adds one row after the other.
        centres = np.array([np.add.accumulate(X[members == k])[-1] for k in range(len(rows))])
        centres /= np.bincount(members)[:, None]
    return labels


def lanes(values):
    """Return row sums in the order of the engine: every fourth column by itself, then the four."""
    whole = values.shape[1] // 4 * 4
    a, b, c, d = (np.add.accumulate(values[:, first:whole:4], axis=1)[:, -1] if whole else 0 for first in range(4))
    for rest in values[:, whole:].T:
        a = a + rest
    return (a + b) + (c + d)


def hard_data():
    rng = np.random.default_rng(5)
    binary = rng.integers(2, size=(150, 12)).astype(float)
    blobs = rng.normal(size=(900, 7)) + 4 * rng.integers(3, size=(900, 1))
    near_ties = np.round(blobs[:300], 1) + 1e-7 * rng.normal(size=(300, 7))
    return {
        "blobs": blobs,  # more than a block
        "binary": binary,
        "repeated samples": np.repeat(binary[:20], 7, axis=0),
        "near ties": near_ties,
        "ties but for rounding": np.round(blobs[:300], 1) * (1 + 1e-15 * rng.normal(size=(300, 7))),
        "heavy tails": np.exp(4 * rng.normal(size=(120, 30))),
        "far from the origin": blobs[:200] + 1e5,
        "tiny": blobs[:100] * 1e-200,
        "huge": blobs[:100] * 1e200,
        "many features": rng.normal(size=(40, 900)),
        "few distinct": np.repeat(np.eye(3), 5, axis=0),
    }


@pytest.mark.parametrize("name", hard_data())
def test_labels_are_those_of_the_definition(name):
    X = hard_data()[name]
    starts = starting_rows(len(X), 8, 6, 0)
    assert np.array_equal(lloyd(X, starts), [by_definition(X, rows) for rows in starts])


ROUTES = {
    "one restart at a time": {"PRODUCTS": 1},
    "from the Gram matrix": {"GRAM_FEATURES": 0, "GRAM_SAMPLES": 10**9},
    "without the Gram matrix": {"GRAM_SAMPLES": 0},
    "other padding": {"LANES": 7},
    "nothing proved in float32": {"absolute": 10.0},
    "nothing proved at all": {"absolute": 10.0, "blur": 10.0},
    "little proved": {"relative": 0.05, "product": 0.1, "blur": 1e-3},
}


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_leads_to_the_same_labels(route, monkeypatch):
    data = hard_data()
    expected = {name: kmeans_restarts(X, 8, 6) for name, X in data.items()}
    limits = kmeans._limits  # what is proved shows in seconds alone, as every route must lead to the same labels
    for name, value in ROUTES[route].items():
        if name.isupper():
            monkeypatch.setattr(kmeans, name, value)
    loose = {name: value for name, value in ROUTES[route].items() if not name.isupper()}
    monkeypatch.setattr(kmeans, "_limits", lambda *args: limits(*args)._replace(**loose))
    for name, X in data.items():
        assert np.array_equal(kmeans_restarts(X, 8, 6), expected[name]), name


@pytest.mark.parametrize("n_features", [3, 50, 2000])
def test_float32_distances_err_by_no_more_than_their_bounds(n_features, monkeypatch):
    monkeypatch.setattr(kmeans, "GRAM_SAMPLES", 10**9 if n_features == 2000 else 0)
    rng = np.random.default_rng(n_features)
    X = kmeans.unit_samples(rng.normal(size=(60, n_features)) * np.exp(3 * rng.normal(size=(60, 1))))
    # Labels show an error beyond a bound for few data only; so the parts are looked at.
    points, distortion = kmeans._points(X, 1)
    limits = kmeans._limits(X, points, distortion)
    weights = rng.dirichlet(np.ones(60), size=60)  # means of samples
    exact = np.linalg.norm(X[:, None] - weights @ X, axis=2)
    centres = (weights @ points.astype(float)).astype(np.float32)
    computed = np.array([[elkan._distance(points, i, centres, k) for k in range(60)] for i in range(60)])
    assert (np.abs(computed - exact) <= limits.relative * computed + limits.absolute + distortion).all()
    squares = np.linalg.norm(points[:, None].astype(float) - points, axis=2) ** 2
    norms = np.einsum("ij,ij->i", points, points)
    assert (np.abs(norms[:, None] + norms - 2 * (points @ points.T) - squares) <= limits.product).all()


def test_the_engine_needs_no_folder_to_write_to():
    source = Path(elkan.__file__).read_text()
    namespace = {"__name__": "nowhere"}
    exec(compile(source, "nowhere.py", "exec"), namespace)  # Numba finds no place to keep the result of such code
    assert namespace["_distance"](np.ones((1, 4), np.float32), 0, np.zeros((1, 4), np.float32), 0) == 2
