"""The trials that a cell lacks, and the time that they would take by the stored fits of the same method."""

import functools
import math
from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean

from ufs_bench.datasets import DataError
from ufs_bench.datasets.spec import read_spec
from ufs_bench.metrics.study import FAILED
from ufs_bench.runners.messages import counted, duration
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.fits import cells_of, read_fits
from ufs_bench.runners.store.row import from_json, to_json

# To a data set without fits of the method, seconds are taken to grow as n_samples ** 1.5 * n_features ** 1.5,
# which lies between a graph's n^2 d and a ridge solve's n d^2.  Only the fits on the nearest shape are scaled so.
N_EXPONENT, D_EXPONENT = 1.5, 1.5


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
        self.max_seconds = max_seconds
        self._own, self._shipped = {}, {}  # data set -> files, and rows
        for path in cells_of(results_dir, method=method):
            self._own.setdefault(path.parts[-3], []).append(path)
        for name in reference.studies_with(method):
            for dataset, rows in reference.fits_of(name, method).items():
                self._shipped.setdefault(dataset, []).extend(rows)
        self._fits = functools.cache(self._read)
        self._of_others = functools.cache(self._estimate)

    def each(self, spec, trials):
        """Return `of` for each of some trials on the data set of a specification."""
        shape = spec.get("samples"), spec.get("features")
        return [self.of(spec["name"], shape, trial.params) for trial in trials]

    def of(self, dataset, shape, params):
        """Return the estimated seconds of a trial with its evaluations, nan where none is known, and their source."""
        seconds, words = self._fits(dataset)
        if not seconds:
            return self._of_others(dataset, shape)
        return seconds.get(to_json(params), fmean(seconds.values())), words

    def _read(self, dataset):
        """Return the mean seconds on a data set by parameters, and where they are from."""
        own = _seconds_of((row for path in self._own.get(dataset, ()) for row in read_fits(path)), self.max_seconds)
        shipped = _seconds_of(self._shipped.get(dataset, ()), self.max_seconds)
        return shipped | own, f"its {'' if own else 'shipped '}fits on {dataset}"

    def _estimate(self, dataset, shape):
        """Return the seconds on a data set without fits, from those on the nearest shape."""
        shapes = {
            name: there
            for name in sorted(self._own | self._shipped)
            if (there := _shape(name)) is not None and None not in shape
        }
        for name in sorted(shapes, key=lambda one: math.dist(*(map(math.log, size) for size in (shapes[one], shape)))):
            found, words = self._fits(name)
            if found:
                n_samples, n_features = (here / there for here, there in zip(shape, shapes[name], strict=True))
                factor = n_samples**N_EXPONENT * n_features**D_EXPONENT
                seconds = fmean(min(own * factor, self.max_seconds) for own in found.values())
                return seconds, f"{words}, times (n/n')^{N_EXPONENT} (d/d')^{D_EXPONENT}"
        return math.nan, ""


def _seconds_of(rows, max_seconds):
    """Return the mean seconds of rows of trials by their parameters, without those that failed."""
    found = {}
    for row in rows:
        fit, evaluation = (float(row[name]) for name in ("fit_s", "eval_s"))
        if row["status"] != FAILED and not math.isnan(fit):
            taken = max_seconds if fit > max_seconds else fit + (0.0 if math.isnan(evaluation) else evaluation)
            found.setdefault(to_json(from_json(row["params"])), []).append(taken)
    return {params: fmean(seconds) for params, seconds in found.items()}


@functools.cache
def _shape(dataset):
    """Return n_samples and n_features from conf/dataset; None where it does not say them."""
    try:
        spec = read_spec(dataset)
    except (DataError, OSError):
        return None
    shape = spec["samples"], spec["features"]
    return None if None in shape else shape
