"""Estimates the seconds of fits from stored fits of the same method, and of no other."""

import glob
import json
import math
from pathlib import Path

import pandas as pd

from datasets import DataError
from datasets.spec import read_spec
from metrics.study import FAILED
from runners.reading import read_frame
from runners.trial import to_json

# From one data set to another, seconds are taken to grow as n_samples ** 1.5 * n_features ** 1.5, which lies between a
# graph's n^2 d and a ridge solve's n d^2.  Only the method's fits on the nearest shape are scaled so.
N_EXPONENT, D_EXPONENT = 1.5, 1.5


class Times:
    """The seconds of one method's stored trials; a trial that a cap ended counts with what it had taken.

    Parameters
    ----------
    results_dir : path
        The folder of results; all studies in it count.
    method : str
    max_seconds : float, default=inf
        The cap of a fit (`runner.max_seconds`): a longer fit counts with so many seconds, and without evaluations.
    """

    def __init__(self, results_dir, method, max_seconds=math.inf):
        self.max_seconds = max_seconds
        self._by_dataset, self._at = {}, {}
        pattern = f"*/*/{glob.escape(method)}/trials.csv"
        frames = [_seconds(read_frame(path), max_seconds) for path in sorted(Path(results_dir).glob(pattern))]
        if frames:
            found = pd.concat(frames)
            self._by_dataset = dict(list(found.groupby("dataset")))
            self._at = found.groupby(["dataset", "params"])["seconds"].mean().to_dict()

    def measured(self, dataset, params):
        """Return the mean seconds of the stored trials with these parameters; nan where there are none."""
        return float(self._at.get((dataset, to_json(params)), math.nan))

    def of(self, dataset, shape, params):
        """Return the estimated seconds of a trial with its evaluations, and the source of the estimate.

        Parameters
        ----------
        dataset : str
        shape : (int, int)
            n_samples, n_features.
        params : Mapping

        Returns
        -------
        seconds : float
            nan where no fit of the method is stored.
        source : str
        """
        if dataset in self._by_dataset:
            own = self.measured(dataset, params)
            mean = float(self._by_dataset[dataset]["seconds"].mean()) if math.isnan(own) else own
            return mean, f"its fits on {dataset}"
        shapes = {name: found for name in self._by_dataset if (found := _shape(name)) is not None}
        if not shapes:
            return math.nan, ""
        nearest = min(shapes, key=lambda name: math.dist(*(list(map(math.log, one)) for one in (shapes[name], shape))))
        factor = (shape[0] / shapes[nearest][0]) ** N_EXPONENT * (shape[1] / shapes[nearest][1]) ** D_EXPONENT
        source = f"its fits on {nearest}, times (n/n')^{N_EXPONENT} (d/d')^{D_EXPONENT}"
        return float((self._by_dataset[nearest]["seconds"] * factor).clip(upper=self.max_seconds).mean()), source

    def ended(self, dataset):
        """Return the share of the fits on a data set that took longer than `max_seconds`; nan where there are none."""
        if dataset not in self._by_dataset:
            return math.nan
        return float(self._by_dataset[dataset]["ended"].mean())


def _seconds(trials, max_seconds):
    known = trials[(trials["status"] != FAILED) & trials["fit_s"].notna()]
    ended = known["fit_s"] > max_seconds
    # The parameters include the number of clusters, that of the data set, wherever a method takes it.
    return known[["dataset"]].assign(
        params=[to_json(json.loads(text)) for text in known["params"]],
        seconds=(known["fit_s"] + known["eval_s"].fillna(0.0)).mask(ended, max_seconds),
        ended=ended,
    )


def _shape(dataset):
    """Return n_samples and n_features from conf/dataset; None where it has no such file."""
    try:
        spec = read_spec(dataset)
    except (DataError, OSError):
        return None
    return spec["samples"], spec["features"]


def duration(seconds):
    """Return seconds as a text: "unknown", "40 s", "12 min", "3.4 h"."""
    if math.isnan(seconds):
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
