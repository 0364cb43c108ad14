"""Classes and functions as they are: what they say of the features is read, and what cannot be read is refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, SelectKBest, VarianceThreshold, f_classif

from ufs_bench.methods.core.plain import plain

X = np.random.default_rng(0).normal(size=(30, 8)) * np.array([3, 8, 1, 6, 2, 7, 4, 5])
BEST = np.argsort(-X.var(axis=0))


class Says:
    """Says after its fit what it was given; `how` makes it of the data, and of the number of features."""

    def __init__(self, how=None, alpha=1.0):
        self.how, self.alpha = how, alpha

    def fit(self, X, y=None):
        vars(self).update(self.how(X))
        return self


class Chooses(Says):
    """Has a mask alone."""

    def __init__(self, k=3, how=None):
        self.k, self.how = k, how

    def fit(self, X, y=None):
        self.chosen = np.isin(np.arange(X.shape[1]), np.argsort(-X.var(axis=0))[: self.k])
        return super().fit(X) if self.how else self

    def get_support(self):
        return self.chosen


def spread(X, share=0.1, *, random_state=0):
    low, high = np.quantile(X, [share, 1 - share], axis=0)
    return high - low


def made(found, size=3, **parameters):
    return plain(found, f"{found.__module__}.{found.__qualname__}")(size, **parameters)


def fitted(how, size=3):
    return made(Says, size, how=how).fit(X)


def says(**more):
    return lambda X: {"scores_": X.var(axis=0), **more}


def ranks(X):
    return 1 + np.argsort(np.argsort(-X.var(axis=0)))


@pytest.mark.parametrize(
    "how",
    [
        lambda X: {"scores_": X.var(axis=0)},
        lambda X: {"feature_importances_": X.var(axis=0)},
        lambda X: {"variances_": X.var(axis=0), "ranking_": np.arange(X.shape[1])},
        lambda X: {"ranking_": ranks(X)},  # 1 is the best
        lambda X: {"ranking_": rankdata(-X.var(axis=0))},  # as floats
        lambda X: {"ranking_": np.argsort(-X.var(axis=0))},  # the best first
        lambda X: {"ranking_": np.argsort(-X.var(axis=0))[:5]},
        lambda X: {"ranking_": np.minimum(ranks(X), 4)},  # ties, as those that are never removed
    ],
)
def test_scores_and_rankings_are_read_in_the_sense_of_their_name(how):
    selector = fitted(how)
    np.testing.assert_array_equal(selector.ranking_[:3], BEST[:3])
    assert selector.status_ == "converged" and not hasattr(selector, "labels_") and len(selector.trace_) == 0


@pytest.mark.parametrize(
    ("how", "answer"),
    [
        (lambda X: {"scores_": X.var(axis=1)}, r"scores_ of Says has shape \(30,\).*each of 8 features"),
        (lambda X: {"scores_": np.r_[np.nan, X.var(axis=0)[1:]]}, "scores_ of Says is not finite for 1 of 8 features"),
        (lambda X: {"scores_": ["good"] * 8}, "one number for each"),
        (lambda X: {"ranking_": np.arange(2)}, "the numbers of 3 features or more.* from 0 to 1"),
        (lambda X: {"ranking_": np.array([0, 0, 1, 2, 3, 4, 5, 6])}, "1 for the best"),
        (lambda X: {"ranking_": rankdata(np.minimum(ranks(X), 4))}, "ranking_ of Says has ties.* method='ordinal'"),
        (lambda X: {"ranking_": X.var(axis=0)}, "must have the rank of each of 8 features"),
        (lambda X: {"components_": X}, "has none of scores_"),
        (says(labels_=np.zeros(3)), "labels_ has shape"),
        (says(labels_=np.full(30, np.nan)), "labels_ must be whole numbers"),
        (says(labels_=np.linspace(0, 1, 30)), "labels_ must be whole numbers"),
        (says(trace_=[2.0, np.nan]), r"trace_ of shape \(2,\) must be one finite number"),
        (says(trace_=[[2.0, 1.0]]), r"trace_ of shape \(1, 2\) must be one finite number"),
        (says(trace_=["x"]), "trace_ must be the numbers of the objective"),
        (says(status_="weird"), "status_='weird' must be one of converged"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_name_and_shape(how, answer):
    with pytest.raises(ValueError, match=answer):
        fitted(how)


def test_what_it_learns_besides_is_kept():
    labels = np.arange(30) % 3
    selector = fitted(lambda X: {"scores_": X.var(axis=0), "labels_": labels, "trace_": [3.0, 2.0, 1.5]})
    np.testing.assert_array_equal(selector.labels_, labels)
    assert (selector.n_iter_, selector.objective_, selector.selector_.alpha) == (2, 1.5, 1.0)

    def stops(X):
        warnings.warn("not yet", ConvergenceWarning, stacklevel=2)
        return {"scores_": X.var(axis=0), "n_iter_": np.int64(7)}

    with pytest.warns(ConvergenceWarning, match="not yet"):
        selector = fitted(stops)
    assert (selector.status_, selector.n_iter_) == ("max_iter", 7)
    assert fitted(lambda X: {"scores_": np.zeros(8)}).status_ == "collapsed"


def test_a_class_that_takes_a_size_gets_one_fit_for_each():
    selector = made(Chooses, 4).fit(X)
    assert selector.size_in_objective and set(selector.subset(4)) == set(BEST[:4])
    with pytest.raises(ValueError, match="needs one fit per size"):
        selector.subset(2)
    # Its selection counts, and its scores are their order.
    other = made(Chooses, 3, how=lambda X: {"scores_": X.mean(axis=0)}).fit(X)
    best = sorted(BEST[:3], key=lambda feature: -X.mean(axis=0)[feature])
    np.testing.assert_array_equal(other.subset(3), best)
    assert not made(Says).size_in_objective and not made(VarianceThreshold).size_in_objective


def test_a_selection_that_is_not_of_the_size_or_against_the_scores_is_refused():
    class Fixed(Chooses):
        def __init__(self, how=None):
            super().__init__(3, how)

    with pytest.raises(ValueError, match="selects 3 features where 5 are asked for, and takes no size"):
        made(Fixed, 5).fit(X)
    with pytest.raises(ValueError, match="larger must be better. Give a function"):
        made(Fixed, 5, how=lambda X: {"scores_": -X.var(axis=0)}).fit(X)
    assert set(made(Fixed, 5, how=lambda X: {"scores_": X.var(axis=0)}).fit(X).subset(5)) == set(BEST[:5])


def test_a_function_is_a_method_with_its_own_parameters():
    selector = made(spread, 2, share=0.25).fit(X)
    np.testing.assert_allclose(selector.scores_, np.subtract(*np.quantile(X, [0.75, 0.25], axis=0)))
    assert selector.get_params() == {"n_features_to_select": 2, "share": 0.25, "random_state": 0}

    def best(X, n_features_to_select):
        return np.argsort(-X.var(axis=0))[:n_features_to_select]

    def mask(X, n_features_to_select=2):
        return np.isin(np.arange(X.shape[1]), best(X, n_features_to_select))

    for function in (best, mask):
        assert set(made(function, 3).fit(X).subset(3)) == set(BEST[:3])
    with pytest.raises(ValueError, match=r"the result of <lambda> has shape \(\)"):
        made(lambda X: X.var()).fit(X)


def test_labels_reach_no_method_and_those_that_ask_are_refused_before_a_fit():
    with pytest.raises(TypeError, match="fit asks for y, and labels never reach a method"):
        made(RFE)
    with pytest.raises(TypeError, match="f_classif asks for y"):
        made(f_classif)
    with pytest.raises(TypeError, match="score_func=f_classif asks for y"):
        made(SelectKBest).check_parameters(X)

    class Uses:
        def fit(self, X, y=None):
            self.scores_ = [abs(np.corrcoef(one, y.astype(float))[0, 1]) for one in X.T]
            return self

    with pytest.raises(ValueError, match="labels never reach a method"):
        made(Uses).fit(X, np.arange(30))

    class Requires(Says):
        def __sklearn_tags__(self):
            tags = VarianceThreshold().__sklearn_tags__()
            tags.target_tags.required = True
            return tags

    with pytest.raises(ValueError, match="Requires asks for y"):
        made(Requires).check_parameters(X)


def test_selectors_of_scikit_learn_run_and_transform_new_samples():
    selector = made(VarianceThreshold, 3).fit(X)
    np.testing.assert_array_equal(selector.transform(X[:4]), X[:4, np.sort(BEST[:3])])
    trees = made(RandomTreesEmbedding, 3, n_estimators=20, random_state=0).fit(X)
    np.testing.assert_array_equal(trees.scores_, trees.selector_.feature_importances_)
    best = made(SelectKBest, 3, score_func=lambda X, y=None: X.var(axis=0)).fit(X)
    np.testing.assert_array_equal(best.subset(3), BEST[:3])


def test_it_is_cloned_and_pickled_with_its_parameters():
    selector = made(VarianceThreshold, 3, threshold=0.5).fit(X)
    assert clone(selector).get_params() == {"n_features_to_select": 3, "threshold": 0.5}
    thawed = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(thawed.transform(X), selector.transform(X))
    assert type(thawed) is type(selector) and selector.set_params(threshold=0.1)._parameters == {"threshold": 0.1}


def test_the_data_of_others_are_not_written_to():
    before = X.copy()

    def centres(X):
        X -= X.mean(axis=0)
        return X.var(axis=0)

    made(centres).fit(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("what", [Says(), lambda: 0, lambda *, X: X, np.pi, type("Other", (), {})])
def test_what_is_no_selector_is_refused(what):
    with pytest.raises(TypeError, match="fit|X first"):
        plain(what, "mine.What")


def test_a_sorted_series_is_put_back_in_the_order_of_the_features():
    X = np.random.default_rng(0).normal(size=(20, 6)) * np.arange(1, 7)

    def sorted_variances(X):
        return pd.DataFrame(X).var().sort_values()

    def named(X):
        return pd.Series(X.var(axis=0), index=list("fedcba"))

    wanted = np.argsort(-X.var(axis=0), kind="stable")
    for function in (sorted_variances, named):
        assert np.array_equal(plain(function, "here.function")(3).fit(X).ranking_, wanted)
