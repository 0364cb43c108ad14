"""The data sets of the papers: found or downloaded, checked, and loaded as samples and classes."""

from ufs_bench.datasets.base import DataError, DataMissing, Dataset
from ufs_bench.datasets.load import load_dataset
from ufs_bench.datasets.scaling import scale
from ufs_bench.datasets.spec import dataset_names, read_spec

__all__ = ["DataError", "DataMissing", "Dataset", "dataset_names", "load_dataset", "read_spec", "scale"]
