"""The columns of a cell's files, and what a value of each may be; a trial's row is a record of its own."""

import base64
import hashlib
import json
import math
import zlib
from dataclasses import dataclass, field, fields

import numpy as np

from ufs_bench.metrics.measures import DECIMALS, OF_SET, of_restarts
from ufs_bench.metrics.protocol import Protocol

DIGEST = 16  # bytes of a feature set's name


@dataclass
class Row:
    """The row of a trial; its fields are the columns, in order, with their types."""

    trial: str  # the key: a hash of data, parameters and protocol
    study: str
    dataset: str
    method: str
    # JSON, as are sizes, protocol, ranking, feature_sets, shared and versions.
    params: str
    is_default: bool
    sizes: str
    protocol: str
    # How the fit ended ("converged", "max_iter", ...), or one of `metrics.study.UNSCORED`; then `error` says why.
    status: str = ""
    error: str = ""
    n_iter: int = 0
    objective: float = float("nan")  # at the end of the fit
    # Processor seconds of the fit, also of one that a cap ended, and of the trial's own evaluations.
    fit_s: float = float("nan")
    eval_s: float = float("nan")
    # Largest memory of the process during the fit, also of one that a cap ended; under a cap, with what it forked.
    peak_mb: float = float("nan")
    # Of the data; 0 where a cap ended the fit.
    n_samples: int = 0
    n_features: int = 0
    n_scores: int = 0  # number of the trial's rows in ``scores.csv``: fewer there mean that a crash cut the trial off
    ranking: str = "[]"
    feature_sets: str = "{}"
    shared: str = "[]"  # sizes whose scores come from an evaluation done for another trial
    data_sha: str = ""
    git_sha: str = ""  # commit of the code that fitted
    versions: str = "{}"
    started: str = ""
    # Digests of the code (`runners.code`) that fitted, and of the code that evaluated.
    code_fit: str = ""
    code_evaluation: str = ""
    labels: str = ""  # learned labels, so that they can be scored again: `pack_labels`; "" where there are none
    # JSON: file -> number of the trial's rows in it, besides ``scores.csv``; "" without scores.
    n_others: str = ""
    nth_seed: int = 0  # the fit's seed is that of the protocol and so much more; K-means keeps that of the protocol


@dataclass(frozen=True)
class Outcome:
    """The rows of one trial, in the columns of `runners.store.folder`."""

    trial: dict  # the fields of `runners.store.row.Row`
    # The rows of the other files, as tuples.
    scores: list = field(default_factory=list)
    traces: list = field(default_factory=list)
    facts: list = field(default_factory=list)
    measures: list = field(default_factory=list)
    log: str = ""  # traceback and warnings, for run.log


def to_json(value):
    """Return compact JSON with sorted keys, so that the same value gives the same text."""
    return json.dumps(value, sort_keys=True, separators=(", ", ": "), allow_nan=False)


def from_json(text):
    """Return the value that `to_json` has made this text of."""
    return json.loads(text)


def feature_set_digest(features):
    """Return the name of a set of features, whatever their order, in hexadecimal digits."""
    indices = np.sort(np.asarray(features, dtype="<i8"))
    return hashlib.sha256(indices.tobytes()).hexdigest()[: 2 * DIGEST]


def ranking_of(subsets):
    """Return as JSON the longest of some selections where all others are its beginnings; else a list for each size."""
    longest = max(subsets, key=len)
    if all(np.array_equal(longest[: len(subset)], subset) for subset in subsets):
        return to_json(longest.tolist())
    return to_json({str(len(subset)): subset.tolist() for subset in subsets})


def subsets_of(ranking, sizes):
    """Return the selections of these sizes from the text of `ranking_of`, as lists by size."""
    each = json.loads(ranking)
    return {size: each.get(str(size), []) if isinstance(each, dict) else each[:size] for size in sizes}


def stored_nmi(values):
    """Return NMI of restarts as it is stored, in ten-thousandths: restarts differ by hundreds of these."""
    # First to the decimals that an evaluation gives, so that a half is rounded alike before and after it.
    return np.rint(np.round(np.asarray(values, dtype=float), DECIMALS) * NMI_PARTS) / NMI_PARTS


def stored_scores(scores):
    """Return ACC and NMI of every restart as they are stored, of scores of `metrics.evaluate.evaluate`."""
    acc, nmi = zip(*of_restarts(scores), strict=True)
    return acc, stored_nmi(nmi).tolist()


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
    """Return, by file, the number of rows that a trial has in it, as far as its own row says."""
    known = json.loads(row["n_others"] or "{}")
    return {name: known[name] for name in OTHERS[1:] if name in known} | {"scores": int(row["n_scores"])}


