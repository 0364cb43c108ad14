"""A study for all commands: read once, summarised once."""

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
    """The results that are stored under the name of a study.

    Attributes
    ----------
    name : str
    results : Results
    results_dir : path or None
        The folder that it was read from.
    data_dir : path or None
        The folder in which data sets are looked for.
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
        """Return one number per data set, method and clusterer, from `metrics.study.summary.select`; chosen once."""
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
        """Return this study with these methods and data sets only; the same part is made once.

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
        """Return the candidates of every cell and the best of as many random subsets (`metrics.study.maximum`)."""
        if metric not in self._maxima:
            self._maxima[metric] = maxima(self.trials, self.summary, metric)
        return self._maxima[metric]

    @functools.cached_property
    def _maxima(self):
        return {}

    def spread(self):
        """Say what a band or an error bar shows."""
        return f"± std over {self.protocol['restarts']} K-means restarts"

    def origin(self):
        """Say where the numbers come from."""
        return f"Study {self.name}, protocol {self.protocol['name']}, scaling {self.protocol['scaling']}."
