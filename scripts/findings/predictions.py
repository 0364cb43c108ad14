"""Outcomes of the hypotheses of docs/plan.md: confirmed, contradicted or not confirmed by its rule."""

from math import prod
from typing import NamedTuple

import pandas as pd

from ufs_bench.metrics.study import UNSCORED
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import Cells
from ufs_bench.scripts.core.conf import CONF, find, printed, read, unique_names
from ufs_bench.scripts.core.text import POINTS, listed, they, with_interval
from ufs_bench.scripts.findings.plan import (
    CONFIRMATORY,
    ENOUGH,
    SCORES,
    curves,
    datasets_of,
    over_families,
    sure,
    without,
)
from ufs_bench.scripts.findings.recent import SINCE, year_of
from ufs_bench.scripts.ranks.choice import base_methods

RIVAL = "greedy_css"
SEARCHED = "fair_points"  # the experiment, and the study, of several points of the methods below
CHOICES = [name for name, one in BY_NAME.items() if one.criterion and not one.oracle]  # of parameters and size
CONFIRMED, CONTRADICTED = "confirmed", "contradicted"


class Hypothesis(NamedTuple):
    """A method gains (1) or loses (-1) by one score or both."""

    method: str
    sign: int
    scores: tuple = SCORES

    def __str__(self):
        """Return its words in the plan."""
        where = "" if self.scores == SCORES else f" in {self.scores[0].upper()}"
        return f"{printed('method', self.method)} {'gains' if self.sign > 0 else 'loses'}{where}"


METHODS = (
    *(Hypothesis(name, 1) for name in ("socfs", "jgufs", "fssl")),
    *(Hypothesis(name, 1, ("nmi",)) for name in ("jelsr", "ndfs", "mcfs")),
    *(Hypothesis(name, -1) for name in ("dgufs", "sf2sog")),
)
NONE_GAINS = (
    f"no method since {SINCE} gains over greedy column selection (GreedyCSS)",
    "no choice of size or parameters without labels gains over the defaults with the same size",
)
HYPOTHESES = (*map(str, METHODS), *NONE_GAINS)  # in the order of the plan


def lines(study, found, grids=None, families=None):
    """Return a table of all hypotheses with outcomes, the head first: of the `found` estimates, the last of `grids`.

    `families` has the data sets of the last with their families, by default those of `SEARCHED`.
    """
    if found is None or not found.confirms:
        n_new, n_all = found.n_new if found is not None else 0, len(datasets_of(CONFIRMATORY))
        so_far = f"waits: {n_new} of {n_all} data sets have been run" if n_new else "not run yet"
        outcomes = [[so_far]] * len(HYPOTHESES)
        head = ["Outcome"]
    else:
        head = ["Outcome", *map(str.upper, SCORES)]
        outcomes = [judged(one, found.table, len(found.means)) for one in METHODS]
        since = over_families(over_rival(study, found), found.families)[1]
        lacking = [name for name in base_methods() if is_recent(name) and name not in since.index.unique(0)]
        shown = unique_names("method", [*since.index.unique(0), *lacking])
        outcomes.append(none_gains(since, len(found.means), shown, sorted(shown[name] for name in lacking)))
        outcomes.append(no_choice_gains(grids, families))
    rows = [[str(n), text, *own] for n, (text, own) in enumerate(zip(HYPOTHESES, outcomes, strict=True), 1)]
    return [["", "Hypothesis", *head], *rows]


def outcomes(rows):
    """Return how many of the hypotheses of `lines` are confirmed, contradicted, and so on; "" where none has run."""
    words = (CONFIRMED, "not confirmed", CONTRADICTED, "not tested", "needs")
    counts = {word: sum(row[2].startswith(word) for row in rows[1:]) for word in words}
    counts["not tested"] += counts.pop("needs")
    found = [f"{number} {'is' if number == 1 else 'are'} {word}" for word, number in counts.items() if number]
    return listed(found) if found else ""


def judged(one, table, n_families):
    """Return the outcome of a hypothesis on a method, and a text for each score, from a table of `over_families`."""
    own = table[[method == one.method and score in one.scores for method, score in table.index]]
    if own.empty:
        return _too_few(n_families)
    words = [word for word, sign in ((CONFIRMED, one.sign), (CONTRADICTED, -one.sign)) if len(sure(own, sign))]
    told = {score: _told(row, n_families) for (_, score), row in own.iterrows()}
    return [listed(words or ["not confirmed"]), *(told.get(score, "") for score in SCORES)]


