"""The stand-in for data that are not loaded: their shape, and the least value that a method may refuse."""

import functools
import json
from contextlib import suppress
from types import SimpleNamespace

import numpy as np

from ufs_bench.datasets import DataError, load_dataset
from ufs_bench.datasets.load import locate
from ufs_bench.datasets.spec import check_spec
from ufs_bench.runners.store.row import from_json


def stand_in(settings):
    """Return what stands for the data of a cell before they are loaded; None where their file does not state a shape.

    Its X has their shape, and everywhere their least value where that is below 0 and the method takes none such; data
    that are not on this machine are taken to have none.
    """
    spec = settings.dataset
    n_samples, n_features, n_classes = (spec.get(key) for key in ("samples", "features", "classes"))
    n_classes = spec.get("clusters") if n_classes is None else n_classes
    if None in (n_samples, n_features, n_classes):
        return None
    takes_any = getattr(settings.method.cls, "takes_negative", True)
    X = np.broadcast_to(0.0 if takes_any else least(spec, settings.data_dir), (n_samples, n_features))
    sha = spec.get("data_sha256") or ""
    return SimpleNamespace(name=spec["name"], X=X, n_features=n_features, n_classes=n_classes, sha=sha)


def check_at_hand(spec, folder):
    """Raise DataError for data that are not on this machine, or damaged."""
    _check_at_hand(json.dumps(spec), folder)


def least(spec, folder):
    """Return the least value of data, at most 0; 0 for what is not on this machine."""
    return _least(json.dumps(spec), folder)


@functools.cache  # its file is hashed
def _check_at_hand(spec, folder):
    locate(check_spec(from_json(spec)), folder, download=False)


@functools.cache
def _least(spec, folder):
    with suppress(DataError):
        return min(0.0, load_dataset(from_json(spec), data_dir=folder, download=False).X.min())
    return 0.0
