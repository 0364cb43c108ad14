"""Compares one method with all others of a study."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import RANDOM
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import DIGITS, MIN_DATASETS, holm, ranks, wilcoxon
from ufs_bench.scripts.compare.controls import control_scores
from ufs_bench.scripts.rank.choice import choose
from ufs_bench.scripts.rank.gains import gains_of
from ufs_bench.scripts.rank.seconds import with_seconds

SHORTEST = 0.001  # seconds; a fit that takes less counts as this, so that the geometric mean is above 0


class Versus(NamedTuple):
    """One method compared with all others, under one selection."""

    name: str
    selection: str
    scores: pd.DataFrame  # data sets x methods and controls, in percent, with gaps; random rankings have their mean
    controls: list
    families: dict  # data set -> family
    # One row per control and rival: the gain of the method over it, as `scripts.rank.gains.gains_of` returns it, p of
    # Wilcoxon's test (nan with fewer than `MIN_DATASETS` data sets), and p_holm
    table: pd.DataFrame
    # One row per method with a score on every data set and per such control: score and seconds (arithmetic and
    # geometric mean), front (nothing else is as good and as fast), average_rank, rank_low, rank_high (controls: nan)
    places: pd.DataFrame
    left_out: list  # sentences on variants of the methods
    unscored: list  # data sets on which the method has no score


def versus(others, mine, name, datasets, selection, metric="acc", variants="base"):
    """Compare a method with the others of a study, and return the `Versus`.

    `mine` has the results of the method `name`, under the protocol of `others`, where one of this name is left out.
    Selection, metric and variants are as in `scripts.rank`.  A ValueError says that the method has no score at all.
    """
    choice = choose(others, datasets=datasets, variants=variants)
    theirs, own = others.select(metric, selection), mine.select(metric, selection)
    cells = pd.concat([theirs[theirs["method"] != name], own[own["method"] == name]])
    cells = of_kmeans(cells[cells["dataset"].isin(datasets)])
    wide = cells.pivot(index="dataset", columns="method", values="mean").reindex(datasets)
    if name not in wide or wide[name].isna().all():
        raise ValueError(f"{name} has no {metric} under selection={selection}: its fits failed, or reached a limit.")
    drawn = control_scores(others, selection, [metric])
    wide[RANDOM] = drawn[drawn["control"] == RANDOM].groupby("dataset")["mean"].mean().reindex(datasets)
    rivals = dict.fromkeys([RANDOM, *choice.controls, *choice.methods])
    scores = wide[wide[name].notna()].reindex(columns=[name, *(one for one in rivals if one != name)])
    scores = scores.dropna(axis=1, how="all")
    controls = [one for one in choice.controls if one in scores and one != name]
    gains = -scores.drop(columns=name).sub(scores[name], axis=0).round(DIGITS)
    table = gains_of(gains, choice.families)
    table["p"] = [wilcoxon(own) if len(own := gains[one].dropna()) >= MIN_DATASETS else np.nan for one in gains]
    table["p_holm"] = holm(table["p"])
    trials = pd.concat([others.trials[others.trials["method"] != name], mine.trials[mine.trials["method"] == name]])
    seconds = with_seconds(cells, trials, selection).pivot(index="dataset", columns="method", values="seconds")
    places = _places(scores.dropna(axis=1), seconds, controls, choice.families)
    unscored = list(wide.index[wide[name].isna()])
    return Versus(name, selection, scores, controls, choice.families, table, places, choice.left_out, unscored)


def split_by_data(others, mine, datasets):
    """Return the data sets on which two studies have the same data, and those on which they do not."""
    shas = [one.trials.groupby("dataset")["data_sha"].agg(set) for one in (others, mine)]
    stored = [name for name in datasets if name in shas[1]]
    same = [name for name in stored if shas[0][name] == shas[1][name]]
    if not same:
        raise ValueError("no data set has the data here on which the study was run.")
    return same, [name for name in stored if name not in same]


def _places(scores, seconds, controls, families):
    ranked = ranks(scores.drop(columns=controls, errors="ignore"))
    low, high = means_by_family(ranked, families) if len(ranked) >= MIN_DATASETS else (np.nan, np.nan)
    spread = pd.DataFrame({"rank_low": low, "rank_high": high}, ranked.columns, dtype=float)
    spent = seconds.reindex(index=scores.index, columns=scores.columns).clip(lower=SHORTEST)
    columns = {
        "score": scores.mean(),
        "seconds": np.exp(np.log(spent).mean(skipna=False)),
        "average_rank": ranked.mean(),
    }
    places = pd.DataFrame(columns, index=scores.columns).join(spread)
    places["front"] = [pd.notna(own["seconds"]) and not _beaten(own, places) for _, own in places.iterrows()]
    return places.sort_values("average_rank", kind="stable")


def _beaten(own, places):
    as_good = (places["score"] >= own["score"]) & (places["seconds"] <= own["seconds"])
    better = (places["score"] > own["score"]) | (places["seconds"] < own["seconds"])
    return (as_good & better).any()
