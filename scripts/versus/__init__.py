"""One method beside all those of a study: ``python -m scripts.versus --help``."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import RANDOM
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.intervals import means_by_family
from ufs_bench.metrics.study.ranks import DIGITS, MIN_DATASETS, holm, ranks, wilcoxon
from ufs_bench.metrics.study.signed_rank import signed_rank
from ufs_bench.scripts.compare.controls import control_scores
from ufs_bench.scripts.make_figure.seconds import with_seconds
from ufs_bench.scripts.ranks.choice import choose

ALPHA = 0.05  # p below which a method counts as better or worse
SHORTEST = 0.001  # seconds; a fit that takes less counts as this, so that the geometric mean is above 0
TESTED = ["low", "high", "worse", "equivalent", "better", "p"]


class Versus(NamedTuple):
    """One method beside all others, under one selection."""

    name: str
    selection: str
    scores: pd.DataFrame  # data sets x methods and controls, in percent, with gaps; random rankings have their mean
    controls: list
    families: dict  # data set -> family
    # One row per control and rival: gain (of the method over it), n_datasets that both have, wins, ties, losses, those
    # for `TESTED` (nan with fewer than `MIN_DATASETS`), p_holm
    table: pd.DataFrame
    # One row per method with a score on every data set and per such control: score and seconds (arithmetic and
    # geometric mean), front (nothing else is as good and as fast), average_rank, rank_low, rank_high (controls: nan)
    places: pd.DataFrame
    left_out: list  # sentences on variants of the methods
    unscored: list  # data sets on which the method has no score
    # Cells of rivals with a score in which points of the grid failed, were capped or are not yet run
    incomplete: int
    tried: tuple  # largest number of points of the method's grid, and the median over the cells of rivals


def versus(shipped, mine, name, datasets, selection, metric="acc", variants="base", rope=1.0):
    """Compare a method with those of a study, and return the `Versus`.

    `mine` has the results of the method `name`, under the protocol of `shipped`, where one of this name is left out.
    Selection, metric, variants and rope are as in `scripts.ranks`.  A ValueError says that the method has no score at
    all.
    """
    choice = choose(shipped, datasets=datasets, variants=variants)
    theirs, own = shipped.select(metric, selection), mine.select(metric, selection)
    cells = pd.concat([theirs[theirs["method"] != name], own[own["method"] == name]])
    cells = of_kmeans(cells[cells["dataset"].isin(datasets)])
    wide = cells.pivot(index="dataset", columns="method", values="mean").reindex(datasets)
    if name not in wide or wide[name].isna().all():
        raise ValueError(f"{name} has no {metric} under selection={selection}: its fits failed, or reached a limit.")
    drawn = control_scores(shipped, selection, [metric])
    wide[RANDOM] = drawn[drawn["control"] == RANDOM].groupby("dataset")["mean"].mean().reindex(datasets)
    others = dict.fromkeys([RANDOM, *choice.controls, *choice.methods])
    scores = wide[wide[name].notna()].reindex(columns=[name, *(one for one in others if one != name)])
    scores = scores.dropna(axis=1, how="all")
    controls = [one for one in choice.controls if one in scores and one != name]
    gains = {one: scores[name] - scores[one] for one in scores.columns[1:]}
    table = pd.DataFrame({one: against(gain, choice.families, rope) for one, gain in gains.items()}).T
    trials = pd.concat([shipped.trials[shipped.trials["method"] != name], mine.trials])
    seconds = with_seconds(cells, trials, selection).pivot(index="dataset", columns="method", values="seconds")
    places = _places(scores.dropna(axis=1), seconds, controls, choice.families)
    others = cells[cells["method"].isin(choice.methods) & (cells["method"] != name) & cells["mean"].notna()]
    tried = cells.loc[cells["method"] == name, "n_params"].max(), others["n_params"].median()
    return Versus(
        name, selection, scores, controls, choice.families, table.assign(p_holm=holm(table["p"])), places,
        choice.left_out, list(wide.index[wide[name].isna()]), int((others["n_missing"] > 0).sum()), tried,
    )  # fmt: skip


def against(gains, families, rope=1.0):
    """Return a row of `Versus.table`, without its last column, for the gains by data set; gaps are left out."""
    gains = gains.dropna().round(DIGITS)
    row = {"gain": gains.mean(), "n_datasets": len(gains)}
    row |= {"wins": (gains > 0).sum(), "ties": (gains == 0).sum(), "losses": (gains < 0).sum()}
    tested = [np.nan] * len(TESTED)
    if len(gains) >= MIN_DATASETS:
        tested = [*interval(gains.to_frame(), families).iloc[0], *signed_rank(gains, rope), wilcoxon(gains)]
    return pd.Series(row | dict(zip(TESTED, tested, strict=True)))


def interval(values, families):
    """Return low and high of the mean of every column on other data sets of other families."""
    low, high = means_by_family(values, families)
    return pd.DataFrame({"low": low, "high": high}, index=values.columns)


def least_p(n, tests=1):
    """Return the smallest p that the signed-rank test allows on n values, corrected for so many tests."""
    return min(1.0, tests * 2.0 ** (1 - n))


def _places(scores, seconds, controls, families):
    ranked = ranks(scores.drop(columns=controls, errors="ignore"))
    spread = interval(ranked, families) if len(ranked) >= MIN_DATASETS else pd.DataFrame(columns=["low", "high"])
    spent = seconds.reindex(index=scores.index, columns=scores.columns).clip(lower=SHORTEST)
    columns = {
        "score": scores.mean(),
        "seconds": np.exp(np.log(spent).mean(skipna=False)),
        "average_rank": ranked.mean(),
    }
    places = pd.DataFrame(columns, index=scores.columns).join(spread.astype(float).add_prefix("rank_"))
    places["front"] = [pd.notna(own["seconds"]) and not _beaten(own, places) for _, own in places.iterrows()]
    return places.sort_values("average_rank", kind="stable")


def _beaten(own, places):
    as_good = (places["score"] >= own["score"]) & (places["seconds"] <= own["seconds"])
    better = (places["score"] > own["score"]) | (places["seconds"] < own["seconds"])
    return (as_good & better).any()
