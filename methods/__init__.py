"""Unsupervised feature selectors, scikit-learn estimators all: each a file of its name, or a folder of its name."""

from methods.baselines import AllFeatures, FirstIndex, MaxVariance, MinNorm, MinVariance, RandomSelection
from methods.dgufs import DGUFS
from methods.eufs import EUFS
from methods.fssl import FSSL
from methods.jelsr import JELSR
from methods.jgufs import JGUFS
from methods.kmeans_ufs import KMeansUFS
from methods.laplacian_score import LaplacianScore
from methods.mcfs import MCFS
from methods.ndfs import NDFS
from methods.rufs import RUFS
from methods.sf2sog import SF2SOG
from methods.socfs import SOCFS
from methods.spca_psd import SPCAPSD
from methods.spdfs import SPDFS
from methods.spectral_labels import SpectralLabels
from methods.udfs import UDFS
from methods.ufsol import UFSOL
from methods.vcsdfs import VCSDFS

__all__ = [
    "DGUFS",
    "EUFS",
    "FSSL",
    "JELSR",
    "JGUFS",
    "MCFS",
    "NDFS",
    "RUFS",
    "SF2SOG",
    "SOCFS",
    "SPCAPSD",
    "SPDFS",
    "UDFS",
    "UFSOL",
    "VCSDFS",
    "AllFeatures",
    "FirstIndex",
    "KMeansUFS",
    "LaplacianScore",
    "MaxVariance",
    "MinNorm",
    "MinVariance",
    "RandomSelection",
    "SpectralLabels",
]
