"""A trial: one fit and its scoring, as the grid asks for it or as it is stored."""

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from metrics.protocol import OPTIONAL, Protocol
from runners.method import load_class, parameters_of
from runners.row import to_json


@dataclass(frozen=True)
class Trial:
    """One fit and its scoring, with all that a worker needs to know besides the data.

    Attributes
    ----------
    params : Mapping
        Constructor arguments, without the size and the seed.
    sizes : tuple of int
        Sizes to score; a single one where the size is part of the model.
    is_default : bool
        True where `params` are the method's defaults.
    seed : int, optional
        Seed of the method's random part, where it is not the protocol's; the starts of K-means do not change with it.
    """

    study: str
    dataset: str
    method: str
    target: str
    params: Mapping
    is_default: bool
    sizes: tuple[int, ...]
    protocol: Protocol
    data_sha: str
    seed: int | None = None

    @functools.cached_property
    def key(self):
        """A hash of data, parameters and protocol, so that a changed seed or file is never taken for done."""
        identity = {
            name: getattr(self, name) for name in ("dataset", "method", "target", "params", "sizes", "data_sha")
        }
        if self.seed is not None:  # all trials were without, before there were others
            identity["seed"] = self.seed
        # The optional ones decide which trials there are, and are in `sizes` and `params`.
        identity["protocol"] = {name: value for name, value in vars(self.protocol).items() if name not in OPTIONAL}
        return hashlib.sha256(to_json(identity).encode()).hexdigest()[:16]

    def key_under(self, name):
        """Return the key of this trial under a protocol of another name that is equal in all that decides scores."""
        return replace(self, protocol=replace(self.protocol, name=name)).key

    @property
    def cls(self):
        """The class of the method."""
        return load_class(self.target)

    def selector(self, cls=None):
        """Return the unfitted estimator, for the largest size; `cls` is the method's class, where it is at hand."""
        cls = self.cls if cls is None else cls
        arguments = dict(self.params, n_features_to_select=max(self.sizes))
        if "random_state" in parameters_of(cls):
            arguments["random_state"] = self.protocol.seed if self.seed is None else self.seed
        return cls(**arguments)


def stored_trial(row, target):
    """Return the trial that a row of ``trials.csv`` is about.

    Parameters
    ----------
    row : Mapping
    target : str
        The dotted name of the method's class.

    Returns
    -------
    Trial or None
        None where code or configuration changed so that it would get another key.
    """
    trial = Trial(
        study=row["study"],
        dataset=row["dataset"],
        method=row["method"],
        target=target,
        params=json.loads(row["params"]),
        is_default=bool(row["is_default"]),
        sizes=tuple(json.loads(row["sizes"])),
        protocol=Protocol.from_json(row["protocol"]),
        data_sha=row["data_sha"],
    )
    return trial if trial.key == row["trial"] else None


def takes_seed(target):
    """Return True where the class of this dotted name has a parameter `random_state`, and so a random part."""
    return "random_state" in parameters_of(load_class(target))
