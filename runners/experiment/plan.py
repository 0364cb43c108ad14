"""The trials that a cell lacks, and the time that they would take by the stored fits of the same method."""

import functools
import glob
import hashlib
import heapq
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from ufs_bench.datasets import DataError
from ufs_bench.datasets.spec import read_spec
from ufs_bench.metrics.study import FAILED
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.profiles import STUDY, seconds_like_others, seconds_of_defaults
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import read_rows
from ufs_bench.runners.store.row import from_json, to_json
from ufs_bench.runners.words import counted, duration

# To a data set that no other method was fitted on, seconds are taken to grow as n_samples ** 1.5 * n_features ** 1.5,
# which lies between a graph's n^2 d and a ridge solve's n d^2.  Only the fits on the nearest shape are scaled so.
N_EXPONENT, D_EXPONENT = 1.5, 1.5
# Data sets whose stored fits say how much more one point of a grid takes than another: a method may take a hundred
# times as long at one end of its grid.  In 38 shipped grids, each predicted from its default point, the hours are off
# by a factor of 1.3 (geometric mean); by 1.6 with the mean of what is stored, by 1.4 with one data set.
N_LIKE = 2


@dataclass(frozen=True)
class Todo:
    """The trials that a cell lacks."""

    # Trials that are not stored, or stored with a status that is tried again.
    missing: list = field(default_factory=list)
    # Stored by other code, packages or machines, or with a redo asked for: kept until the new ones are there.
    again: list = field(default_factory=list)
    # Trials whose stored selections are of the same code, but whose scores are of other code.
    rescored: list = field(default_factory=list)
    why: Counter = field(default_factory=Counter)  # number of stored trials that do not count, by reason

    def __len__(self):
        return len(self.missing) + len(self.again) + len(self.rescored)

    def words(self):
        """Say in a sentence how many stored trials are done again, and why; "" where none is."""
        parts = [f"{counted(len(self.again), 'stored trial')} to fit again"] if self.again else []
        parts += [f"{counted(len(self.rescored), 'stored selection')} to score again"] if self.rescored else []
        why = ", ".join(f"{reason}: {count}" for reason, count in self.why.items())
        return f"{' and '.join(parts)} ({why})" if parts else ""


@dataclass(frozen=True)
class Plan:
    """The trials that one cell lacks, and the time that they would take."""

    cell: str
    # All that the cell asks for, and those that are stored neither here nor in a study that has the same.
    n_trials: int
    n_pending: int
    n_shipped: int  # of these, those that a shipped study has, which the run was not told to take
    seconds: float  # time of one worker for fits and evaluations; nan where no fit of the method is stored
    source: str  # the stored fits that the seconds were estimated from
    n_workers: int
    again: str = ""  # which stored trials are done again, and why; "" where none is

    def line(self):
        """Return the plan of a cell in a sentence."""
        text = f"{self.cell}: {self.n_pending} of {counted(self.n_trials, 'fit')} to do"
        text += f", of them {self.again}" if self.again else ""
        if not self.n_pending:
            return text
        if math.isnan(self.seconds):
            return f"{text}, time unknown: no fit of the method is stored in results_dir, or shipped"
        workers = counted(self.n_workers, "worker")
        return f"{text}, about {duration(self.seconds / self.n_workers)} on {workers} (from {self.source})"


