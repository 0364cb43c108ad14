"""The methods of conf/method, those with fewer sweeps that would take minutes on the small data of the contract."""

import inspect

import pytest

from ufs_bench.scripts.check_method.contract import Method, load_methods

# On such small data the slots of CAE stay undecided, and 31 times as many epochs are done: with 300 a minute in all.
# UFSOL does hundreds of sweeps from each of its starts; what is looked at here holds after any number.
QUICK = {"cae_released": {"max_iter": 20}} | {
    name: {"max_iter": 20} for name in ("ufsol", "ufsol_alpha0", "ufsol_max_margin", "ufsol_similarity")
}
# For what holds after any number of sweeps and starts, of methods that do many; with --slow the contract has them all.
FEW = {"max_iter": 5, "n_permutations": 2, "n_starts": 2, "max_work": 1e5}
MANY = {"cae", "dufs", "dufs_released", "eufs", "fsasl", "jgufs", "jgufs_released", "kmeans_ufs_admm", "ndfs_released"}
MANY |= {"rufs", "sf2sog", "socfs", "sogfs", "sparse_kmeans", "sparse_kmeans_released", "spdfs"}
MANY |= {"ufsol", "ufsol_released", "vcsdfs"}
# A graph, a start or a scaling of a solver that another configuration of the class has, too.
TWINS = {"dgufs_normalized", "ndfs_kmeans_start", "socfs_triplet"}
TWINS |= {"ufsol_alpha0", "ufsol_max_margin", "ufsol_similarity"}
SLOW = pytest.mark.slow


def load_quick_methods():
    """Return every method, by name, with parameters of `QUICK`."""
    return {name: _with(method, QUICK.get(name, {})) for name, method in load_methods().items()}


def with_few(method):
    """Return the method, one of `MANY` with no more sweeps and starts than `FEW`."""
    return _with(method, _fewer(method.cls(**method.config["params"]))) if method.name in MANY else method


def shortened(estimator):
    """Return the unfitted estimator with few sweeps and starts where it has any."""
    return estimator.set_params(**_fewer(estimator))


def _fewer(estimator):
    """Return those of `FEW` that are below the estimator's parameter."""
    given = estimator.get_params()
    return {name: few for name, few in FEW.items() if (given.get(name) or 0) > few}


def _with(method, params):
    return Method(method.name, {**method.config, "params": method.config["params"] | params})


def further_slow(methods, long=()):
    """Return the names of methods; long ones, and all but the first configuration of a class, are marked slow."""
    first = {method.cls: name for name, method in reversed(methods.items())}.values()
    return [name if name in first and name not in long else pytest.param(name, marks=SLOW) for name in methods]


def one_of_each_kind(methods):
    """Return the first method of each kind: what its class takes and says, and so what of the base class it reaches."""

    def kind(method):
        names = set(inspect.signature(method.cls).parameters)
        takes = names & {"n_clusters", "random_state"}
        says = (method.cls.keeps_all, method.cls.takes_sparse, method.cls.takes_negative, method.cls.size_in_objective)
        return frozenset(takes), says

    return list({kind(method): method for method in reversed(methods.values())}.values())
