"""The concrete autoencoder: the released program's steps, exact gradients, planted columns, and filled duplicates."""

import numpy as np
import pytest
from samples import blobs
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

from ufs_bench.methods import ConcreteAutoencoder
from ufs_bench.methods.cae import paper, released
from ufs_bench.methods.cae.paper import centred, decoder, principal, residual
from ufs_bench.methods.cae.slots import by_logits, certainty, choose, gumbel, relaxed

PAIRS = [f"{data}_s{setting}" for data in ("rand60x40", "umist60x40", "pie60x100") for setting in (1, 2)]


def planted(seed=0, n_samples=60, n_hidden=5, n_mixed=45):
    """Return independent columns and mixtures of them, shuffled, and where the independent ones are."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_samples, n_hidden))
    X = np.hstack([hidden, hidden @ rng.normal(size=(n_hidden, n_mixed)) / np.sqrt(n_hidden)])
    order = rng.permutation(X.shape[1])
    return X[:, order], np.flatnonzero(order < n_hidden)


def greedy(C, size):
    """Return the features that lower the residual of centred data most, one after the other."""
    chosen, E = [], C.copy()
    for _ in range(size):
        norms = (E**2).sum(axis=0)
        falls = ((E.T @ E) ** 2).sum(axis=0) / np.where(norms > 1e-9 * norms.max(), norms, np.inf)
        chosen.append(int(falls.argmax()))
        q = E[:, chosen[-1]] / np.linalg.norm(E[:, chosen[-1]])
        E -= np.outer(q, q @ E)
    return np.array(chosen)


def program(pair):
    """Return the losses, temperatures and states of the released program's steps on all samples with one draw."""
    X, uniform = pair["X"].astype(float), pair["uniform"].astype(float)
    temperatures = float(pair["start_temp"]), float(pair["min_temp"])
    rate, steps = float(pair["learning_rate"]), int(pair["steps"])
    problem = released.Problem(X, temperatures, steps, rate, len(X), None)
    states = [problem.start(pair["logits0"].astype(float), pair["decoder0"].astype(float))]
    for _ in range(steps):
        states.append(problem.batch(states[-1], X, uniform))
    return states


@pytest.mark.parametrize("name", PAIRS)
def test_training_of_the_released_program_is_reproduced(reference, name):
    pair = reference(f"modern/cae_{name}")
    states = program(pair)
    np.testing.assert_allclose([state.temperature for state in states[1:]], pair["temperature"], rtol=3e-6)
    np.testing.assert_allclose([state.value for state in states[1:]], pair["loss"], rtol=2e-5)
    for step, expected in zip((1, 2, 10), pair["logits_after_1_2_10"], strict=True):
        np.testing.assert_allclose(states[step].logits, expected, atol=2e-6)
    for found, expected in zip(states[-1].parameters, ("logits_final", "decoder_final", "bias_final"), strict=True):
        np.testing.assert_allclose(found, pair[expected], atol=3e-5)
    np.testing.assert_array_equal(states[-1].logits.argmax(axis=1), pair["indices"])
    largest = relaxed(states[-1].logits, 0.0, 1.0).max(axis=1).mean()
    assert largest == pytest.approx(pair["mean_max_probability"], rel=1e-4)


@pytest.mark.parametrize("name", PAIRS)
def test_where_the_program_gives_a_feature_twice_ours_fills_the_place(reference, name):
    pair = reference(f"modern/cae_{name}")
    scores, n_filled = choose(pair["logits_final"].astype(float))
    chosen, given = np.argsort(-scores, kind="stable")[: len(pair["indices"])], set(pair["indices"].tolist())
    assert n_filled == len(pair["indices"]) - len(given)
    assert set(chosen[: len(given)].tolist()) == given
    assert len(set(chosen.tolist())) == len(pair["indices"])


def draw(seed=0, n_samples=12, n_features=7, n_slots=3):
    """Return principal rows of random data, logits, and a draw of the noise."""
    rng = np.random.default_rng(seed)
    axes = principal(centred(rng.normal(size=(n_samples, n_features))))
    return axes, rng.normal(size=(n_slots, n_features)), gumbel(rng.random((n_slots, n_features)))


