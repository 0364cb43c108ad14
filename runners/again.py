"""Turns a stored trial into a `Trial` again, so that it can be fitted once more."""

import inspect
import json

from metrics.protocol import Protocol
from runners.method import load_class
from runners.trial import Trial


def stored_trial(row, target):
    """Return the trial that a row of ``trials.csv`` is about.

    Parameters
    ----------
    row : Mapping
    target : str
        The dotted name of the method's class.

    Returns
    -------
    Trial or None
        None where code or configuration changed so that it would get another key.
    """
    trial = Trial(
        study=row["study"],
        dataset=row["dataset"],
        method=row["method"],
        target=target,
        params=json.loads(row["params"]),
        is_default=bool(row["is_default"]),
        sizes=tuple(json.loads(row["sizes"])),
        protocol=Protocol.from_json(row["protocol"]),
        data_sha=row["data_sha"],
    )
    return trial if trial.key == row["trial"] else None


def takes_seed(target):
    """Return True where the class of this dotted name has a parameter `random_state`, and so a random part."""
    return "random_state" in inspect.signature(load_class(target)).parameters
