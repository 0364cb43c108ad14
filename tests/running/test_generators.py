"""A fit that draws from a generator of the whole process is seeded."""

# ruff: noqa: NPY002

import random
import sys
import types

import numpy as np
import pandas as pd
import pytest
from fits import config

from ufs_bench.runners.experiment.cell import Cell

DRAWS = {
    "numpy.random": lambda n: np.random.rand(n),
    "random": lambda n: np.array([random.random() for _ in range(n)]),
    "": lambda n: np.random.default_rng(3).random(n),
}


@pytest.fixture(params=DRAWS)
def drawing(request, monkeypatch):
    """Return the file of a method that draws from a generator."""

    class Drawing:
        def fit(self, X):
            self.scores_ = DRAWS[request.param](X.shape[1])
            return self

    module = types.ModuleType("drawing_of_a_test")
    module.Drawing, Drawing.__module__ = Drawing, module.__name__
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return {"name": "drawing", "target": "drawing_of_a_test.Drawing", "params": {}, "grid": {}}


def test_a_fit_that_draws_without_a_seed_is_the_same_each_time(drawing, tmp_path):
    random.seed(5)
    np.random.seed(5)
    states = random.getstate(), np.random.get_state()[2]
    for name in "ab":
        Cell(config(tmp_path, name, method=drawing)).run()
    rankings = [list(pd.read_csv(next((tmp_path / name).rglob("trials.csv")))["ranking"]) for name in "ab"]
    assert rankings[0] == rankings[1] and len(rankings[0]) == 1
    assert (random.getstate(), np.random.get_state()[2]) == states  # those of the caller, as they were
