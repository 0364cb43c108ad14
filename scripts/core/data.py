"""Loads the data of stored trials, to compute on them again."""

from ufs_bench.datasets import DataError, dataset_names, load_dataset


def data_of(trials, data_dir):
    """Return the data set of trials, and ""; or None and why it is not here, or not theirs. Nothing is downloaded."""
    name = trials["dataset"].iloc[0]
    if name not in dataset_names(truth=True):
        return None, f"{name} is no file of conf/dataset; python -m scripts.add_data data=FILE name={name} makes one."
    try:
        loaded = load_dataset(name, data_dir=data_dir, download=False)
    except DataError as error:
        return None, f"{str(error).splitlines()[0].rstrip(':.')}."
    if set(trials["data_sha"]) != {loaded.sha}:
        return None, "the data here are not those of the stored trials."
    return loaded, ""
