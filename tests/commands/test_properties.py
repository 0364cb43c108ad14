"""The contract's own test: each property fails for a selector that breaks it."""

import pickle

import numpy as np
import pytest

from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.core.loop import MAX_ITER, STATUSES, Trace
from ufs_bench.scripts.check_method import properties
from ufs_bench.scripts.check_method.contract import Method

CHECKS = {check.__name__: check for check in properties.PROPERTIES}


class Sound(BaseSelector):
    def __init__(self, n_features_to_select=None, *, n_clusters=2, random_state=None):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters
        self.random_state = random_state

    def _solve(self, X, rng):
        return Solution(np.ptp(X, axis=0))


def faulty(solve):
    """Return a class of selectors that are sound but for their `_solve`."""
    return type("Faulty", (Sound,), {"_solve": lambda self, X, rng: solve(self, X), "__module__": __name__})


def with_trace(*values):
    return faulty(lambda self, X: Solution(np.ptp(X, axis=0), Trace(np.array(values), MAX_ITER, 2)))


class WritesToX(Sound):
    def fit(self, X, y=None):  # of a class of somebody's own: what `_solve` is given cannot be written to
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X -= X.mean(axis=0)
        return super().fit(X, y)


class ReadsLabels(Sound):
    def fit(self, X, y=None):
        super().fit(X)
        if y is not None:
            self.scores_ = np.abs(np.asarray(y, dtype=float) @ np.asarray(X))
        return self


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


UNSEEDED = faulty(lambda self, X: Solution(np.random.default_rng().random(X.shape[1])))
CAUGHT = [
    (WritesToX, "read_only_data_are_accepted_and_nothing_is_written_to_them"),
    (faulty(lambda self, X: Solution(np.arange(X.shape[1], 0.0, -1))), "permuting_the_features_permutes_the_selection"),
    (faulty(lambda self, X: Solution(np.abs(X[0]))), "permuting_the_samples_keeps_the_selection"),
    (UNSEEDED, "same_seed_gives_the_same_bytes"),
    (UNSEEDED, "memory_layout_of_the_data_does_not_matter"),
    (UNSEEDED, "single_precision_gives_what_its_values_give_in_double"),
    (faulty(lambda self, X: Solution(np.corrcoef(X.T)[:, 0] ** 2)), "one_feature_is_enough"),
    (ReadsLabels, "labels_given_to_fit_are_ignored"),
    (with_trace(1.0, 3.0, 2.0), "objective_never_rises"),
    (with_trace(1.0), "status_and_trace_tell_how_the_fit_went"),
    (
        faulty(lambda self, X: Solution(np.ptp(X, axis=0), labels=1 + np.arange(len(X)) % self.n_clusters)),
        "labels_if_any_are_cluster_numbers",
    ),
    (AcceptsAnyNumberOfClusters, "too_many_clusters_are_refused_with_value_and_bound"),
    (CannotBePickled, "copies_and_pickles_fit_and_select_alike"),
]


@pytest.mark.parametrize(("cls", "name"), CAUGHT, ids=[name for _, name in CAUGHT])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_faulty_selector_is_caught(cls, name):
    with pytest.raises((AssertionError, IndexError, TypeError, AttributeError, pickle.PicklingError)):
        CHECKS[name](as_method(cls))
