"""The contract's own test: each property fails for a selector that breaks it."""

import pickle

import numpy as np
import pytest

from methods.core.base import BaseSelector, Solution
from methods.core.loop import MAX_ITER, STATUSES, Trace
from scripts.check_method import properties
from scripts.check_method.contract import Method

CHECKS = {check.__name__: check for check in properties.PROPERTIES}


class Sound(BaseSelector):
    def __init__(self, n_features_to_select=None, *, n_clusters=2, random_state=None):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.random_state = random_state

    def _solve(self, X, rng):
        return Solution(np.ptp(X, axis=0))


class NotFinite(Sound):
    def _solve(self, X, rng):
        return Solution(np.where(X.var(axis=0) > 1, X.var(axis=0), np.nan))


class WrongShape(Sound):
    def _solve(self, X, rng):
        return Solution(np.ptp(X, axis=1))


class WritesToX(Sound):
    def fit(self, X, y=None):  # of a class of somebody's own: what `_solve` is given cannot be written to
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X -= X.mean(axis=0)
        return super().fit(X, y)


class ByPosition(Sound):
    def _solve(self, X, rng):
        return Solution(np.arange(X.shape[1], 0.0, -1))


class ByFirstSample(Sound):
    def _solve(self, X, rng):
        return Solution(np.abs(X[0]))


class UnseededRandom(Sound):
    def _solve(self, X, rng):
        return Solution(np.random.default_rng().random(X.shape[1]))


class NeedsTwoFeatures(Sound):
    def _solve(self, X, rng):
        return Solution(np.corrcoef(X.T)[:, 0] ** 2)


class ReadsLabels(Sound):
    def fit(self, X, y=None):
        super().fit(X)
        if y is not None:
            self.scores_ = np.abs(np.asarray(y, dtype=float) @ np.asarray(X))
        return self


class RisingObjective(Sound):
    def _solve(self, X, rng):
        return Solution(np.ptp(X, axis=0), Trace(np.array([1.0, 3.0, 2.0]), MAX_ITER, 2))


class TraceTooShort(Sound):
    def _solve(self, X, rng):
        return Solution(np.ptp(X, axis=0), Trace(np.array([1.0]), MAX_ITER, 2))


class LabelsFromOne(Sound):
    def _solve(self, X, rng):
        return Solution(np.ptp(X, axis=0), labels=1 + np.arange(len(X)) % self.n_clusters)


class AcceptsAnyNumberOfClusters(Sound):
    def check_parameters(self, X):
        pass


class CannotBePickled(Sound):
    def _solve(self, X, rng):
        self.kernel = lambda a, b: a @ b
        return super()._solve(X, rng)


def as_method(cls):
    class Local(Method):
        @property
        def cls(self):
            return cls

    target = f"{cls.__module__}.{cls.__qualname__}"
    return Local(
        cls.__name__,
        {"name": cls.__name__, "target": target, "paper_name": "", "citation": "", "params": {}, "grid": {}},
    )


def test_contract_and_loop_have_the_same_words_for_the_end_of_a_fit():
    assert properties.STATUSES == STATUSES


@pytest.mark.parametrize("name", CHECKS)
def test_sound_selector_has_every_property(name):
    CHECKS[name](as_method(Sound))


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (WritesToX, "read_only_data_are_accepted_and_nothing_is_written_to_them"),
        (ByPosition, "permuting_the_features_permutes_the_selection"),
        (ByFirstSample, "permuting_the_samples_keeps_the_selection"),
        (UnseededRandom, "same_seed_gives_the_same_bytes"),
        (UnseededRandom, "memory_layout_of_the_data_does_not_matter"),
        (UnseededRandom, "single_precision_gives_what_its_values_give_in_double"),
        (NeedsTwoFeatures, "one_feature_is_enough"),
        (ReadsLabels, "labels_given_to_fit_are_ignored"),
        (RisingObjective, "objective_never_rises"),
        (TraceTooShort, "status_and_trace_tell_how_the_fit_went"),
        (LabelsFromOne, "labels_if_any_are_cluster_numbers"),
        (AcceptsAnyNumberOfClusters, "too_many_clusters_are_refused_with_value_and_bound"),
        (CannotBePickled, "copies_and_pickles_fit_and_select_alike"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_faulty_selector_is_caught(cls, name):
    with pytest.raises((AssertionError, IndexError, TypeError, AttributeError, pickle.PicklingError)):
        CHECKS[name](as_method(cls))


@pytest.mark.parametrize("cls", [NotFinite, WrongShape])
def test_scores_that_are_no_scores_are_refused_by_the_fit_itself(cls):
    X = np.random.default_rng(0).normal(size=(12, 5)) * [0.1, 3, 3, 3, 3]
    with pytest.raises(ValueError, match=r"must be finite and of shape \(n_features,\) = \(5,\)"):
        cls(2).fit(X)
