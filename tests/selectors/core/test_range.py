"""Data whose squares leave the range or the precision of floats: a fit, or one error that says what to do."""

import numpy as np
import pytest
from quick_methods import further_slow, load_quick_methods, shortened

from ufs_bench.methods.core.checks import LARGEST, check_range
from ufs_bench.scripts.check_method.contract import blobs, wide_blobs, without_negatives

METHODS = load_quick_methods()


def with_entry(value):
    def change(X):
        X = X.copy()
        X[3, 1] = value
        return X

    return change


REFUSED = {
    "an offset of 1e9": lambda X: X + 1e9,
    "an offset of 1e15": lambda X: X - 1e15,
    "one offset of 1e12": lambda X: X + 1e12 * np.eye(1, X.shape[1]),
    "one entry of 1e200": with_entry(1e200),
    "one entry of -1e308": with_entry(-1e308),
    "a scale of 1e160": lambda X: X * 1e160,
    "a scale of 1e-160": lambda X: X * 1e-160,
    "a scale of 1e-300": lambda X: X * 1e-300,
    "denormal numbers": lambda X: X * 1e-310,
}
FITTED_OR_REFUSED = {
    "an offset of 1e7": lambda X: X + 1e7,
    "one entry of 1e60": with_entry(1e60),
    "a scale of 1e69": lambda X: X / np.abs(X).max() * 1e69,
    "a scale of 1e-69": lambda X: X / np.abs(X).max() * 1e-69,
    "scales from 1e-60 to 1e60": lambda X: X * np.logspace(-60, 60, X.shape[1]),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_refuses_before_the_fit_and_says_what_to_do(name, case):
    for X in (blobs(), wide_blobs()):
        with pytest.raises(ValueError, match=r"scale the features, for example to \[0, 1\]"):
            METHODS[name].make(4, n_clusters=3).fit(REFUSED[case](X))


@pytest.mark.parametrize("case", FITTED_OR_REFUSED)
@pytest.mark.parametrize("name", further_slow(METHODS, long=("spdfs",)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of a fit that then says how it ended
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method_fits_or_refuses_what_is_barely_in_range(request, name, case):
    for X in (blobs(), wide_blobs()):
        selector = METHODS[name].make(4, n_clusters=3)
        if not request.config.getoption("--slow"):
            shortened(selector)
        try:
            selector.fit(FITTED_OR_REFUSED[case](without_negatives(X, METHODS[name])))
        except ValueError as error:
            assert not isinstance(error, np.linalg.LinAlgError), error
            assert any(
                remedy in str(error) for remedy in ("scale the features", "Pass a bandwidth", "raise n_neighbors")
            )


@pytest.mark.parametrize("value", [0.0, 0.1, -3e9, LARGEST])
def test_constant_features_of_any_size_are_in_range(value):
    check_range(np.full((6, 4), value))
    check_range(np.column_stack([np.full(6, value), np.arange(6.0)]))


def test_the_bounds_are_those_that_the_messages_name():
    X = blobs() / np.abs(blobs()).max()
    for scale in (LARGEST, 1 / LARGEST):
        check_range(X * scale * (1 + 1e-15 if scale < 1 else 1))
    with pytest.raises(ValueError, match=r"absolute value of X is 1.01e\+70; it must be in \[1e-70, 1e\+70\]"):
        check_range(1.01 * LARGEST * X)
    with pytest.raises(ValueError, match=r"vary by 1 about values of 1e\+09 \(root mean squares\)"):
        check_range(np.array([[1e9 - 1.0], [1e9 + 1.0]]))
