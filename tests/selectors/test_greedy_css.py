"""Column subset selection, greedy and by swaps: best choices and exchanges, the released programs, special cases."""

import itertools

import numpy as np
import pytest
from samples import factors as sample
from samples import unexplained
from scipy import sparse

from ufs_bench.methods import GreedyCSS, LaplacianScore, SwapCSS
from ufs_bench.methods.core.column_subset import Gains, grow
from ufs_bench.methods.greedy_css import sums_of_parts

PAIRS = [f"modern/greedy_css_{data}_s{s}" for data in ("rand60x40", "umist60x40", "pie60x100") for s in (1, 2)]


def loss(X, features):
    return (unexplained(X, features) ** 2).sum()


@pytest.mark.parametrize("name", PAIRS)
def test_the_order_is_that_of_the_released_program(reference, name):
    pair = reference(name)
    X, k = pair["X"], int(pair["k"])
    model = GreedyCSS(k).fit(X)
    np.testing.assert_array_equal(model.subset(k), pair["order"])
    np.testing.assert_array_equal(GreedyCSS(k, center=True).fit(X).subset(k), pair["order_centred"])
    np.testing.assert_allclose(model.trace_[1:], pair["residual_ours"], rtol=1e-11)
    chosen, _ = grow(Gains(X, sums_of_parts(X, pair["partition"])), k)
    np.testing.assert_array_equal(chosen, pair["order_partitioned"])


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(30, 12), (10, 12)])
def test_every_choice_is_the_best_of_all_features(shape, center):
    X = sample(*shape)
    model = GreedyCSS(6, center=center).fit(X)
    Z = X - X.mean(axis=0) if center else X
    for t in range(1, 7):
        *before, last = model.subset(t)
        losses = {j: loss(Z, [*before, j]) for j in set(range(12)) - set(before)}
        assert min(losses, key=losses.get) == last
        assert model.trace_[t] == pytest.approx(losses[last], rel=1e-9)


def test_features_beyond_the_size_are_ranked_by_what_they_would_add():
    X = sample(40, 12)
    model = GreedyCSS(3).fit(X)
    chosen = model.subset(3)
    losses = [loss(X, [*chosen, j]) for j in model.ranking_[3:]]
    assert losses == sorted(losses)


def test_of_equal_features_the_first_is_taken_once():
    X = np.tile(sample(30, 6), 3)
    chosen = GreedyCSS(6).fit(X).subset(6)
    assert sorted(chosen) == list(range(6))


def test_parts_of_one_feature_each_are_all_features():
    X = sample(30, 12)
    for seed in (0, 1):
        parts = GreedyCSS(6, n_parts=12, random_state=seed).fit(X)
        np.testing.assert_array_equal(parts.subset(6), GreedyCSS(6).fit(X).subset(6))
    assert len({tuple(GreedyCSS(6, n_parts=2, random_state=seed).fit(X).subset(6)) for seed in range(4)}) > 1


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(200, 120), (80, 150)])
def test_of_sparse_data_the_same_are_chosen_down_to_the_rank_and_what_is_spanned_never(shape, center):
    rng = np.random.default_rng(1)
    X = np.where(rng.random(shape) < 0.1, rng.random(shape), 0.0)
    X[:, 10], X[:, 11], X[:, 12], X[:, 13] = X[:, 5], 3 * X[:, 6], X[:, 5] + X[:, 6], 0
    X[:, 20] *= 1e-6
    X[:, 21] *= 1e3
    dense = GreedyCSS(shape[1], center=center).fit(X)
    kept = GreedyCSS(shape[1], center=center).fit(sparse.csr_array(X))
    assert kept.n_iter_ == dense.n_iter_ == np.linalg.matrix_rank(X - center * X.mean(axis=0))
    np.testing.assert_allclose(kept.trace_, dense.trace_, atol=1e-13 * dense.trace_[0])
    assert (np.diff(kept.trace_) <= 0).all()
    certain = kept.n_iter_ - 2  # the last ones of as many features as samples all leave nothing
    np.testing.assert_array_equal(kept.subset(certain), dense.subset(certain))


def test_the_memory_of_sparse_data_grows_with_what_is_stored_and_what_is_selected():
    sizes = [GreedyCSS(count).memory(10**5, 10**4, n_stored=10**7) for count in (10, 100, 0.01)]
    assert sizes[0] < sizes[1] == sizes[2] < 1e9 < GreedyCSS(10).memory(10**5, 10**4) / 20
    assert LaplacianScore().memory(10**5, 10**4, n_stored=10**7) < 4e9 < LaplacianScore().memory(10**5, 10**4)


SWAP_PAIRS = [f"modern/iterfs_{data}_s{s}" for data in ("rand60x40", "umist60x40", "pie60x100") for s in (1, 2)]


@pytest.mark.parametrize("name", SWAP_PAIRS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
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
    swaps = [(SwapCSS(7, start=start, random_state=0), 1) for start in ("greedy", "random")]
    for model, n_iter in [(GreedyCSS(8), 4), *swaps]:
        model.fit(X)
        assert model.objective_ == 0 and model.n_iter_ == n_iter
        rest = model.ranking_[4:]
        np.testing.assert_array_equal(rest, rest[np.argsort(-np.linalg.norm(X[:, rest], axis=0), kind="stable")])


def test_dependent_features_of_a_start_are_replaced():
    X = np.hstack([sample(30, 8), sample(30, 8)])
    model = SwapCSS(4, init=[0, 8, 1, 9]).fit(X)
    assert len({j % 8 for j in model.subset(4).tolist()}) == 4
