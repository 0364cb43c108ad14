"""Changes of the data that leave the selection of many methods as it is, and the scores of constant features."""

import numpy as np
import pytest
from samples import correlated, factors, real
from sklearn.base import clone

from ufs_bench import methods

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def orthogonal(size):
    return np.linalg.qr(np.random.default_rng(4).normal(size=(size, size)))[0]


CHANGES = {
    "unit": lambda X: 255 * X,
    "small unit": lambda X: 1e-6 * X,
    "origin": lambda X: X + 7,
    "origins": lambda X: X + np.arange(X.shape[1]),
    "own units": lambda X: X * np.logspace(-3, 3, X.shape[1]),
    "rotation": lambda X: orthogonal(len(X)) @ X,
}
CSS = [
    methods.GreedyCSS,
    methods.SwapCSS,
    *(
        lambda size, cls=cls: cls(size, center=False)
        for cls in (methods.PivotedQR, methods.SingularQR, methods.LeverageScores)
    ),
]
UNCHANGED = {
    ("unit", "small unit", "rotation"): [make(9) for make in CSS],
    ("unit", "small unit", "origin", "origins"): [
        methods.GreedyCSS(9, center=True),
        *(methods.FSPCA(9, n_components=3, solver=solver) for solver in ("go", "ipu", "swap")),
        methods.PFA(9, random_state=0),
        methods.LaplacianScore(9),
        methods.DGUFS(9, n_clusters=3, solver="normalized", random_state=0),
    ],
    ("unit", "small unit"): [methods.MCFS(9)],
    ("origins", "own units"): [
        methods.KMeansUFS(9, n_clusters=3),
        methods.DUFS(9, max_iter=1, tol=0),
        methods.PFA(9, standardize=True, random_state=0),
    ],
    ("rotation",): [methods.VCSDFS(9, max_iter=2)],
    ("origins",): [methods.SOCFS(9, n_clusters=3, random_state=0, max_iter=20), methods.SPCAPSD(9, lambda_=0.5)],
}
CASES = [(method, change) for changes, methods in UNCHANGED.items() for change in changes for method in methods]


@pytest.mark.parametrize(("method", "change"), CASES, ids=str)
def test_a_change_of_the_data_that_says_nothing_changes_nothing(method, change):
    X = factors(25, 40)
    one, other = (clone(method).fit(data).subset(9) for data in (X, CHANGES[change](X)))
    assert set(one) == set(other)


LAST = [
    methods.MaxVariance(),
    methods.LaplacianScore(),
    *(methods.SPEC(variant=variant) for variant in ("phi1", "phi3")),
    *(methods.KMeansUFS(5, n_clusters=3, solver=solver) for solver in ("exact", "admm")),
    *(methods.FSPCA(5, solver=solver, scale=scale) for solver in ("go", "ipu", "swap") for scale in (False, True)),
    methods.InfFS(),
    methods.UDFS(n_clusters=3),
    methods.UFSOL(n_clusters=3, random_state=0, max_iter=5),
    methods.SPCAPSD(lambda_=0.5),
    methods.DGUFS(5, n_clusters=3, solver="normalized", random_state=0),
]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("method", LAST, ids=str)
def test_constant_features_come_last_and_change_nothing(method, value):
    X = correlated(30, 12)
    fit = clone(method).fit(np.insert(X, [0, 5, 12], value, axis=1))
    assert set(fit.ranking_[-3:]) == {0, 6, 14}
    scores = np.delete(fit.scores_, [0, 6, 14])
    np.testing.assert_allclose(scores, clone(method).fit(X).scores_, rtol=1e-6, atol=1e-9)


COLLAPSING = [
    *(method for method in LAST if not isinstance(method, methods.LaplacianScore)),
    methods.MinVariance(),
    methods.PFA(2),
    methods.SPCAPSD(variant="released", random_state=0),
]
COLLAPSING += [
    cls(2, center=True)
    for cls in (methods.GreedyCSS, methods.SwapCSS, methods.PivotedQR, methods.SingularQR, methods.LeverageScores)
]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("method", COLLAPSING, ids=str)
def test_constant_data_collapse(method, value):
    fit = clone(method).set_params(n_features_to_select=2).fit(np.full((8, 5), value))
    assert fit.status_ == "collapsed"


REAL = [  # of 100 features as many stay as rounding lets
    ("umist", 1, methods.UDFS(100, n_clusters=20), 100),
    ("orl", 1, methods.UDFS(100, n_clusters=20), 100),
    ("umist", 1, methods.NDFS(100, n_clusters=20, random_state=0), 99),
    ("umist", 1, methods.RUFS(100, n_clusters=20, variant="released", random_state=0), 90),
    ("umist", 1, methods.DGUFS(100, n_clusters=20, solver="normalized", n_starts=6, random_state=0), 100),
    ("orl", 4, methods.UFSOL(100, n_clusters=10, random_state=0), 98),
]


@pytest.mark.slow  # the contract permutes small data
@pytest.mark.parametrize(("name", "step", "method", "kept"), REAL, ids=str)
def test_real_data_in_another_order_keep_the_selection(data_dir, name, step, method, kept):
    X, rng = real(data_dir, name)[0][: None if step == 1 else 100, ::step], np.random.default_rng(1)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    one, other = clone(method).fit(X).subset(100), clone(method).fit(X[rows][:, columns]).subset(100)
    assert len(set(one) & set(columns[other])) >= kept
