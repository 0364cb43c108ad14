"""Unsupervised feature selectors, scikit-learn estimators all: each a file of its name, or a folder of its name."""

import importlib

# class -> its module, which is imported when the class is asked for: all of them take seconds.
_MODULES = {
    "AllFeatures": "baselines",
    "ConcreteAutoencoder": "cae",
    "DGUFS": "dgufs",
    "DUFS": "dufs",
    "EUFS": "eufs",
    "FSASL": "fsasl",
    "FSPCA": "fspca",
    "FSSL": "fssl",
    "FirstIndex": "baselines",
    "GreedyCSS": "greedy_css",
    "HighlyVariableGenes": "hvg",
    "InfFS": "inf_fs",
    "JELSR": "jelsr",
    "JGUFS": "jgufs",
    "KMeansUFS": "kmeans_ufs",
    "LaplacianScore": "laplacian_score",
    "LeverageScores": "column_subsets",
    "MCFS": "mcfs",
    "MaxVariance": "baselines",
    "MinNorm": "baselines",
    "MinVariance": "baselines",
    "NDFS": "ndfs",
    "PFA": "pfa",
    "PivotedQR": "column_subsets",
    "RSR": "rsr",
    "RUFS": "rufs",
    "RandomSelection": "baselines",
    "SF2SOG": "sf2sog",
    "SOCFS": "socfs",
    "SOGFS": "sogfs",
    "SPCAPSD": "spca_psd",
    "SPDFS": "spdfs",
    "SPEC": "spec",
    "SingularQR": "column_subsets",
    "SparseKMeans": "sparse_kmeans",
    "SpectralLabels": "spectral_labels",
    "SwapCSS": "swap_css",
    "UDFS": "udfs",
    "UFSOL": "ufsol",
    "VCSDFS": "vcsdfs",
}

__all__ = [*_MODULES]


def __getattr__(name):
    """Return a class of a method."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__():
    return __all__
