"""The numbers of the leaderboard and of the pages of methods and data sets, from the frames of one study."""

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ufs_bench.metrics.study import METRICS, POOR, RANDOM, UNSCORED
from ufs_bench.metrics.study.families import CONFIDENCE
from ufs_bench.scripts.core.conf import family_of, unique_names
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.findings import plan, seconds_of
from ufs_bench.scripts.findings.plan import CONFIRMATORY, ENOUGH, LEVEL, SCORES, WEIGHTS, datasets_of, estimates, tested
from ufs_bench.scripts.rank.choice import choose, is_control

SHOWN = {name: METRICS[name] for name in (*SCORES, "nearest_neighbour")}
KINDS = {"method": "method", "variant": "variant", "released": "released program", "baseline": "baseline"}


@dataclass(frozen=True, eq=False)
class Board:
    """The scores of a study at the default parameters, and what methods gain over random rankings."""

    study: Study

    @functools.cached_property
    def choice(self):
        """The data sets that count, one of each source, and the methods: no control, variant or released program."""
        return choose(self.study)

    @functools.cached_property
    def scores(self):
        """Scores of K-means in percent: (dataset, method) by (score, size), the sizes being those of the plan.

        Random rankings have the mean over all draws, and all features the same score at every size.  What lacks one of
        its seeds is nan.
        """
        return plan.scores_by_size(self.study, tuple(SHOWN)).unstack("n_selected")

    @functools.cached_property
    def gains(self):
        """The scores less those of random rankings, in points."""
        return plan.by_size(self.study, tuple(SHOWN)).unstack("n_selected")

    @functools.cached_property
    def overall(self):
        """The mean of the gains over sizes, weighted as in the plan: (dataset, method) by score."""
        return plan.over_sizes(plan.by_size(self.study, tuple(SHOWN))).reindex(self.scores.index)

    @functools.cached_property
    def kinds(self):
        """One of `KINDS` for every method of the study."""
        return {
            name: "baseline" if is_control(name)
            else "method" if name in self.choice.methods
            else "released" if name.endswith("_released") else "variant"
            for name in sorted(self.study.trials["method"].unique())
        }  # fmt: skip

    @functools.cached_property
    def titles(self):
        """The printed names of the methods; random rankings are not the best of them here."""
        return unique_names("method", list(self.kinds)) | {RANDOM: "Random rankings"}

    @functools.cached_property
    def parts(self):
        """The part of the plan that each data set is in."""
        confirmatory = datasets_of(CONFIRMATORY)
        return {name: "confirmatory" if name in confirmatory else "exploratory" for name in self.choice.datasets}

    @property
    def tested(self):
        """The data sets that are tested: the confirmatory ones once all have been run, else the others."""
        return tested(self.choice.datasets)

    @functools.cached_property
    def p(self):
        """p of every method's gain in every score of the plan, by its rule; methods of too few families have none."""
        found = estimates(self.study)
        return None if found is None else found.table["p"].unstack()

    @functools.cached_property
    def rows(self):
        """The rows of the leaderboard, a list of dicts: those that can be compared first, then by their gain in ACC."""
        gains = self.overall[list(SHOWN)].unstack("method").swaplevel(axis=1).sort_index(axis=1).reindex(self.tested)
        means = plan.means_of(gains, {name: family_of(name) for name in self.tested})
        spans = plan.intervals_of(means).T
        seconds = seconds_of(self.study, self.tested)
        found = []
        for method, kind in self.kinds.items():
            if (method, "acc") not in means or means[method].isna().all(axis=None):
                continue
            cells = {name: spans[method, name].to_dict() | {"sign": self._sign(method, name, spans)} for name in SHOWN}
            known = self.overall["acc"].xs(method, level="method").reindex(self.tested).notna()
            n_families = int(means[method]["acc"].notna().sum())
            found.append({
                "name": method, "title": self.titles[method], "kind": kind, "cells": cells,
                "n_datasets": int(known.sum()), "n_families": n_families,
                "enough": n_families >= min(ENOUGH, len(means)), "states": self._states.get(method, ""),
                "seconds": seconds.get(method, np.nan),
            })  # fmt: skip
        return sorted(found, key=lambda row: (not row["enough"], -row["cells"]["acc"]["mean"], row["name"]))

    def _sign(self, method, score, spans):
        """Return 1 or -1 where a method gains or loses by the rule of the plan, and 0 elsewhere."""
        if self.p is None or score not in self.p or method not in self.p.index:
            return 0
        return int(np.sign(spans.loc["mean", (method, score)])) * bool(self.p.loc[method, score] <= LEVEL)

    @functools.cached_property
    def _states(self):
        """The numbers of tested data sets on which the default fit of a method ended badly, by method, in words."""
        rows = self.study.trials
        rows = rows.loc[rows["is_default"] & rows["status"].isin((*UNSCORED, *POOR)), ["method", "dataset", "status"]]
        counts = rows[rows["dataset"].isin(self.tested)].drop_duplicates().groupby("method")["status"].value_counts()
        return {
            method: ", ".join(f"{count} {status.replace('_', ' ')}" for (_, status), count in own.items())
            for method, own in counts.groupby(level=0)
        }


def numbers(board):
    """Return what the script of the leaderboard computes with, as plain containers.

    Scores of random rankings and gains over them are in tenths of a point, by score, data set and size, and null where
    there are none.
    """
    datasets, sizes = board.choice.datasets, list(WEIGHTS)
    printed = unique_names("dataset", datasets)
    return {
        "study": board.study.own_name,
        "sizes": sizes,
        "weights": list(WEIGHTS.values()),
        "scores": SHOWN,
        "enough": ENOUGH,
        # Of Student's t with 1, 2, ... degrees of freedom.
        "quantiles": [round(float(stdtrit(df, (1 + CONFIDENCE) / 2)), 3) for df in range(1, 60)],
        "datasets": [
            {"name": name, "title": printed[name], "family": family_of(name), "part": board.parts[name]}
            for name in datasets
        ],
        "tested": board.tested,
        "random": _tenths(board.scores.xs(RANDOM, level="method").reindex(datasets), sizes),
        "methods": [
            {name: row[name] for name in ("name", "title", "kind")}
            | {
                "seconds": [
                    None if pd.isna(value) else float(f"{value:.2g}")
                    for value in board.study.seconds.reindex([(name, row["name"]) for name in datasets])
                ],
                "gains": _tenths(board.gains.xs(row["name"], level="method").reindex(datasets), sizes),
            }
            for row in board.rows
        ],
    }


def _tenths(frame, sizes):
    """Return the rows of a frame by score, each a list over sizes of whole numbers or None."""
    rounded = (10 * frame).round().astype("Int64").astype(object).where(frame.notna(), None)
    return {score: rounded[score].reindex(columns=sizes).to_numpy().tolist() for score in SHOWN}
