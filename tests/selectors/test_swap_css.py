"""Column subset selection by swaps: the released program's steps, no exchange that helps, and special cases."""

import itertools

import numpy as np
import pytest
from samples import factors as sample
from samples import unexplained

from ufs_bench.methods import GreedyCSS, SwapCSS

PAIRS = [f"modern/iterfs_{data}_s{s}" for data in ("rand60x40", "umist60x40", "pie60x100") for s in (1, 2)]


def loss(X, features):
    return (unexplained(X, features) ** 2).sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", PAIRS)
def test_from_the_start_of_the_released_program_the_steps_are_its_own(reference, name):
    pair = reference(name)
    X, k = pair["X"], int(pair["k"])
    one, all_ = (SwapCSS(k, init=pair["start"], max_iter=sweeps).fit(X) for sweeps in (1, 100))
    np.testing.assert_array_equal(np.sort(one.subset(k)), np.sort(pair["after_one_sweep"]))
    np.testing.assert_array_equal(np.sort(all_.subset(k)), np.sort(pair["final"]))
    losses = [one.trace_[0], one.objective_, all_.objective_]
    np.testing.assert_allclose(losses, [pair[f"loss_{end}"] for end in ("start", "one", "final")], rtol=1e-11)


@pytest.mark.parametrize("start", ["greedy", "random"])
@pytest.mark.parametrize(("shape", "center"), [((40, 14), False), ((12, 14), False), ((40, 14), True)])
def test_no_exchange_of_one_feature_lowers_the_objective(shape, center, start):
    X = sample(*shape)
    model = SwapCSS(5, center=center, start=start, random_state=0).fit(X)
    Z = X - X.mean(axis=0) if center else X
    chosen = model.subset(5)
    outside = np.setdiff1d(np.arange(14), chosen)
    others = [loss(Z, [*np.delete(chosen, i), j]) for i, j in itertools.product(range(5), outside)]
    assert loss(Z, chosen) == pytest.approx(model.objective_, rel=1e-9)
    assert min(others) >= model.objective_ * (1 - 1e-9)
    assert model.status_ == "converged" and (np.diff(model.trace_) <= 0).all()
    best = min(loss(Z, subset) for subset in itertools.combinations(range(14), 5))
    sigma = np.linalg.svd(Z, compute_uv=False)
    assert (sigma[5:] ** 2).sum() <= best * (1 + 1e-9) <= model.objective_ * (1 + 1e-8)


def test_it_never_ends_above_the_greedy_set_that_it_starts_from():
    X = sample(40, 30)
    greedy, swaps = GreedyCSS(8).fit(X), SwapCSS(8).fit(X)
    assert swaps.trace_[0] == pytest.approx(greedy.objective_)
    assert swaps.objective_ <= greedy.objective_


def test_scores_are_shares_lost_without_a_selected_feature_and_gained_with_another():
    X = sample(40, 12)
    model = SwapCSS(4).fit(X)
    chosen, size = model.subset(4), (X**2).sum()
    for j in range(12):
        if j in chosen:
            expected = 1 + (loss(X, np.setdiff1d(chosen, [j])) - model.objective_) / size
        else:
            expected = (model.objective_ - loss(X, [*chosen, j])) / size
        assert model.scores_[j] == pytest.approx(expected, rel=1e-8)


def test_the_one_feature_of_each_group_that_is_free_of_noise_is_found():
    rng = np.random.default_rng(1)
    leaders = rng.normal(size=(50, 6))
    X = np.hstack([leaders, np.repeat(leaders, 8, axis=1) + 0.3 * rng.normal(size=(50, 48))])
    for start in ("greedy", "random"):
        model = SwapCSS(6, start=start, random_state=2).fit(X)
        assert set(model.subset(6)) == set(range(6))


def test_where_the_size_reaches_the_rank_nothing_is_left_and_the_rest_goes_by_norm():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 12))
    for start in ("greedy", "random"):
        model = SwapCSS(7, start=start, random_state=0).fit(X)
        assert model.objective_ == 0 and model.n_iter_ == 1
        rest = model.ranking_[4:]
        np.testing.assert_array_equal(rest, rest[np.argsort(-np.linalg.norm(X[:, rest], axis=0), kind="stable")])


def test_dependent_features_of_a_start_are_replaced():
    X = np.hstack([sample(30, 8), sample(30, 8)])
    model = SwapCSS(4, init=[0, 8, 1, 9]).fit(X)
    assert len({j % 8 for j in model.subset(4).tolist()}) == 4