def none_gains(table, n_families, names, lacking=()):
    """Return the outcome of a hypothesis that none of several gains; for each score the largest, power, and who loses.

    A method without scores may gain, so that the hypothesis is contradicted or not tested while some lack scores.
    """
    if table.empty:
        return _too_few(n_families)
    gain, texts = [f"{names[one]} in {score.upper()}" for one, score in sure(table, 1).index], []
    for score in SCORES:
        own = table[table.index.get_level_values(1) == score]
        best, reach = own["mean"].idxmax(), (own["high"] - own["mean"]).median()
        text = f"largest: {names[best[0]]} {_told(own.loc[best], n_families)}"
        lose = [names[one] for one, _ in sure(own, -1).index]
        lose = f"; {they(lose, 'lose')}" if lose else ""
        texts.append(f"{text}; median half-width {reach:.{POINTS}f}{lose}")
    none = f"none of {table.index.get_level_values(0).nunique()}"
    if gain:
        return [f"{CONTRADICTED}: {listed(gain)}", *texts]
    if lacking:
        return [
            f"not tested whole: {none} gains, and {they(lacking, 'lack')} scores in {min(ENOUGH, n_families)} families",
            *texts,
        ]
    return [f"{CONFIRMED}: {none}", *texts]


def _too_few(n_families):
    return [f"not tested: scores in fewer than {min(ENOUGH, n_families)} families", *[""] * len(SCORES)]


def no_choice_gains(grids, families=None):
    """Return the outcome of the last hypothesis, tested once all its cells have been run: nobody looks in between."""
    texts = [""] * len(SCORES)
    if grids is None:
        return ["needs the grids: these data have runs at the defaults alone", *texts]
    families = families or datasets_of(SEARCHED)
    planned = {(name, one.method) for name in families for one in METHODS}
    n_run = len(planned & run_whole(grids))
    if n_run < len(planned):
        return [f"not tested yet: {n_run} of {len(planned)} cells have their grids", *texts]
    means, table = over_families(over_defaults(grids, families), families)
    names = {name: BY_NAME[name].column for name in CHOICES}
    lacking = sorted(names[name] for name in CHOICES if name not in table.index.unique(0))
    return none_gains(table, len(means), names, lacking)


def grid_points(method):
    """Return the number of points of the grid in a method's own file; 1 where it has none."""
    return prod(len(values) for values in ((find("method", method) or {}).get("grid") or {}).values())


def run_whole(grids):
    """Return the cells, (data set, method), of which every trial has been run at as many points as the plan asks for.

    A method with a smaller grid, such as MCFS, has all of it.  A fit that failed or reached a limit has been run.
    """
    cells = of_kmeans(grids.select(SCORES[0], "default_params"))
    number = read(CONF / "experiment" / f"{SEARCHED}.yaml")["runner"]["points"]
    asked = cells["method"].map(lambda name: min(number, grid_points(name)))
    ended = cells[[f"n_{status}" for status in UNSCORED]].sum(axis=1)
    cells = cells[(cells["n_params"] >= asked) & (cells["n_missing"] <= ended)]
    return set(zip(cells["dataset"], cells["method"], strict=True))


def is_recent(method):
    """Return True for a method since `SINCE` that is not `RIVAL`."""
    return year_of(method) >= SINCE and method != RIVAL


def over_rival(study, found):
    """Return the gains of the methods since `SINCE` over `RIVAL`: data sets by (method, score)."""
    gains = curves(study).reindex(index=list(found.families))
    methods = [name for name in found.table.index.unique("method") if is_recent(name)]
    columns = pd.MultiIndex.from_product([methods, SCORES], names=["method", "score"])
    rival = gains.reindex(columns=pd.MultiIndex.from_product([[RIVAL], SCORES]))
    return gains[columns] - rival[[(RIVAL, score) for _, score in columns]].to_numpy()


def over_defaults(study, families=None):
    """Return the gains of choices without labels over the defaults with the size that is chosen.

    Data sets are rows, and (choice, score) columns; a gain is the mean over the methods of the plan with several points
    there.  A point that lacks one of its seeds is no candidate, as it has no score by the plan.
    """
    rows, families = of_kmeans(study.summary), families or datasets_of(SEARCHED)
    rows = rows[(rows["n_seeds"] == rows["n_asked"]) & rows["dataset"].isin(families)]
    rows = rows[rows["method"].isin([one.method for one in METHODS])]
    rows = rows[rows.groupby(["dataset", "method"])["params"].transform("nunique") > 1]
    keys, cells, gains = ["dataset", "method", "n_selected"], Cells(rows), {}
    defaults = rows[rows["is_default"]].set_index(keys)
    for choice in CHOICES:
        for score in SCORES:
            own = cells.select(score, choice).set_index(keys)["mean"]
            points = own - defaults[f"{score}_mean"].reindex(own.index)
            gains[choice, score] = points.groupby(level="dataset").mean()
    return pd.DataFrame(gains).reindex(list(families))


def _told(row, n_families):
    """Return a gain with its interval, half-width and p, and the families without which p is above the level."""
    needs, half = row["needs"], row["high"] - row["mean"]
    text = f"{with_interval(row['mean'], row['low'], row['high'])}, half-width {half:.{POINTS}f}, p = {row['p']:.2g}"
    return f"{text}, not without {without(needs, n_families)}" if needs else text
