"""Unsupervised feature selectors, scikit-learn estimators all: each a file of its name, or a folder of its name."""

from methods.baselines import AllFeatures, FirstIndex, MaxVariance, MinNorm, MinVariance, RandomSelection
from methods.cae import ConcreteAutoencoder
from methods.column_subsets import LeverageScores, PivotedQR, SingularQR
from methods.dgufs import DGUFS
from methods.dufs import DUFS
from methods.eufs import EUFS
from methods.fsasl import FSASL
from methods.fspca import FSPCA
from methods.fssl import FSSL
from methods.greedy_css import GreedyCSS
from methods.hvg import HighlyVariableGenes
from methods.inf_fs import InfFS
from methods.jelsr import JELSR
from methods.jgufs import JGUFS
from methods.kmeans_ufs import KMeansUFS
from methods.laplacian_score import LaplacianScore
from methods.mcfs import MCFS
from methods.ndfs import NDFS
from methods.pfa import PFA
from methods.rsr import RSR
from methods.rufs import RUFS
from methods.sf2sog import SF2SOG
from methods.socfs import SOCFS
from methods.sogfs import SOGFS
from methods.sparse_kmeans import SparseKMeans
from methods.spca_psd import SPCAPSD
from methods.spdfs import SPDFS
from methods.spec import SPEC
from methods.spectral_labels import SpectralLabels
from methods.swap_css import SwapCSS
from methods.udfs import UDFS
from methods.ufsol import UFSOL
from methods.vcsdfs import VCSDFS

__all__ = [
    "DGUFS",
    "DUFS",
    "EUFS",
    "FSASL",
    "FSPCA",
    "FSSL",
    "JELSR",
    "JGUFS",
    "MCFS",
    "NDFS",
    "PFA",
    "RSR",
    "RUFS",
    "SF2SOG",
    "SOCFS",
    "SOGFS",
    "SPEC",
    "SPCAPSD",
    "SPDFS",
    "UDFS",
    "UFSOL",
    "VCSDFS",
    "AllFeatures",
    "ConcreteAutoencoder",
    "FirstIndex",
    "GreedyCSS",
    "HighlyVariableGenes",
    "InfFS",
    "KMeansUFS",
    "LaplacianScore",
    "LeverageScores",
    "MaxVariance",
    "MinNorm",
    "MinVariance",
    "PivotedQR",
    "RandomSelection",
    "SingularQR",
    "SparseKMeans",
    "SpectralLabels",
    "SwapCSS",
]
