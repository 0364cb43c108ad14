"""A trial, and those that are stored."""

import ast
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.experiment.method import load_class, parameters_of
from ufs_bench.runners.store.row import from_json, to_json
from ufs_bench.runners.workers.outside import is_outside


@dataclass(frozen=True)
class Trial:
    """One fit and its scoring, with all that a worker needs to know besides the data."""

    study: str
    dataset: str
    method: str
    target: str
    params: Mapping  # constructor arguments, without the size and the seed
    is_default: bool  # True where `params` are the method's defaults
    sizes: tuple[int, ...]  # to score; a single one where the size is part of the model
    protocol: Protocol
    data_sha: str
    # Seed of the method's random part, where it is not the protocol's; the starts of K-means do not change with it.
    seed: int | None = None

    @functools.cached_property
    def key(self):
        """A hash of data, parameters and protocol, so that a changed seed or file is never taken for done."""
        return self._key(self.protocol.scoring())  # what decides which trials there are is in `sizes` and `params`

    def _key(self, protocol):
        identity = {
            name: getattr(self, name) for name in ("dataset", "method", "target", "params", "sizes", "data_sha")
        }
        if self.seed is not None:  # all trials were without, before there were others
            identity["seed"] = self.seed
        if self.scaling != self.protocol.scaling:
            identity["fitted_on"] = self.scaling
        return hash_of(to_json(identity | {"protocol": protocol})).hex()[:16]

    def key_under(self, name):
        """Return the key of this trial under a protocol of another name that is equal in all that decides scores."""
        return self.key if name == self.protocol.name else self._key(self.protocol.scoring() | {"name": name})

    @property
    def random_state(self):
        """The seed of the fit's random part, by default the protocol's."""
        return self.protocol.seed if self.seed is None else self.seed

    @property
    def nth_seed(self):
        """The seed of the method's random part, counted from the protocol's."""
        return 0 if self.seed is None else self.seed - self.protocol.seed

    @property
    def scaling(self):
        """The scaling of the data that the method is fitted on."""
        return self.protocol.scaling_of(self.method)

    @property
    def cls(self):
        """The class of the method."""
        return load_class(self.target)

    def selector(self, cls=None):
        """Return the unfitted estimator, for the largest size; `cls` is the method's class, where it is at hand."""
        cls = self.cls if cls is None else cls
        arguments = dict(self.params, n_features_to_select=max(self.sizes))
        if "random_state" in parameters_of(cls):
            arguments["random_state"] = self.random_state
        return cls(**arguments)


def stored_trial(row, target):
    """Return the trial of a row of `metrics.study.frames.fits_of`; None where its key would be another now."""
    protocol, nth_seed = Protocol.from_json(row["protocol"]), int(row["nth_seed"])
    trial = Trial(
        study=row["study"],
        dataset=row["dataset"],
        method=row["method"],
        target=target,
        params=from_json(row["params"]),
        is_default=bool(row["is_default"]),
        sizes=row["sizes"],
        protocol=protocol,
        data_sha=row["data_sha"],
        seed=protocol.seed + nth_seed if nth_seed else None,
    )
    return trial if trial.key == row["trial"] else None


def takes_seed(target):
    """Return True where the class of this dotted name has a parameter `random_state`, and so may have a random part."""
    module, _, name = target.rpartition(".")
    written = _parameters_written(module, name)
    return "random_state" in (parameters_of(load_class(target)) if written is None else written)


def has_random_part(content):
    """Return True where a method has a random part, of which its file of conf/method may say that it has none."""
    return not content.get("seedless", False) and takes_seed(content["target"])


@functools.cache
def _parameters_written(module, name):
    """Return the parameters that a class of methods/ has in its file, which is not imported; None where not there."""
    place = ROOT.joinpath(*module.split("."))
    files = [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.exists()]
    if is_outside(module) or not files:
        return None
    classes = {
        node.name: node for node in ast.parse(files[0].read_text(encoding="utf-8")).body if hasattr(node, "bases")
    }
    while name in classes:
        written = [part for part in classes[name].body if getattr(part, "name", "") == "__init__"]
        if written:
            known = written[0].args
            return None if known.kwarg else {argument.arg for argument in (*known.args, *known.kwonlyargs)}
        name = getattr((classes[name].bases or [None])[0], "id", "")
    return _parameters_written("methods.core.base", name) if name == "BaseSelector" else None


def hash_of(text):
    """Return the SHA-256 of a text, as bytes."""
    return hashlib.sha256(text.encode()).digest()