NMI_PARTS = 10_000
TRIALS = [field.name for field in fields(Row)]
SCORES = "trial dataset method n_selected clusterer restart acc nmi".split()
TRACES = "trial iteration objective".split()
# One number a row, so that a fit can report another number without new columns in stored files.
FACTS = "trial name value".split()
# Their names: the first six are what a selector may have as NAME_, the others are made by `runners.workers.fit`.
REPORTED = (
    "indicator_change", "n_filled", "n_exchanged", "annealed_residual", "residual", "residual_bound",
    "n_scored", "start_kept", "start_size", "start_among",
)  # fmt: skip
# Likewise for a feature set: measures that are taken once, and not for every restart.
MEASURES = "trial n_selected name value".split()
COLUMNS = {"trials": TRIALS, "scores": SCORES, "traces": TRACES, "facts": FACTS, "measures": MEASURES}
OTHERS = ("scores", "traces", "facts", "measures")  # files whose rows are committed by those of trials.csv
# The columns that identify a row of each file; of rows with the same ones, the last counts.
IDENTITY = {
    "trials": ["trial"],
    "scores": ["trial", "n_selected", "clusterer", "restart"],
    "traces": ["trial", "iteration"],
    "facts": ["trial", "name"],
    "measures": ["trial", "n_selected", "name"],
}
KINDS = {field.name: field.type for field in fields(Row)}  # column -> type; all other columns hold texts
SHARES = ("acc", "nmi", "acc_mean", "nmi_mean", "mean", "std", "group_std")
COUNTS = ("n_iter", "n_samples", "n_features", "n_scores", "restart", "iteration", "seed", "nth_seed")
KINDS |= dict.fromkeys("n_selected restart iteration repeat seed n_starts n_groups n_candidates".split(), int)
KINDS |= dict.fromkeys((*SHARES, "value", "kept", "acc_moved", "acc_errors", "objective_moved"), float)
RANGES = dict.fromkeys(SHARES, (0, 1)) | dict.fromkeys(("fit_s", "eval_s", "peak_mb"), (0, math.inf))
RANGES |= dict.fromkeys(COUNTS, (0, 2**63 - 1)) | {"n_selected": (1, 2**63 - 1)}
NEVER_NAN = ("acc", "nmi")


def fault_of(name, text):
    """Say what is wrong with a value of a column; "" where nothing is."""
    kind = KINDS.get(name, str)
    if kind is bool:
        return "" if text in ("True", "False") else "must be True or False"
    if kind is str:
        return CHECKS[name](text) if name in CHECKS else ""
    try:
        value = kind(text)
    except ValueError:
        return "must be a whole number" if kind is int else "must be a number"
    low, high = RANGES.get(name, (-math.inf, math.inf))
    if value != value:
        return "must be a number" if name in NEVER_NAN else ""
    return "" if low <= value <= high else f"must be in [{low}, {high}]"


def _json_of(*kinds, empty=False, item=None):
    """Return a check of JSON of these types, of which all items are `item`s, or of "" where that is allowed."""
    words = " or ".join({list: "list", dict: "mapping"}[kind] for kind in kinds)

    def check(text):
        if empty and not text:
            return ""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return "is not JSON"
        if not isinstance(value, kinds):
            return f"must be a JSON {words}"
        whole = item is None or (value and all(type(one) is int and one >= item for one in value))
        return "" if whole else "must be a JSON list of whole numbers"

    return check


def _check_protocol(text):
    try:
        Protocol.from_json(text)
    except ValueError as error:
        return f"is no protocol ({error})".rstrip(".")
    return ""


def _fault_of_labels(text):
    """Say what is wrong with the text of learned labels, as far as its keys tell."""
    fault = _json_of(dict, empty=True)(text)
    if fault or not text or json.loads(text).keys() == {"n_selected", "packed"}:
        return fault
    return "must be a JSON mapping of n_selected and packed"


# Column of texts -> function that says what is wrong with one; it sees a text once, however many rows have it.
CHECKS = {
    "clusterer": lambda text: "" if text in ("kmeans", "learned") else "must be one of kmeans, learned",
    "name": lambda text: "" if text in (*REPORTED, *OF_SET) else f"must be one of {', '.join((*REPORTED, *OF_SET))}",
    "sizes": _json_of(list, item=1),
    "protocol": _check_protocol,
    "ranking": _json_of(list, dict),
    **dict.fromkeys(("shared", "features"), _json_of(list)),
    **dict.fromkeys(("params", "feature_sets", "versions"), _json_of(dict)),
    "n_others": _json_of(dict, empty=True),
    "labels": _fault_of_labels,
    **dict.fromkeys(
        ("trial", "study", "dataset", "method", "status"), lambda text: "" if text else "must not be empty"
    ),
}
