"""NDFS where F and the weights of the features move together: the slope, the curvature, and what the steps reach."""

import numpy as np
import pytest
from samples import clusters as sample

from methods import NDFS
from methods.core.graphs import knn_graph, laplacian
from methods.ndfs.paper import Problem
from methods.ndfs.together import Model, Together

SHAPES = [(40, 12), (15, 30)]  # more samples than features, and fewer


def together(shape, alpha=1e3, gamma=1e5):
    X = sample(*shape)
    given = Together(Problem(X, laplacian(knn_graph(X), normalized=True), alpha, 0.1, gamma), (shape[0], 3))
    rng = np.random.default_rng(0)
    F = rng.uniform(0.0, 0.4, (shape[0], 3)) * (rng.uniform(size=(shape[0], 3)) < 0.6)
    return given, given.at(np.concatenate([F.ravel(), rng.uniform(0.05, 0.5, shape[1])]))


def gradient(given, point):
    F, _ = given.split(point.z)
    whole = point.slope.copy()
    whole[: given.size] += 2 * given.problem.gamma * (F @ point.away).ravel()
    return whole


@pytest.mark.parametrize("shape", SHAPES)
def test_the_slope_is_that_of_the_value(shape):
    given, point = together(shape)
    rng = np.random.default_rng(1)
    for _ in range(3):
        step = 1e-6 * rng.normal(size=len(point.z)) * point.z
        rise = given.at(point.z + step).value - given.at(point.z - step).value
        assert rise == pytest.approx(2 * gradient(given, point) @ step, rel=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_model_multiplied_by_what_it_solved_is_the_slope(shape):
    given, point = together(shape)
    free = point.z > given.low
    model, slope = Model(given, point, free), np.random.default_rng(1).normal(size=len(free)) * free
    solved = model.solved(slope)
    product = np.concatenate([model.scale * solved[: given.size], solved[given.size :] / model.steps])
    product[: given.size] += model.stiff(solved)
    np.testing.assert_allclose(product, slope, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_steps_lower_the_value_and_keep_the_bounds(shape):
    given, point = together(shape)
    F, s = given.split(point.z)
    lowered = given.lowered(F, s)
    assert lowered.value < point.value
    assert (lowered.z >= given.low).all()
    assert given.lowered(*given.split(lowered.z), lowered.pairs).value <= lowered.value


def test_a_fit_converges_where_alpha_is_a_hundredth_of_gamma():
    fitted = NDFS(n_clusters=3, alpha=1e6, beta=1e-2, random_state=0).fit(sample(40, 60))
    assert fitted.status_ == "converged"
    assert (np.diff(fitted.trace_) <= 1e-12 * fitted.trace_[:-1]).all()
