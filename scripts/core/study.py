"""A study for all commands: read once, summarised once."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from ufs_bench.metrics.protocol import USUAL, Protocol
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.metrics.study.frames import ORDER, fits_of, of_kmeans, percent
from ufs_bench.metrics.study.maximum import maxima
from ufs_bench.metrics.study.seeds import OF_SPREADS, SCORES, spreads
from ufs_bench.metrics.study.summary import Cells, summarise
from ufs_bench.runners.experiment.notes import read_run
from ufs_bench.runners.messages import counted
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import stored_names
from ufs_bench.runners.store.fits import load_fits
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.runners.store.row import from_json
from ufs_bench.runners.store.tidy import tidy
from ufs_bench.scripts.core.command_lines import no_results
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.refits import RESTARTS, SEEDS, SENSITIVE, is_sensitive, load_refits


@dataclass(frozen=True, eq=False)
class Study:
    """The results that are stored under the name of a study."""

    name: str
    frame: pd.DataFrame  # the tidy frame, without its lists
    read: Callable[[], pd.DataFrame]  # returns it with its lists
    results_dir: str | PathLike | None = None  # the folder of results that it was asked of
    data_dir: str | PathLike | None = None  # the folder in which data sets are looked for
    larger: "Study | None" = None  # the study that this one is a part of
    taken: frozenset = frozenset()  # its (data set, method) that come from the shipped study of its name

    @classmethod
    def open(cls, results_dir, name, data_dir=None):
        """Read the study `name` of a folder of results, or a shipped one, ``reference/NAME``; it may be empty."""
        if name.startswith(PREFIX):
            read = functools.partial(reference.read, name.removeprefix(PREFIX))
            return cls(name, read(), functools.partial(read, lists=True), results_dir, data_dir)
        return cls.of(name, load_fits(results_dir, name), results_dir, data_dir)

    @classmethod
    def find(cls, results_dir, name, data_dir=None):
        """Read the user's study of this name, and from the shipped one what it lacks, cell by cell; it may be empty.

        Nothing is taken from a shipped study of another protocol, or on other data.
        """
        own = cls.open(results_dir, name, data_dir)
        if own.is_shipped or name not in reference.shipped_studies() or Path(results_dir).is_file():
            return own
        shipped = cls.open(results_dir, PREFIX + name, data_dir)
        if own.frame.empty:
            return shipped
        lent = shipped.frame[_may_stand_beside(shipped.frame, own.frame)]
        if lent.empty:
            return own

        def read():
            whole = shipped.read()
            return pd.concat([own.read(), whole[whole["trial"].isin(lent["trial"])]], ignore_index=True)

        taken = frozenset(zip(lent["dataset"], lent["method"], strict=True))
        frame = pd.concat([own.frame, lent], ignore_index=True)
        return replace(own, frame=frame, read=read, taken=taken)

    @classmethod
    def of(cls, name, fits, results_dir=None, data_dir=None):
        """Return the study of some fits of `runners.store.fits.load_fits`."""
        return cls(name, tidy(fits, lists=False), functools.partial(tidy, fits), results_dir, data_dir)

    def filled(self):
        """Return the study itself; a ValueError says that it holds nothing, and which studies hold something."""
        if self.frame.empty:
            raise ValueError(no_results(self))
        return self

    @property
    def folder(self):
        """The folder with its cells; None for a shipped study, and for one that is not stored."""
        return None if self.results_dir is None or self.is_shipped else Path(self.results_dir) / self.name

    @property
    def is_shipped(self):
        """True for a study of results/reference, in which nothing is ever written."""
        return self.name.startswith(PREFIX)

    @property
    def own_name(self):
        """The name of the study that runs write to: for a shipped study, the user's own study of that name."""
        return self.name.removeprefix(PREFIX)

    @property
    def title(self):
        """The name with words for what is shipped of it."""
        if self.is_shipped:
            return f"{self.own_name} (shipped)"
        cells = {*zip(self.frame["dataset"], self.frame["method"], strict=True)} & self.taken
        return f"{self.name} (of which {counted(len(cells), 'cell')} shipped)" if cells else self.name

    @property
    def output_dir(self):
        """The folder for figures and reports."""
        return Path(self.results_dir) / self.own_name

    @functools.cached_property
    def shares(self):
        """The summary of `metrics.study.summary.summarise`, in shares: percent before a mean moves its last digit."""
        if self.larger is None:
            return summarise(self.frame)
        whole = self.larger.shares  # checked and summarised once for all its parts
        own = [whole[name].isin(self.frame[name].unique()) for name in ("method", "dataset")]
        return whole[own[0] & own[1]].reset_index(drop=True)

    @functools.cached_property
    def summary(self):
        """One row per feature set and clusterer, in percent."""
        return percent(self.shares)

    @functools.cached_property
    def whole(self):
        """The tidy frame with its lists, in the order of the summary."""
        own = self.read().sort_values(ORDER, kind="stable")
        return own[own["trial"].isin(self.frame["trial"])].reset_index(drop=True)

    @functools.cached_property
    def trials(self):
        """One row per fit, from `metrics.study.frames.fits_of`."""
        return fits_of(self.frame.sort_values(ORDER, kind="stable"))

    @functools.cached_property
    def traces(self):
        """The objective of every traced fit, at its start and after every sweep, by trial."""
        return self.whole.set_index("trial")["trace"].dropna()

    @functools.cached_property
    def _cells(self):
        return Cells(self.shares)

    def select(self, metric="acc", selection="best_over_grid"):
        """Return one score in percent per data set, method and clusterer, as `metrics.study.summary.select`; once.

        Trials that a cell lacks of its last run count as missing, too; its stored trials do not say so.
        """
        if (metric, selection) not in self._kept:
            chosen = percent(self._cells.select(metric, selection))
            lacking = [self.lacking.get(cell, 0) for cell in zip(chosen["dataset"], chosen["method"], strict=True)]
            # The holes that `select` sees among the points may be trials that were not run, so these are not added.
            known = chosen[[f"n_{status}" for status in UNSCORED]].sum(axis=1) + np.array(lacking, dtype=int)
            self._kept[metric, selection] = chosen.assign(n_missing=np.maximum(chosen["n_missing"], known))
        return self._kept[metric, selection]

    def means(self, metric, selection):
        """Return the chosen scores of K-means in percent, data sets by methods, with gaps."""
        return of_kmeans(self.select(metric, selection)).pivot(index="dataset", columns="method", values="mean")

    @functools.cached_property
    def lacking(self):
        """The numbers of trials that were asked for and are not stored, by data set and method."""
        shipped = reference.lacking(self.own_name) if self.is_shipped or self.taken else {}
        if self.is_shipped or self.results_dir is None:
            return shipped
        found = {cell: shipped.get(cell, 0) for cell in self.taken}
        for cell, rows in self.trials.groupby(["dataset", "method"]):
            if cell in found:
                continue
            asked, _ = read_run(self.folder.joinpath(*cell))
            stored = {key.split()[0] for key in rows["trial"]}  # "<key> of <study>" where several have it
            found[cell] = len(set(asked or ()) - stored)
        return found

    @functools.cached_property
    def seconds(self):
        """The CPU seconds of the fit for the most features, by (dataset, method)."""
        chosen = of_kmeans(self.select("acc", "largest_size"))
        return with_seconds(chosen, self.trials, "largest_size").set_index(["dataset", "method"])["seconds"]

    @functools.cached_property
    def seeds(self):
        """Mean and spread over the seeds of methods, as of `spreads`: the study's own, or those of `scripts.refit`."""
        several = self.summary[self.summary["n_seeds"] > 1]
        if len(several):
            own = {f"{name}_std": several[f"{name}_seed_std"] for name in SCORES}
            return several.assign(**own)[OF_SPREADS].reset_index(drop=True)
        return percent(spreads(load_refits(self, SEEDS)))

    @functools.cached_property
    def restarts(self):
        """The means over more K-means starts, the rows of `scripts.refit.restarts`, in percent."""
        return percent(load_refits(self, RESTARTS))

    @functools.cached_property
    def sensitive(self):
        """The refits on a moved X of fits that rounding alone moves, from `scripts.refit.again`."""
        rows = load_refits(self, SENSITIVE)
        return rows[is_sensitive(rows["kept"], rows["acc_errors"])]

    @functools.cached_property
    def protocol(self):
        """The protocol in its trials; {} without any."""
        return from_json(self.frame["protocol"].iloc[0]) if len(self.frame) else {}

    def part(self, methods, datasets):
        """Return this study with these methods and data sets only; the same part is made once."""
        key = frozenset(methods), frozenset(datasets)
        if key not in self._kept:
            wanted = self.frame["method"].isin(key[0]) & self.frame["dataset"].isin(key[1])
            self._kept[key] = self if wanted.all() else replace(self, frame=self.frame[wanted], larger=self)
        return self._kept[key]

    @functools.cached_property
    def _kept(self):
        return {}

    def maxima(self, metric="acc"):
        """Return the candidates of every cell and the best of as many random subsets (`metrics.study.maximum`)."""
        if metric not in self._kept:
            self._kept[metric] = percent(maxima(self.shares, metric))
        return self._kept[metric]

    def departures(self, paper):
        """Say how the protocol departs from that of a paper; "" where it does not, or nothing is stored."""
        if not self.protocol:
            return ""
        wanted = find("protocol", paper)
        differences = Protocol(**wanted).differences(Protocol(**self.protocol))
        return ", ".join(
            f"{name} {USUAL.get(name) if differences[name][1] is None else differences[name][1]}"
            for name in {**wanted, **self.protocol}
            if name in differences.keys() - {"name"}
        )

    def feature_names(self, dataset):
        """Return the names of the features of a data set; None where they have none, and in a shipped study."""
        shas = self.trials.loc[self.trials["dataset"] == dataset, "data_sha"].unique()
        return stored_names(self.folder / dataset, shas[0]) if self.folder is not None and len(shas) == 1 else None

    def spread(self):
        """Say what a band or an error bar shows."""
        return f"± std over {self.protocol['restarts']} K-means restarts"

    @property
    def clusters_words(self):
        """The words for how many clusters are looked for, after a semicolon; "" where it is as many as classes."""
        clusters = self.protocol.get("clusters")
        return f"; {clusters} as many clusters as classes" if clusters else ""

    def origin(self, methods=None):
        """Say where the numbers come from, those of all methods or of some."""
        own = self.protocol.get("scaling_for", {})
        own = own if methods is None else {method: own[method] for method in own if method in set(methods)}
        fitted = "".join(f"; {method} is fitted on scaling {scaling}" for method, scaling in own.items())
        named = f"Study {self.title}, protocol {self.protocol['name']}, scaling {self.protocol['scaling']}"
        return f"{named}{fitted}{self.clusters_words}."


