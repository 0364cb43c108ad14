"""The gains of a shipped study, with a sentence for each finding: ``python -m scripts.findings --help``."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.summary import select
from ufs_bench.scripts.compare.controls import ALL, RANDOM, control_scores
from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.core.text import listed, with_interval
from ufs_bench.scripts.findings.clusters import Clusters, clusters_of
from ufs_bench.scripts.findings.kinds import Kinds, kinds_of
from ufs_bench.scripts.findings.plan import Estimates, choice_of, estimates, tested
from ufs_bench.scripts.findings.predictions import lines
from ufs_bench.scripts.findings.recent import gain_over, since
from ufs_bench.scripts.make_figure.seconds import with_seconds
from ufs_bench.scripts.ranks.choice import is_control
from ufs_bench.scripts.ranks.field import Field, field_of
from ufs_bench.scripts.ranks.gains import Gains, paired_gains
from ufs_bench.scripts.ranks.ranks_page import names_of

# A user without labels who tunes nothing: the largest size, and the size nearest to 100.
CHOICES = ("largest_size", "default_params")
SAME = 0.05  # points: scores that print alike


class Setting(NamedTuple):
    """The methods at one choice of parameters and size."""

    selection: str
    size: int  # most features that the choice takes on a data set
    field: Field
    random: Gains  # over random rankings
    whole: Gains  # over all features
    seconds: pd.Series  # median over data sets of a fit at the default parameters, by method
    gaps: list  # texts on the methods without a score on some data set, each with its gain where it has one
    labelled: tuple  # points that the best size by the labels adds: to a method, and to one random ranking, on average
    recent: pd.DataFrame  # as `scripts.findings.recent.since` returns it
    # Mean, low and high of the gains over random rankings of variants that do not count, with a score on every data set
    variants: pd.DataFrame = pd.DataFrame(columns=["mean", "low", "high"], dtype=float)
    lacking_variants: tuple = ()  # those without a score on some data set
    # The same for every choice:
    plan: Estimates | None = None
    predictions: tuple = ()  # lines of a table, as `scripts.findings.predictions.lines` returns them
    kinds: Kinds | None = None
    clusters: Clusters | None = None

    @property
    def names(self):
        """The printed names of methods and controls, and of methods that the plan counts, too."""
        planned = () if self.plan is None else self.plan.table.index.unique("method")
        return unique_names("method", planned) | names_of(self.field)

    @property
    def methods(self):
        """The gains of the methods over random rankings, without the controls."""
        return self.random.table.drop(index=self.random.controls)

    def named(self, methods):
        """Return printed names as one text: "A, B and C"."""
        return listed([self.names[name] for name in methods])


def settings_of(study, points=None, others=()):
    """Return a `Setting` for each of `CHOICES`.

    The last hypothesis is tested on the study `points`.  `others` are the studies with other numbers of clusters, by
    `clusters.OTHERS`.
    """
    first, *rest = [_setting(study, selection) for selection in CHOICES]
    plan = estimates(study)
    told = lines(study, plan, points)
    same = {"plan": plan, "predictions": told, "kinds": kinds_of(study)}
    same["clusters"] = clusters_of(study, dict(others), () if plan is None else plan.families)
    return [one._replace(**same) for one in (first, *rest)]


def scores_of(study, selection):
    """Return what is chosen of a study, the tested data sets, and the scores there, without those that lack a seed."""
    choice, keys = choice_of(study), ["dataset", "method", "params", "n_selected"]
    choice = choice._replace(datasets=tested(choice.datasets)[0])
    summary, chosen = of_kmeans(study.summary), of_kmeans(study.select("acc", selection))
    whole = pd.MultiIndex.from_frame(summary.loc[summary["n_seeds"] == summary["n_asked"], keys])
    chosen = chosen[pd.MultiIndex.from_frame(chosen[keys]).isin(whole)]
    return choice, chosen.pivot(index="dataset", columns="method", values="mean").reindex(choice.datasets)


def _complete(choice, means):
    """Return the methods that have a score on every data set."""
    return [name for name in choice.methods if name in means and means[name].notna().all()]


def _setting(study, selection):
    choice, means = scores_of(study, selection)
    complete = _complete(choice, means)
    chosen = of_kmeans(study.select("acc", selection))
    # A study of which only the default points were run is complete for these choices.
    field = field_of(study, "acc", selection, methods=complete, datasets=choice.datasets, partial=True)
    field = field._replace(left_out=choice.left_out)
    found = {gains.reference: gains for gains in paired_gains(field)}
    counted = chosen[chosen["dataset"].isin(choice.datasets)]
    seconds = with_seconds(counted, study.trials, selection).groupby("method")["seconds"].median()
    size = int(chosen.loc[chosen["method"].isin(complete), "n_selected"].max())
    labelled = _labelled(study, selection, complete, choice.datasets)
    scores = means.assign(**{RANDOM: field.controls[RANDOM]})
    gaps = gaps_of(scores, set(choice.methods) - set(complete))
    others = [name for name in scores if name not in choice.methods and not is_control(name)]
    gains = {name: gain_over(scores, name, RANDOM) for name in others if scores[name].notna().all()}
    variants = pd.DataFrame.from_dict(gains, orient="index", columns=["mean", "low", "high"], dtype=float)
    lacking = tuple(name for name in others if name not in gains and scores[name].notna().any())
    beside = found[RANDOM], found[ALL]
    return Setting(selection, size, field, *beside, seconds, gaps, labelled, since(scores), variants, lacking)


def gaps_of(scores, methods):
    """Return a text for each method that lacks scores: on how many data sets it has one, and its gain there."""
    texts = []
    for method, name in unique_names("method", methods).items():
        gain = gain_over(scores, method, RANDOM) if method in scores else {}
        n_scored = scores[method].count() if method in scores else 0
        shown = f": {with_interval(*gain.values())}" if pd.notna(gain.get("mean")) else ""
        texts.append(f"{name} ({n_scored} of {len(scores)}{shown})")
    return sorted(texts)


def _labelled(study, selection, methods, datasets):
    """Return the points that the best size by the labels adds to the methods, and to single random rankings."""
    summary = study.summary[study.summary["is_default"] & study.summary["dataset"].isin(datasets)]
    best, chosen = (select(summary, "acc", name) for name in ("best_over_grid", selection))
    own = [of_kmeans(part[part["method"].isin(methods)])["mean"].mean() for part in (best, chosen)]
    drawn = [control_scores(study, name, ["acc"]).query("control == @RANDOM") for name in ("best_over_grid", selection)]
    by_chance = [part[part["dataset"].isin(datasets)]["mean"].mean() for part in drawn]
    return own[0] - own[1], by_chance[0] - by_chance[1]


def twins(setting):
    """Return a control for each method that scores on every data set as that control does."""
    scores, controls = setting.field.scores, setting.field.controls
    found = {}
    for method in scores:
        for control in controls:
            if (scores[method] - controls[control]).abs().max() < SAME:
                found.setdefault(method, control)
    return found
