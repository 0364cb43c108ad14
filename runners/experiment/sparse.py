"""Refuses methods and scalings that would fill sparse samples with values."""

import yaml
from scipy.sparse import csr_array, issparse

from ufs_bench.datasets.scaling import KEEP_ZEROS, scale
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.method import load_class


def check_sparse(method, protocol, data, spec):
    """Refuse a method that needs dense samples, or a scaling that fills them with values, where X is to stay sparse.

    `data` is a data set, or what stands for it before it is loaded: ``name`` and an X of its shape.
    """
    loaded = issparse(data.X)
    if not loaded and not any(source.get("sparse") for source in spec.get("sources", ())):
        return
    shape = "{} x {}".format(*data.X.shape)
    if not getattr(method.cls, "takes_sparse", False):
        dense = 8 * data.X.shape[0] * data.X.shape[1] / 2**20
        file = ROOT / "conf" / "dataset" / f"{data.name}.yaml"
        where = f"take sparse: true out of conf/dataset/{file.name}" if file.exists() else "leave sparse=true out"
        raise ConfigError(
            f"{method.name} needs a dense X, and {data.name} ({shape}) is sparse; written out it would take "
            f"{dense:,.1f} MB. Nothing was started. These methods keep it sparse: "
            f"{', '.join(methods_that_take_sparse())}. For the others {where}."
        )
    for how in sorted({protocol.scaling, protocol.scaling_of(method.name)}):
        try:
            if loaded or how not in (*KEEP_ZEROS, "minmax"):
                scale(data.X if loaded else csr_array((1, 1)), how)
        except ValueError as error:
            raise ConfigError(f"{data.name} ({shape}): {error} It is protocol.scaling.") from error


def methods_that_take_sparse():
    """List the methods of conf/method that keep a sparse X sparse."""
    files = sorted((ROOT / "conf/method").glob("*.yaml"))
    targets = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))["target"] for path in files}
    return [name for name, target in targets.items() if getattr(load_class(target), "takes_sparse", False)]
