"""Sparse samples in a run: what is refused on them before anything starts, their size, and their copy in files."""

from pathlib import Path

import numpy as np
import yaml
from scipy import sparse

from datasets.scaling import KEEP_ZEROS, scale
from runners.code import ROOT
from runners.method import ConfigError, load_class

PARTS = ("data", "indices", "indptr")  # the arrays that a csr_array consists of


def check_sparse(method, protocol, data, spec):
    """Refuse a method that needs dense samples, or a scaling that fills them with values, where X is to stay sparse.

    Parameters
    ----------
    method : Method
    protocol : Protocol
    data : Dataset
        Or what stands for it before it is loaded: ``name`` and an X of its shape.
    spec : Mapping
        The specification of the data set, in which a source may have ``sparse: true``.

    Raises
    ------
    ConfigError
        It names the methods that keep X sparse, or the scalings.
    """
    loaded = sparse.issparse(data.X)
    if not loaded and not any(source.get("sparse") for source in spec.get("sources", ())):
        return
    shape = "{} x {}".format(*data.X.shape)
    if not getattr(method.cls, "takes_sparse", False):
        dense = 8 * data.X.shape[0] * data.X.shape[1] / 2**20
        raise ConfigError(
            f"{method.name} needs a dense X, and {data.name} ({shape}) is sparse; written out it would take "
            f"{dense:,.1f} MB. Nothing was started. These methods keep it sparse: "
            f"{', '.join(methods_that_take_sparse())}. For the others leave sparse=true out, or take it "
            f"out of conf/dataset/{data.name}.yaml."
        )
    for how in sorted({protocol.scaling, protocol.scaling_of(method.name)}):
        try:
            if loaded or how not in (*KEEP_ZEROS, "minmax"):
                scale(data.X if loaded else sparse.csr_array((1, 1)), how)
        except ValueError as error:
            raise ConfigError(f"{data.name} ({shape}): {error} It is protocol.scaling.") from error


def methods_that_take_sparse():
    """List the methods of conf/method that keep a sparse X sparse."""
    files = sorted((ROOT / "conf/method").glob("*.yaml"))
    targets = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["target"] for path in files}
    return [name for name, target in targets.items() if getattr(load_class(target), "takes_sparse", False)]


def n_stored(X):
    """Return the number of entries that a sparse X stores; None for a dense one."""
    return X.nnz if sparse.issparse(X) else None


def save(folder, name, X):
    """Write samples to files of a folder, which `mapped` opens: one for each array that they consist of."""
    if not sparse.issparse(X):
        np.save(Path(folder, f"{name}.npy"), X)
        return
    for part in PARTS:
        np.save(Path(folder, f"{name}.{part}.npy"), getattr(X, part))
    np.save(Path(folder, f"{name}.shape.npy"), X.shape)


def mapped(folder, name):
    """Return samples from the files of `save`, read-only and mapped into memory; None where there are none."""
    if Path(folder, f"{name}.npy").exists():
        return _array(folder, name)
    if not Path(folder, f"{name}.shape.npy").exists():
        return None
    X = sparse.csr_array(
        tuple(_array(folder, f"{name}.{part}") for part in PARTS), shape=_array(folder, f"{name}.shape")
    )
    X.has_canonical_format = True  # so that nobody looks through it again; `datasets.scaling.scale` made it so
    return X


def _array(folder, name):
    return np.asarray(np.load(Path(folder, f"{name}.npy"), mmap_mode="r"))
