"""Loads the data of stored trials, to compute on them again."""

import json

from datasets import DataError, load_dataset, scale


def data_of(trials, data_dir):
    """Return the samples and classes that trials were run on; nothing is downloaded.

    Parameters
    ----------
    trials : DataFrame
        Of one data set and one protocol.
    data_dir : path or None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features) or None
        Scaled as in the protocol; None where the data are not on this machine, or are not those of the trials.
    y : ndarray of shape (n_samples,) or None
        Class codes.
    reason : str
        The reason why there are none.
    """
    try:
        loaded = load_dataset(trials["dataset"].iloc[0], data_dir=data_dir, download=False)
    except DataError as error:
        return None, None, f"{str(error).splitlines()[0].rstrip(':.')}."
    if set(trials["data_sha"]) != {loaded.sha}:
        return None, None, "the data here are not those of the stored trials."
    return scale(loaded.X, json.loads(trials["protocol"].iloc[0])["scaling"]), loaded.y, ""
