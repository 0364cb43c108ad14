"""Every method refuses a parameter out of range by its name, and a start that does not fit by its shape."""

import numpy as np
import pytest
from samples import clusters

from ufs_bench import methods
from ufs_bench.scripts.core.conf import read_group

X = clusters(40, 12)
LOOP = {"tol": [-1], "max_iter": [-1]}
GRAPH = {"n_neighbors": [0]}
WORDS = {"variant": ["x"], "affinity": ["x"]}
REFUSED = {
    "ConcreteAutoencoder": {"annealing": [0], "end_temperature": [0.0], "batch_size": [0]},
    "DGUFS": GRAPH | {
        "alpha": [0], "beta": [0, 1, "x"], "n_starts": [0], "max_iter": [0], "tol": [-1], "solver": ["admm"],
        "n_clusters": [41], "init": ["x"],
    },
    "DUFS": {"lambda_": [-1.0], "scale_factor": [1e3], "noise": [0.0], "batch_size": [1]},
    "EUFS": LOOP | GRAPH | {"alpha": [-1], "beta": [0], "mu0": [0], "rho": [0.9], "solver": ["x"], "affinity": ["x"]},
    "FSPCA": {"solver": ["pca"], "n_components": [0, "size"], "scale": [1], "max_iter": [-1]},
    "FSSL": LOOP | GRAPH | {"mu": [0], "n_clusters": [40]},
    "GreedyCSS": {"center": ["no", 0.01], "n_parts": [0, 13]},
    "JELSR": LOOP | {"alpha": [0], "beta": [-1.0]},
    "JGUFS": LOOP | GRAPH | WORDS | {"alpha": [0], "beta": [0], "gamma": [0], "lambda_": [0, 1e308]},
    "KMeansUFS": {
        "solver": ["quadratic"], "mu0": [0], "rho": [0.9], "patience": [0], "max_iter": [-1], "n_clusters": [13]
    },
    "LaplacianScore": {"n_neighbors": [0, 1.5], "affinity": ["cosine"]},
    "LeverageScores": {"n_vectors": [0, "half_size"], "sampled": [1], "center": [0.5]},
    "MCFS": GRAPH | {"n_clusters": [0, 40], "ridge": [-1.0], "affinity": ["cosine"]},
    "NDFS": LOOP | GRAPH | WORDS | {"alpha": [0], "beta": [0], "gamma": [0]},
    "PFA": {"share": [0, 1.1], "absolute": [1], "standardize": ["no"]},
    "RUFS": LOOP | GRAPH | WORDS | {"nu": [-1], "alpha": [0], "beta": [0], "zeta": [-1]},
    "SF2SOG": LOOP | {"lambda_": [0], "gamma": [-1.0]},
    "SOGFS": {"alpha": [0.0], "lambda_": [0.0]},
    "SOCFS": LOOP | {"lambda_": [0], "lambda2": [0], "triplet_weight": [-1.0]},
    "SPCAPSD": {"lambda_": [0], "eta": [-1.0]},
    "SparseKMeans": {"s": [0.5]},
    "SPDFS": {"fuzziness": [0.9], "n_components": [0, 1.5]},
    "SPEC": GRAPH | {
        "variant": ["phi2"], "n_vectors": [1, 41, "size"], "power": [0, 0.5], "center": [1], "affinity": ["cosine"]
    },
    "SwapCSS": {"center": [1], "start": ["first"], "init": [[0, 0, 1], [0, 1]]},
    "UDFS": LOOP | GRAPH | {"gamma": [0], "lambda_": [-1.0]},
    "UFSOL": LOOP | GRAPH | WORDS | {"alpha": [-1.0], "beta": [0], "graph": ["x"]},
    "VCSDFS": {"rho": [-1.0], "n_columns": [0]},
}  # fmt: skip
CASES = [
    pytest.param(cls, name, value, id=f"{cls.lower()}-{name}={value}")
    for cls, refused in REFUSED.items()
    for name, values in refused.items()
    for value in values
]


GIVEN = {"KMeansUFS": {"solver": "admm"}}


@pytest.mark.parametrize(("cls", "name", "value"), CASES)
def test_a_parameter_out_of_range_is_refused_by_name(cls, name, value):
    with pytest.raises(ValueError) as caught:
        getattr(methods, cls)(5, **GIVEN.get(cls, {}) | {name: value}).fit(X)
    assert str(caught.value).startswith(f"{name}={value!r} must")


INDICATORS = [np.ones((40, 2)), -np.ones((40, 3)), np.full((40, 3), np.nan)]  # of three clusters
STARTS = {
    "ConcreteAutoencoder": [np.eye(2)],
    "DUFS": [np.zeros(3)],
    "EUFS": INDICATORS,
    "FSPCA": [np.ones((12, 2))],
    "FSSL": [np.ones((3, 2))],
    "JELSR": [np.ones((12, 2))],
    "JGUFS": INDICATORS,
    "KMeansUFS": [np.eye(12)[:, :3], np.ones((12, 5))],
    "NDFS": INDICATORS,
    "RUFS": INDICATORS,
    "SPDFS": [-np.ones((40, 3))],
    "UDFS": [np.ones((12, 2))],
    "UFSOL": [np.ones((12, 2))],
    "VCSDFS": [-np.ones((12, 5))],
}


@pytest.mark.parametrize(("cls", "init"), [(cls, init) for cls, starts in STARTS.items() for init in starts])
def test_a_start_that_does_not_fit_is_refused_by_its_shape(cls, init):
    given, cls = GIVEN.get(cls, {}), getattr(methods, cls)
    known = {"n_clusters": 3} if "n_clusters" in cls().get_params() else {}
    with pytest.raises(ValueError) as caught:
        cls(5, init=init, **known, **given).fit(X)
    assert str(caught.value).startswith(f"init of shape {init.shape} must ")


SWEEPS = {"udfs": {"max_iter": 19}, "vcsdfs": {"max_iter": 100, "tol": 0}, "spca_psd": {"max_iter": 100}}
SWEEPS |= {"spdfs": {"max_iter": 49}}  # after the start, as for udfs


@pytest.mark.parametrize("name", SWEEPS)
def test_released_file_does_as_many_sweeps_as_the_program_over_the_grid_of_ours(name):
    contents = read_group("method")
    assert contents[f"{name}_released"]["grid"] == contents[name]["grid"]
    assert SWEEPS[name].items() <= contents[f"{name}_released"]["params"].items()
