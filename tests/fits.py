"""Fits of a few moments: trials on made-up data, and cells on 8 x 8 digits."""

import itertools
from types import SimpleNamespace

import numpy as np
from omegaconf import OmegaConf

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.experiment.settings import read_settings
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.pool import run_all
from ufs_bench.scripts.core.conf import ROOT

PROTOCOL = Protocol(name="test", sizes=(2, 3), scaling="none", restarts=3, seed=0, nmi="geometric", max_iter=20)


def made_up():
    """Return a data set of three clusters, which differ in three of six features."""
    y = np.repeat([0, 1, 2], 10)
    X = np.random.default_rng(0).normal(size=(30, 6)) + 3 * y[:, None] * (np.arange(6) < 3)
    return SimpleNamespace(name="blobs", X=X, y=y, n_classes=3, n_features=6, n_samples=30, sha="ab12")


DATA = made_up()


def method_of(cls="Misbehaving", grid=None, **params):
    """Return the file of a class of `misbehaving`, with four values of `gain` by default."""
    grid = {"gain": [1.0, 2.0, 3.0, 4.0]} if grid is None else grid
    return {"name": "misbehaving", "target": f"misbehaving.{cls}", "params": {"gain": 1.0} | params, "grid": grid}


def trials_of(*given, protocol=PROTOCOL, **params):
    """Return the trials of `method_of` on the made-up data."""
    return expand("s", DATA, method_of(*given, **params), protocol)


def outcomes_of(trials, n_jobs, data=None, **options):
    """Run trials on the made-up data; return their outcomes in the order in which they end."""
    return list(itertools.chain.from_iterable(run_all(trials, data or Data(DATA.X, DATA.y), n_jobs, **options)))


def rows_of(trials, n_jobs, **options):
    """Run trials on the made-up data; return the row of each, in their order."""
    outcomes = outcomes_of(trials, n_jobs, **options)
    rows = {outcome.trial["trial"]: outcome.trial for outcome in outcomes}
    assert len(outcomes) == len(rows) == len(trials)
    return [rows[trial.key] for trial in trials]


def config(folder, study="s", grid=(3, 4, 5, 6), method=None, protocol=(), **runner):
    """Return the settings of a cell on 8 x 8 digits; of four short fits by default."""
    own_method = {
        "name": "laplacian_score",
        "target": "methods.laplacian_score.LaplacianScore",
        "params": {"n_neighbors": 3},
        "grid": {"n_neighbors": list(grid)},
    }
    own_protocol = {"sizes": [5], "scaling": "minmax", "restarts": 2, "seed": 0, "nmi": "max", "max_iter": 5}
    parts = {
        "study": study,
        "results_dir": str(folder),
        "data_dir": None,
        "runner": {"n_jobs": 1, "redo": False, "reuse": "none", "points": "grid"} | runner,
        "method": method or own_method,
        "protocol": {"name": study} | own_protocol | dict(protocol),
        "dataset": OmegaConf.load(ROOT / "conf/dataset/digits.yaml"),
    }
    return read_settings(OmegaConf.create(parts))