class Times:
    """The seconds of one method's stored trials; a trial that a cap ended counts with what it had taken.

    All studies of the folder of results count.  The shipped results (`store.reference`) count where this machine has
    none at the same parameters: seconds are of the CPU, and so nearly those of another machine.  `max_seconds` is the
    cap of a fit (`runner.max_seconds`): a longer fit counts with so many seconds, and without evaluations.
    """

    def __init__(self, results_dir, method, max_seconds=math.inf):
        self.method, self.max_seconds = method, max_seconds
        self._own, self._shipped, self._read, self._from_nearest, self._scaled = {}, {}, {}, {}, {}
        for path in sorted(Path(results_dir).glob(f"*/*/{glob.escape(method)}/trials.csv")):
            self._own.setdefault(path.parts[-3], []).append(path)
        for name in reference.studies_with(method):
            for dataset, rows in reference.fits_of(name, method).items():
                self._shipped.setdefault(dataset, []).append(rows)

    def measured(self, dataset, params):
        """Return the mean seconds of the stored trials with these parameters; nan where there are none."""
        fits = self._fits(dataset)
        return math.nan if fits is None else fits.at.get(to_json(params), math.nan)

    def of(self, dataset, shape, params):
        """Return the estimated seconds of a trial with its evaluations, nan where none is known, and their source."""
        if (fits := self._fits(dataset)) is not None:
            if (key := to_json(params)) in fits.at:
                return fits.at[key], fits.words
            return self._of_other_points(dataset, shape, fits, _point(params))
        if dataset not in self._from_nearest:
            self._from_nearest[dataset] = self._like_others(dataset) or self._of_nearest(shape)
        return self._from_nearest[dataset]

    def _like_others(self, dataset):
        if dataset not in seconds_of_defaults(STUDY, reference.SHIPPED):
            return None
        known = {name: fits.mean for name in sorted(self._own | self._shipped) if (fits := self._fits(name))}
        seconds = seconds_like_others(self.method, known, dataset)
        if math.isnan(seconds):
            return None
        names = ", ".join(known) if len(known) < 4 else f"{len(known)} data sets"
        return min(seconds, self.max_seconds), f"its fits on {names}, and how others differ between these"

    def _of_other_points(self, dataset, shape, fits, point):
        """Scale the fits at other points by what the point takes, beside these, on the data sets most like this one."""
        like = self._like(dataset, shape, fits)
        found = list(itertools.islice(((name, there) for name, there in like if point in there), N_LIKE))
        if not found:
            return fits.mean, fits.words
        seconds = sum(there[point] for _, there in found) / len(found)
        names = " and ".join(name for name, _ in found)
        return min(seconds, self.max_seconds), f"{fits.words}, and how it differs over the grid on {names}"

    def _like(self, dataset, shape, fits):
        """Return the data sets that share points with this one, most like it first, with seconds scaled to its own."""
        if dataset not in self._scaled:
            self._scaled[dataset] = []
            for name, _ in self._by_distance(shape):
                there = None if name == dataset else self._fits(name)
                shared = set() if there is None else fits.by_point.keys() & there.by_point
                if other := sum(there.by_point[one] for one in shared):
                    factor = sum(fits.by_point[one] for one in shared) / other
                    self._scaled[dataset].append((name, {one: own * factor for one, own in there.by_point.items()}))
        return self._scaled[dataset]

    def _of_nearest(self, shape):
        for name, there in self._by_distance(shape):
            if (fits := self._fits(name)) is not None:
                factor = (shape[0] / there[0]) ** N_EXPONENT * (shape[1] / there[1]) ** D_EXPONENT
                source = f"{fits.words}, times (n/n')^{N_EXPONENT} (d/d')^{D_EXPONENT}"
                return fmean(min(fit.seconds * factor, self.max_seconds) for fit in fits.fits), source
        return math.nan, ""

    def _by_distance(self, shape):
        """Return the data sets with fits and their shapes, the one most like this shape first."""
        if None in shape:
            return []
        shapes = [(name, there) for name in sorted(self._own | self._shipped) if (there := _shape(name)) is not None]
        return sorted(shapes, key=lambda one: math.dist(*(map(math.log, size) for size in (one[1], shape))))

    def _fits(self, dataset):
        """Return the fits on a data set, which are read once they are asked for; None where there are none."""
        if dataset not in self._read:
            own, shipped = (
                [fit for rows in found for fit in _fits_of(rows, self.max_seconds)]
                for found in (map(read_rows, self._own.get(dataset, [])), self._shipped.get(dataset, []))
            )
            here = {fit.params for fit in own}
            fits = own + [fit for fit in shipped if fit.params not in here]
            words = f"its {'' if here else 'shipped '}fits on {dataset}"
            self._read[dataset] = _Fits(fits, words) if fits else None
        return self._read[dataset]

    def each(self, spec, trials):
        """Return `of` for each of some trials on the data set of a specification."""
        shape = spec.get("samples"), spec.get("features")
        return [self.of(spec["name"], shape, trial.params) for trial in trials]


class _Fit(NamedTuple):
    params: str
    seconds: float


class _Fits:
    """The stored fits of a method on a data set, their mean seconds, and those at each point."""

    def __init__(self, fits, words):
        self.fits, self.words = fits, words
        self.mean = fmean(fit.seconds for fit in fits)
        at = {}
        for fit in fits:
            at.setdefault(fit.params, []).append(fit.seconds)
        self.at = {params: fmean(seconds) for params, seconds in at.items()}
        self.by_point = {_point(from_json(params)): seconds for params, seconds in self.at.items()}


def _point(params):
    """Return a point of a grid as a text, without the number of clusters, which is that of the data set."""
    return to_json({name: value for name, value in params.items() if name != "n_clusters"})


def _fits_of(rows, max_seconds):
    """Return the `_Fit`s of the rows of trials, of which only four columns are looked at."""
    found = []
    for row in rows:
        fit, evaluation = (float(row[name] or "nan") for name in ("fit_s", "eval_s"))
        if row["status"] == FAILED or math.isnan(fit):
            continue
        # The parameters include the number of clusters, that of the data set, wherever a method takes it.
        taken = max_seconds if fit > max_seconds else fit + (0.0 if math.isnan(evaluation) else evaluation)
        found.append(_Fit(to_json(from_json(row["params"])), taken))
    return found


@functools.cache
def _shape(dataset):
    """Return n_samples and n_features from conf/dataset; None where it does not say them."""
    try:
        spec = read_spec(dataset)
    except (DataError, OSError):
        return None
    shape = spec["samples"], spec["features"]
    return None if None in shape else shape


def shard_of(cells, shard, costs):
    """Return the places, in a list of cells, of those that belong to one part of a sweep, the same on every machine.

    A cell is (data set, method), and `shard` is such as ``2/3``, the second of three parts; a ConfigError says that it
    names no part.  `costs` has seconds by cell, such as those of the shipped results.  Cells with costs are dealt out
    so that the parts take about as long, the others by a hash of their names.
    """
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", shard if isinstance(shard, str) else "")
    part, n_parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= n_parts:
        raise ConfigError(f"shard={shard!r} must be K/N with 1 <= K <= N, such as shard=2/3.")
    known = {cell: costs[cell] for cell in cells if cell in costs}
    loads, owners = [(0.0, owner) for owner in range(n_parts)], {}  # a heap
    for cell in sorted(known, key=lambda cell: (-known[cell], cell)):
        load, owners[cell] = loads[0]
        heapq.heapreplace(loads, (load + known[cell], owners[cell]))
    hashes = (int(hashlib.sha256("/".join(cell).encode()).hexdigest(), 16) for cell in cells)
    found = (owners.get(cell, hashed % n_parts) for cell, hashed in zip(cells, hashes, strict=True))
    return [place for place, owner in enumerate(found) if owner == part - 1]
