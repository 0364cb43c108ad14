"""The data sets of the papers: found or downloaded, checked, and loaded as samples and classes."""

from datasets.base import DataError, DataMissing, Dataset
from datasets.load import load_dataset
from datasets.scaling import scale
from datasets.spec import dataset_names, read_spec

__all__ = ["DataError", "DataMissing", "Dataset", "dataset_names", "load_dataset", "read_spec", "scale"]
