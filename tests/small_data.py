"""Six samples of four features in three classes, the specification of a file that holds them, and a small data set."""

import numpy as np
import pytest
from scipy.io import savemat

from ufs_bench.datasets.files import checksum

X = np.arange(24.0).reshape(6, 4) ** 2
Y = np.array([3, 1, 3, 1, 7, 7])
CODES = [1, 0, 1, 0, 2, 2]
LONG = {"sc_celseq2_5cl", "hmp4"}  # real data that take seconds to read; others have the same kinds of files
TRUTH = "truth_clusters_d1_s0"  # 300 x 100, 10 classes; made, and so always at hand


def write_mat(path):
    savemat(path, {"X": X, "Y": Y[:, None]})


def spec_of(path, format="mat", x="X", y="Y", **changes):
    """Return the specification of a data set of X and Y in one file."""
    source = {"file": path.name, "format": format, "checksum": f"sha256:{checksum(path)}", "options": {"x": x, "y": y}}
    texts = dict.fromkeys(("paper_name", "citation", "origin", "terms"), "none")
    shape = {"samples": 6, "features": 4, "classes": 3, "image": None, "data_sha256": None}
    return {"name": "small", **texts, **shape, "sources": [source], **changes}


def longer_slow(names):
    """Return names of data sets, those that take seconds to read marked slow."""
    return [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in names]
