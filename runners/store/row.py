"""The fit of a trial as it is stored, a record of its own, and the texts in its fields."""

import base64
import hashlib
import json
import zlib
from dataclasses import dataclass, field, fields

import numpy as np

from ufs_bench.metrics.measures import DECIMALS, OF_SET, of_restarts

DIGEST = 16  # bytes of a feature set's name
NMI_PARTS = 10_000
# Numbers of a fit: the first six are what a selector may have as NAME_, the others are made by `runners.workers.fit`.
REPORTED = (
    "indicator_change", "n_filled", "n_exchanged", "annealed_residual", "residual", "residual_bound",
    "n_scored", "start_kept", "start_size", "start_among",
)  # fmt: skip


@dataclass
class Row:
    """A stored fit; its fields are the columns of ``trials.csv``, in order, with their types, and three lists."""

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
    nth_seed: int = 0  # the fit's seed is that of the protocol and so much more; K-means keeps that of the protocol
    # A dict for each scored set: n_selected, clusterer, acc and nmi of every restart, and the measures of the set.
    sets: list = field(default_factory=list)
    trace: list = field(default_factory=list)  # objective after every sweep
    facts: dict = field(default_factory=dict)  # name, of `REPORTED` -> number


FIELDS = {field.name: field.type for field in fields(Row)}
TRIALS = [name for name in FIELDS if name not in ("sets", "trace", "facts")]
SCORES = "trial dataset method n_selected clusterer restart acc nmi".split()
COLUMNS = {  # of the CSVs
    "scores": SCORES,
    "traces": "trial iteration objective".split(),
    "facts": "trial name value".split(),
    "measures": "trial n_selected name value".split(),
    "trials": TRIALS,
}


@dataclass(frozen=True)
class Outcome:
    """A trial that has ended, as it is stored, and what it logged."""

    trial: dict  # the fields of `Row`
    log: str = ""  # traceback and warnings, for run.log


def tables_of(fits):
    """Return the rows of each of the CSVs, `COLUMNS`, as lists of tuples."""
    found = {name: [] for name in COLUMNS}
    for fit in fits:
        key, cell = fit["trial"], (fit["dataset"], fit["method"])
        found["trials"].append(tuple(fit[name] for name in TRIALS))
        found["traces"] += [(key, iteration, value) for iteration, value in enumerate(fit["trace"])]
        found["facts"] += [(key, *fact) for fact in fit["facts"].items()]
        for one in fit["sets"]:
            own = key, *cell, one["n_selected"], one["clusterer"]
            scores = zip(one["acc"], one["nmi"], strict=True)
            found["scores"] += [(*own, restart, *score) for restart, score in enumerate(scores)]
            found["measures"] += [(key, one["n_selected"], name, one[name]) for name in OF_SET if name in one]
    return found


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