def with_seconds(chosen, trials, selection):
    """Return the chosen cells that have a score, with the seconds that it took.

    Those are of the one fit, the median, or all fits of the cell; other seeds do not count, as a user fits once.
    """
    chosen = chosen.dropna(subset="mean")
    cells = trials[trials["nth_seed"] == 0].groupby(["dataset", "method"])["fit_s"]
    if selection in ("default_params", "largest_size"):
        seconds = chosen["trial"].map(trials.set_index("trial")["fit_s"])
    else:
        totals = cells.median() if selection == "grid_median" else cells.sum()
        seconds = [totals.get((row.dataset, row.method), np.nan) for row in chosen.itertuples()]
    return chosen.assign(seconds=seconds)


def _may_stand_beside(shipped, own):
    """Return True for the rows of a shipped frame that a user's lacks, of the same protocol and of no other data."""
    cells, there = (pd.MultiIndex.from_frame(frame[["dataset", "method"]]) for frame in (shipped, own))
    shas = own.groupby("dataset")["data_sha"].first().reindex(shipped["dataset"]).set_axis(shipped.index)
    same_data = shas.isna() | (shas == shipped["data_sha"])
    same_protocol = set(own["protocol"]) == set(shipped["protocol"])
    return ~cells.isin(there) & same_data & same_protocol