def test_gradient_of_a_draw_is_that_of_finite_differences_for_the_decoder_that_is_solved_for():
    axes, logits, noise = draw()
    variances = np.einsum("ij,ij->i", axes, axes)

    def best(flat):
        M = relaxed(flat.reshape(logits.shape), noise, 0.7)
        Z = axes @ M.T
        return M, Z, np.linalg.solve(Z.T @ Z, Z.T)

    def value(flat):  # the decoder follows the slots; its own derivative is zero, as it is the best
        _, Z, B = best(flat)
        return ((axes - Z @ (B @ axes)) ** 2).sum()

    def slope(flat):
        M, Z, B = best(flat)
        return by_logits(M, paper.loss(axes, variances, Z.T, B)[1], 0.7).ravel()

    assert check_grad(value, slope, logits.ravel(), epsilon=1e-7) < 1e-5


def test_loss_and_gradient_without_the_misfit_are_those_with_it():
    axes, logits, noise = draw()
    M = relaxed(logits, noise, 0.7)
    Z, B = axes @ M.T, np.random.default_rng(1).normal(size=(3, len(axes)))
    value, by_M = paper.loss(axes, np.einsum("ij,ij->i", axes, axes), Z.T, B)
    misfit = Z @ B @ axes - axes
    assert value == pytest.approx((misfit**2).sum(), rel=1e-12)
    np.testing.assert_allclose(by_M, 2 * (B @ axes) @ misfit.T @ axes, rtol=1e-10, atol=1e-10)


def test_decoder_is_the_least_squares_one_but_for_its_ridge(monkeypatch):
    monkeypatch.setattr(paper, "RIDGE", 0.0)
    axes, logits, noise = draw(n_samples=30, n_features=9, n_slots=4)
    Z = axes @ relaxed(logits, noise, 0.7).T
    V = decoder(Z.T @ Z, Z.T) @ axes
    np.testing.assert_allclose(V, np.linalg.lstsq(Z, axes, rcond=None)[0], rtol=1e-8)


def test_temperature_falls_by_one_factor_and_then_stays():
    rng = np.random.default_rng(0)
    problem = paper.Problem(principal(centred(rng.normal(size=(20, 8)))), (10.0, 0.1), 5, 0.1, rng)
    state, found = problem.start(problem.random_logits(2)), []
    for _ in range(7):
        state = problem.step(state)
        found.append(state.temperature)
    np.testing.assert_allclose(found, [*np.geomspace(10, 0.1, 6)[1:], 0.1, 0.1])


def test_planted_columns_are_found_under_noise():
    X, where = planted()
    X = X + 0.01 * np.random.default_rng(1).normal(size=X.shape)
    fit = ConcreteAutoencoder(5, random_state=0).fit(X)
    assert fit.status_ == "converged"
    assert fit.residual_ <= 1.001 * residual(centred(X), where)[0]


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("size", [5, 8])
def test_where_nearly_every_selection_leaves_nothing_none_is_looked_for(variant, size):
    fit = ConcreteAutoencoder(size, variant=variant, random_state=0).fit(planted()[0])
    assert (fit.status_, fit.n_iter_) == ("collapsed", 0)
    assert not fit.scores_.any()


@pytest.mark.parametrize("seed", range(2))
def test_annealing_comes_near_greedy_selection_where_few_dimensions_are_left_over(seed):
    X = np.random.default_rng(seed).normal(size=(200, 24)) @ np.random.default_rng(9).normal(size=(24, 24))
    fit = ConcreteAutoencoder(20, max_exchanges=0, random_state=seed).fit(X)
    assert fit.n_filled_ == 0
    assert fit.residual_ < 1.5 * residual(centred(X), greedy(centred(X), 20))[0]


