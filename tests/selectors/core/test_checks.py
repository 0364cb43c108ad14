"""Declared ranges: what passes, what does not, and that the error names value, range and remedy."""

import numpy as np
import pytest

from ufs_bench.methods import NDFS, LaplacianScore
from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.checks import (
    above,
    at_least,
    between,
    check_choice,
    check_init,
    check_number,
    fewer_than_samples,
    n_samples,
    smaller_side,
    whole,
)

X = np.arange(24.0).reshape(8, 3)
NUMBERS = (-1, 0, 0.25, 0.5, 1, 2, 7, 8, 9)
ACCEPTED = {
    "above(0)": (above(0), {0.25, 0.5, 1, 2, 7, 8, 9}),
    "at_least(0)": (at_least(0), {0, 0.25, 0.5, 1, 2, 7, 8, 9}),
    "between(0, 0.5)": (between(0, 0.5), {0.25}),
    "whole(1)": (whole(1), {1, 2, 7, 8, 9}),
    "whole(0, 2)": (whole(0, 2), {0, 1, 2}),
    "whole(1, n_samples)": (whole(1, n_samples), {1, 2, 7, 8}),
    "whole(1, fewer_than_samples)": (whole(1, fewer_than_samples), {1, 2, 7}),
    "whole(1, smaller_side)": (whole(1, smaller_side), {1, 2}),
}


def passes(check, *args):
    try:
        check(*args)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("bound", "accepted"), ACCEPTED.values(), ids=ACCEPTED)
def test_a_bound_accepts_its_range_and_nothing_else(bound, accepted):
    assert {value for value in NUMBERS if passes(bound.check, "p", value, X)} == accepted


@pytest.mark.parametrize("bound", [above(-9), at_least(-9), between(-9, 9), whole(-9, 9)])
@pytest.mark.parametrize("value", [None, "1", True, np.nan, np.inf, -np.inf, [1], np.ones(2), 1j])
def test_what_is_no_finite_number_is_refused(bound, value):
    with pytest.raises(ValueError, match="p=.* must be a"):
        bound.check("p", value, X)


@pytest.mark.parametrize("value", [np.int64(2), np.int8(2), np.uint16(2)])
def test_whole_numbers_of_numpy_are_whole_numbers(value):
    whole(1, n_samples).check("p", value, X)
    with pytest.raises(ValueError, match="whole number"):
        whole(1).check("p", np.float64(2.0), X)


@pytest.mark.parametrize(
    ("bound", "value", "message"),
    [
        (above(0), 0, "p=0 must be a number in (0, inf)."),
        (between(0, 0.5), 0.5, "p=0.5 must be a number in (0, 0.5)."),
        (whole(1, n_samples), 9, "p=9 must be a whole number in [1, n_samples=8]."),
        (whole(1, fewer_than_samples), 8, "p=8 must be a whole number in [1, n_samples=8 - 1=7]."),
        (whole(1, smaller_side), 4, "p=4 must be a whole number in [1, n_features=3]."),
    ],
)
def test_the_error_names_parameter_value_and_range(bound, value, message):
    with pytest.raises(ValueError) as error:
        bound.check("p", value, X)
    assert str(error.value) == message


def test_without_bounds_every_finite_number_will_do():
    check_number("p", -1e300)
    with pytest.raises(ValueError, match=r"\(-inf, 2\]"):
        check_number("p", 3, high=2)


@pytest.mark.parametrize("value", ["hot", "", None, 1, ("heat",), np.eye(2)])
def test_only_the_options_are_a_choice(value):
    check_choice("affinity", "heat", ("heat", "binary"))
    with pytest.raises(ValueError, match="must be one of 'heat', 'binary'.$"):
        check_choice("affinity", value, ("heat", "binary"))


def test_an_array_passes_where_one_may_stand_for_a_choice_and_a_misspelt_name_does_not():
    check_choice("affinity", np.eye(2), ("heat", "binary"), or_array=True)
    with pytest.raises(ValueError, match="affinity='hot' must be one of 'heat', 'binary', or an array"):
        check_choice("affinity", "hot", ("heat", "binary"), or_array=True)
    with pytest.raises(ValueError, match="affinity has shape"):
        LaplacianScore(affinity=np.eye(2)).fit(X)


@pytest.mark.parametrize(
    "init", [np.ones((3, 2)), np.ones(6), np.full((2, 3), np.nan), -np.ones((2, 3)), "labels", [[1], [2, 3]]]
)
def test_a_start_of_another_form_is_refused(init):
    with pytest.raises(ValueError, match=r"start.* shape \(2, 3\)"):
        check_init(init, (2, 3), low=0, name="start")


@pytest.mark.parametrize("init", [None, np.zeros((2, 3)), [[1, 2, 3], [4, 5, 6]]])
def test_a_start_of_the_form_asked_for_passes_and_so_does_none(init):
    check_init(init, (2, 3), low=0)


class Declared(BaseSelector):
    """A method with a bound of its own on a parameter that all share, and one choice."""

    bounds = {"max_iter": whole(1), "share": between(0, 0.5)}  # noqa: RUF012
    choices = {"kind": ("one", "two"), "affinity": ("heat",)}  # noqa: RUF012

    def __init__(self, n_features_to_select=None, *, max_iter=5, share=0.1, kind="one", tol=1e-3, affinity="heat"):
        super().__init__(n_features_to_select)
        self.max_iter, self.share, self.kind, self.tol, self.affinity = max_iter, share, kind, tol, affinity

    def _solve(self, X, rng):
        raise AssertionError("the fit began")


@pytest.mark.parametrize(
    ("name", "value"), [("max_iter", 0), ("share", 0.5), ("kind", "three"), ("tol", -1), ("affinity", "cold")]
)
def test_a_selector_refuses_before_the_fit_what_its_class_declares_and_what_all_share(name, value):
    selector = Declared(**{name: value})
    for check in (selector.check_parameters, selector.fit):
        with pytest.raises(ValueError, match=f"^{name}={value!r} must be"):
            check(X)
    Declared(affinity=np.eye(8)).check_parameters(X)


def test_what_a_fit_learned_becomes_attributes():
    class Learned(BaseSelector):
        learned, labels = {"coef_": 2 * X.T, "graph_": "G"}, np.zeros(len(X), dtype=int)

        def _solve(self, X, rng):
            return Solution(X.sum(axis=0), labels=self.labels, learned=self.learned)

    fitted = Learned().fit(X)
    np.testing.assert_array_equal(fitted.coef_, 2 * X.T)
    assert fitted.graph_ == "G" and not fitted.labels_.any()
    fitted.learned, fitted.labels = {"graph_": "another"}, None
    fitted.fit(X)
    assert fitted.graph_ == "another" and not hasattr(fitted, "coef_") and not hasattr(fitted, "labels_")


def test_a_solution_of_another_form_is_refused():
    class Short(BaseSelector):
        def _solve(self, X, rng):
            return Solution(np.ones(2))

    with pytest.raises(ValueError, match=r"must be finite and of shape \(n_features,\) = \(3,\)"):
        Short().fit(X)


@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_what_is_no_seed_is_refused_by_name(seed):
    with pytest.raises(ValueError, match=f"random_state={seed!r} must be None, a whole number of 0 or more"):
        NDFS(2, random_state=seed).fit(X)
