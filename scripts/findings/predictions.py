"""Outcomes of the hypotheses of docs/plan.md: confirmed, contradicted or not confirmed by its rule."""

import re
from typing import NamedTuple

import pandas as pd

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.summary import Cells
from ufs_bench.scripts.core.conf import entry, printed, unique_names
from ufs_bench.scripts.core.text import POINTS, listed, they, with_interval
from ufs_bench.scripts.findings.plan import SCORES, curves, datasets_of, over_families, sure
from ufs_bench.scripts.rank.choice import base_methods

RIVAL, SINCE = "greedy_css", 2019  # the papers of this suite end at 2018, but for the two that brought it their tables
SEARCHED = "fair_points"  # the experiment, and the study, of several points of the methods below
CHOICES = [name for name, one in BY_NAME.items() if one.criterion and not one.oracle]  # of parameters and size
CONFIRMED, CONTRADICTED = "confirmed", "contradicted"
TOO_FEW = ["not tested: scores in too few families", *[""] * len(SCORES)]


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


def lines(study, found, grids):
    """Return a table of all hypotheses with outcomes, the head first: of the `found` estimates, the last of `grids`."""
    outcomes = [judged(one, found.table) for one in METHODS]
    since = over_families(over_rival(study, found), found.families)[1]
    lacking = [name for name in base_methods() if is_recent(name) and name not in since.index.unique(0)]
    names = unique_names("method", [*since.index.unique(0), *lacking])
    outcomes.append(none_gains(since, names, sorted(names[name] for name in lacking)))
    outcomes.append(no_choice_gains(grids))
    rows = [[str(n), text, *own] for n, (text, own) in enumerate(zip(HYPOTHESES, outcomes, strict=True), 1)]
    return [["", "Hypothesis", "Outcome", *map(str.upper, SCORES)], *rows]


def judged(one, table):
    """Return the outcome of a hypothesis on a method, and a text for each score, from a table of `over_families`."""
    own = table[[method == one.method and score in one.scores for method, score in table.index]]
    if own.empty:
        return TOO_FEW
    words = [word for word, sign in ((CONFIRMED, one.sign), (CONTRADICTED, -one.sign)) if len(sure(own, sign))]
    texts = {score: _gain(row) for (_, score), row in own.iterrows()}
    return [listed(words or ["not confirmed"]), *(texts.get(score, "") for score in SCORES)]


def none_gains(table, names, lacking=()):
    """Return the outcome of a hypothesis that none of several gains; for each score the largest, power, and who loses.

    A method without scores may gain, so that the hypothesis is contradicted or not tested while some lack scores.
    """
    if table.empty:
        return TOO_FEW
    gain, texts = [f"{names[one]} in {score.upper()}" for one, score in sure(table, 1).index], []
    for score in SCORES:
        own = table[table.index.get_level_values(1) == score]
        best, reach = own["mean"].idxmax(), (own["high"] - own["mean"]).median()
        lose = [names[one] for one, _ in sure(own, -1).index]
        text = f"largest: {names[best[0]]} {_gain(own.loc[best])}; median half-width {reach:.{POINTS}f}"
        texts.append(text + (f"; {they(lose, 'lose')}" if lose else ""))
    if gain:
        return [f"{CONTRADICTED}: {listed(gain)}", *texts]
    none = f"none of {table.index.get_level_values(0).nunique()}"
    if lacking:
        return [f"not tested: {none} gains, but {they(lacking, 'lack')} scores in enough families", *texts]
    return [f"{CONFIRMED}: {none}", *texts]


def no_choice_gains(grids):
    """Return the outcome of the last hypothesis, on a study of several points of each grid."""
    table = over_families(over_defaults(grids), datasets_of(SEARCHED))[1]
    names = {name: BY_NAME[name].column for name in CHOICES}
    return none_gains(table, names, sorted(names[name] for name in CHOICES if name not in table.index.unique(0)))


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


def over_defaults(study):
    """Return the gains of choices without labels over the defaults with the size that is chosen.

    Data sets are rows, and (choice, score) columns; a gain is the mean over the methods of the plan with several points
    there.  A point that lacks one of its seeds does not count, as it has no score by the plan.
    """
    rows, families = of_kmeans(study.summary), datasets_of(SEARCHED)
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


def year_of(method):
    """Return the year of a method's paper, the last number of its citation; 0 where it names none."""
    years = re.findall(r"\b(?:19|20)\d\d\b", entry("method", method, "citation") or "")
    return int(years[-1]) if years else 0


def _gain(row):
    """Return a gain with its interval and p."""
    return f"{with_interval(row['mean'], row['low'], row['high'])}, p = {row['p']:.2g}"