@pytest.mark.parametrize("seed", range(2))
def test_no_exchange_lowers_the_residual_of_a_fit_by_a_thousandth(seed):
    X = np.random.default_rng(seed).normal(size=(40, 12)) @ np.random.default_rng(9).normal(size=(12, 25))
    C, fit = centred(X), ConcreteAutoencoder(6, random_state=seed).fit(X)
    chosen, values = fit.subset(6), np.linalg.svd(C, compute_uv=False) ** 2
    fitted = C[:, chosen] @ np.linalg.lstsq(C[:, chosen], C, rcond=None)[0]
    assert fit.residual_ == pytest.approx(((C - fitted) ** 2).sum() / (C**2).sum(), rel=1e-9)
    assert fit.residual_bound_ == pytest.approx(values[6:].sum() / values.sum(), rel=1e-9)
    others = np.setdiff1d(np.arange(25), chosen)
    lowest = min(residual(C, np.append(np.delete(chosen, i), j))[0] for i in range(6) for j in others)
    assert lowest > (1 - 1e-3) * fit.residual_
    alone = ConcreteAutoencoder(6, max_exchanges=0, random_state=seed).fit(X)
    assert alone.n_exchanged_ == 0
    assert alone.residual_ == pytest.approx(fit.annealed_residual_, rel=1e-9)
    assert len(np.setdiff1d(chosen, alone.subset(6))) == fit.n_exchanged_


def test_released_program_starts_afresh_with_twice_the_epochs_until_the_slots_are_decided():
    X = blobs()[0]
    settings = {"variant": "released", "learning_rate": 0.02, "tol": 0.02, "random_state": 0}
    fit = ConcreteAutoencoder(3, max_iter=30, **settings).fit(X)
    assert fit.status_ == "converged" and certainty(fit.logits_) >= 0.98
    assert fit.n_iter_ > 30
    with pytest.warns(ConvergenceWarning):
        undecided = ConcreteAutoencoder(3, max_iter=1, **settings).fit(X)
    assert (undecided.status_, undecided.n_iter_) == ("max_iter", 31)  # 1 + 2 + 4 + 8 + 16


def test_a_fit_that_is_cut_short_says_so_and_still_gives_as_many_features():
    fit = ConcreteAutoencoder(10, max_iter=5, tol=0, random_state=0).fit(blobs()[0])
    assert (fit.status_, fit.n_iter_) == ("max_iter", 5)
    assert len(set(fit.subset(10).tolist())) == 10
    assert len(np.unique(fit.logits_.argmax(axis=1))) == 10 - fit.n_filled_


def test_random_start_is_reported_and_one_of_the_callers_is_not():
    X, logits = blobs()[0], np.random.default_rng(0).normal(size=(4, 30))
    fit = ConcreteAutoencoder(4, max_iter=0, tol=0, random_state=0).fit(X)
    np.testing.assert_array_equal(fit.start_, np.unique(fit.logits_.argmax(axis=1)))
    given = ConcreteAutoencoder(4, init=logits, max_iter=0, tol=0).fit(X)
    np.testing.assert_array_equal(given.logits_, logits.astype(np.float32))
    assert not hasattr(given, "start_")


def test_constant_features_come_after_all_that_vary():
    X = np.column_stack([np.full(60, 2.0), planted()[0][:, :4], np.zeros(60)])
    fit = ConcreteAutoencoder(4, random_state=0).fit(X)
    assert fit.status_ == "collapsed"
    assert set(fit.subset(4)) == {1, 2, 3, 4}
    assert set(ConcreteAutoencoder(3, max_iter=2000, random_state=0).fit(X).subset(3)) < {1, 2, 3, 4}


def test_released_batches_do_not_depend_on_the_order_of_the_samples():
    X, order = blobs()[0], np.random.default_rng(0).permutation(len(blobs()[0]))
    released = {"variant": "released", "batch_size": 7, "max_iter": 3, "tol": 0, "random_state": 0}
    one, other = (ConcreteAutoencoder(4, **released).fit(samples) for samples in (X, X[order]))
    np.testing.assert_array_equal(one.logits_, other.logits_)
