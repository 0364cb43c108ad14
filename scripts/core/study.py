"""A study as every command takes it: read once, summarised once."""

import functools
import json
from dataclasses import dataclass, replace
from os import PathLike

from metrics.study.maximum import maxima
from metrics.study.seeds import spreads
from metrics.study.summary import select, summarise
from runners.reading import empty_frame
from runners.seeds import COLUMNS as SEEDS
from runners.seeds import load_seeds
from runners.store import Results, load_results


@dataclass(frozen=True, eq=False)
class Study:
    """What is stored under the name of a study.

    Attributes
    ----------
    name : str
    results : Results
    results_dir : path or None
        Where it was read.
    data_dir : path or None
        Where data sets are looked for.
    """

    name: str
    results: Results
    results_dir: str | PathLike | None = None
    data_dir: str | PathLike | None = None

    @classmethod
    def open(cls, results_dir, name, data_dir=None):
        """Read the study `name` of a folder of results; it may be empty."""
        return cls(name, load_results(results_dir, study=name), results_dir, data_dir)

    @property
    def trials(self):
        """One row per fit."""
        return self.results.trials

    @functools.cached_property
    def summary(self):
        """One row per feature set and clusterer, from `metrics.study.summary.summarise`."""
        return summarise(self.results.trials, self.results.scores, self.results.measures)

    def select(self, metric="acc", selection="best_over_grid"):
        """One number per data set, method and clusterer, from `metrics.study.summary.select`; chosen once."""
        if (metric, selection) not in self._selected:
            self._selected[metric, selection] = select(self.summary, metric, selection)
        return self._selected[metric, selection]

    @functools.cached_property
    def seeds(self):
        """Mean and spread over the seeds of the methods, from `metrics.study.seeds.spreads`."""
        return spreads(load_seeds(self.results_dir, self.name) if self.results_dir else empty_frame(SEEDS))

    @functools.cached_property
    def protocol(self):
        """The protocol in its trials; {} without any."""
        return json.loads(self.trials["protocol"].iloc[0]) if len(self.trials) else {}

    def part(self, methods, datasets):
        """The same study with these methods and data sets only; the same part is made once.

        Parameters
        ----------
        methods, datasets : iterable of str

        Returns
        -------
        Study
        """
        key = frozenset(methods), frozenset(datasets)
        if key not in self._parts:
            wanted = self.trials["method"].isin(key[0]) & self.trials["dataset"].isin(key[1])
            self._parts[key] = self if wanted.all() else self._only(self.trials[wanted])
        return self._parts[key]

    def _only(self, trials):
        others = (frame[frame["trial"].isin(trials["trial"])] for frame in self.results[1:])
        return replace(self, results=Results(trials, *others))

    @functools.cached_property
    def _parts(self):
        return {}

    @functools.cached_property
    def _selected(self):
        return {}

    def maxima(self, metric="acc"):
        """Candidates of every cell and the best of as many random subsets, from `metrics.study.maximum.maxima`."""
        if metric not in self._maxima:
            self._maxima[metric] = maxima(self.trials, self.summary, metric)
        return self._maxima[metric]

    @functools.cached_property
    def _maxima(self):
        return {}

    def spread(self):
        """What a band or an error bar shows, in words."""
        return f"± std over {self.protocol['restarts']} K-means restarts"

    def origin(self):
        """Where the numbers come from, in words."""
        return f"Study {self.name}, protocol {self.protocol['name']}, scaling {self.protocol['scaling']}."
