"""The columns of a cell's files; those of ``trials.csv`` are the fields of a trial's row."""

import base64
import json
import zlib
from dataclasses import dataclass, fields

import numpy as np


@dataclass
class Row:
    """The row of a trial; its fields are the columns, in order, with their types.

    Attributes
    ----------
    trial : str
        The key: a hash of data, parameters and protocol.
    params, sizes, protocol, ranking, feature_sets, shared, versions : str
        JSON.
    status : str
        How the fit ended ("converged", "max_iter", ...), or one of `metrics.study.UNSCORED`; then `error` says why.
    objective : float
        At the end of the fit.
    fit_s, eval_s : float
        Seconds of the fit, also of one that a cap ended, and of the trial's own evaluations.
    peak_mb : float
        Largest memory of the process during the fit, also of one that a cap ended; under a cap, with what it forked.
    n_scores : int
        Number of the trial's rows in ``scores.csv``: fewer there mean that a crash cut the trial off.
    shared : str
        Sizes whose scores come from an evaluation done for another trial.
    git_sha : str
        Commit of the code that fitted.
    code_fit, code_evaluation : str
        Digests of the code (`runners.code`) that fitted, and of the code that evaluated.
    labels : str
        Learned labels, so that they can be scored again: `pack_labels`; "" where there are none.
    n_others : str
        JSON: file -> number of the trial's rows in it, besides ``scores.csv``; "" in results of earlier versions.
    """

    trial: str
    study: str
    dataset: str
    method: str
    params: str
    is_default: bool
    sizes: str
    protocol: str
    status: str = ""
    error: str = ""
    n_iter: int = 0
    objective: float = float("nan")
    fit_s: float = float("nan")
    eval_s: float = float("nan")
    peak_mb: float = float("nan")
    n_scores: int = 0
    ranking: str = "[]"
    feature_sets: str = "{}"
    shared: str = "[]"
    data_sha: str = ""
    git_sha: str = ""
    versions: str = "{}"
    started: str = ""
    code_fit: str = ""
    code_evaluation: str = ""
    labels: str = ""
    n_others: str = ""


def to_json(value):
    """Return compact JSON with sorted keys, so that the same value gives the same text."""
    return json.dumps(value, sort_keys=True, separators=(", ", ": "), allow_nan=False)


def pack_labels(size, labels):
    """Return learned labels as JSON: their codes in the order of their names, compressed, and the size they go with."""
    _, codes = np.unique(labels, return_inverse=True)
    data = zlib.compress(codes.astype("<i4").tobytes(), 9)
    return to_json({"n_selected": int(size), "packed": base64.b64encode(data).decode()})


def unpack_labels(text):
    """Return the size and the labels of `pack_labels`."""
    content = json.loads(text)
    return content["n_selected"], np.frombuffer(zlib.decompress(base64.b64decode(content["packed"])), "<i4")


def counts_of(row):
    """Return the number of rows that a trial has in each file, as far as its own row says.

    Parameters
    ----------
    row : Mapping

    Returns
    -------
    dict of str to int
    """
    known = json.loads(row["n_others"] or "{}")
    return {name: known[name] for name in ("traces", "facts", "measures") if name in known} | {
        "scores": int(row["n_scores"])
    }


TRIALS = [field.name for field in fields(Row)]
SCORES = "trial dataset method n_selected clusterer restart acc nmi agreement silhouette".split()
TRACES = "trial iteration objective".split()
# One number a row, so that a fit can report another number without new columns in stored files.
FACTS = "trial name value".split()
# Likewise for a feature set: measures that are taken once, and not for every restart.
MEASURES = "trial n_selected name value".split()
# Columns that results of earlier versions lack, with the value they are read as; they are the last of their file.
LATER = {name: getattr(Row, name) for name in ("code_fit", "code_evaluation", "labels", "n_others")} | {"identity": ""}
COLUMNS = {"trials": TRIALS, "scores": SCORES, "traces": TRACES, "facts": FACTS, "measures": MEASURES}
KINDS = {field.name: field.type for field in fields(Row)}  # column -> type; all other columns hold texts
KINDS |= dict.fromkeys(("n_selected", "restart", "iteration", "repeat", "seed"), int)
KINDS |= dict.fromkeys(("acc", "nmi", "agreement", "silhouette", "value", "acc_mean", "nmi_mean"), float)
