"""What a figure or a test lacks, and the command that fills it."""

import json
from pathlib import Path

import pandas as pd

from runners.method import did_you_mean
from scripts.core.commands import commands, overrides_of
from scripts.core.conf import CONF, names_in_print, read
from scripts.core.words import NOT_RUN


class MissingResults(ValueError):
    """Results that are not stored.

    Parameters
    ----------
    message : str
    cells : list of (str, str)
        The (method, data set) pairs that are wanted.
    """

    def __init__(self, message, cells=()):
        super().__init__(message)
        self.cells = list(cells)


def no_results(results_dir, study):
    """That a study has no results, and which ones have."""
    there = sorted({path.parts[-4] for path in Path(results_dir).glob("*/*/*/trials.csv")})
    hint = did_you_mean(study, there)
    return f"the study {study!r} has no results in {results_dir}.{hint} Studies there: {', '.join(there) or 'none'}."


def with_commands(text, lines):
    """What is wrong, and below it the commands that fill what is missing, if there are any."""
    return "\n".join([f"error: {text}", *(["To fill it:"] if lines else []), *(f"  {line}" for line in lines)])


def fill(cells, trials, study, protocol, grid=None):
    """The commands that fill cells of a study.

    Parameters
    ----------
    cells : list of (str, str)
        (method, data set).
    trials : DataFrame
        What the study holds: its protocol is taken from here.
    study : str
    protocol : str
        File of conf/protocol, for a study that holds nothing yet.
    grid : Mapping, optional
        Parameter -> values that the method's file does not search; one command each.

    Returns
    -------
    list of str
        Empty where there is neither a result nor such a file: no command can be named then.
    """
    if trials.empty and not (CONF / "protocol" / f"{protocol}.yaml").exists():
        return []
    overrides = []
    if len(trials):
        stored = json.loads(trials["protocol"].iloc[0])
        protocol = stored["name"]
        path = CONF / "protocol" / f"{protocol}.yaml"
        overrides = overrides_of(read(path), stored) if path.exists() else []
    frame = pd.DataFrame(cells, columns=["method", "dataset"]).assign(clusterer="kmeans", status=NOT_RUN)
    lines, unknown = commands(
        frame, study, protocol, overrides, names_in_print("method"), names_in_print("dataset")
    )  # fmt: skip
    if grid:
        lines = [
            f"{line} '+method.grid.{name}=[{','.join(map(str, values))}]'"
            for line in lines
            for name, values in grid.items()
        ]
    return lines + [f"(no file in conf/ for {name})" for name in unknown]
