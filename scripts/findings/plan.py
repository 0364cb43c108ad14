"""The estimates of the plan (docs/plan.md): gains over random rankings, over a curve of sizes, by two scores."""

import yaml

from scripts.compare.controls import RANDOM
from scripts.core.conf import CONF, family_of

CONFIRMATORY = "fair_confirmatory"
SCORES = ("acc", "nmi")
# Of a size in the mean over sizes: about the inverse of the spread of gains over the exploratory data sets, which falls
# from 9.5 points of accuracy with 10 features to 3 with 300.
WEIGHTS = {10: 2, 25: 2, 50: 3, 100: 4, 200: 6, 300: 6}


def datasets_of(part):
    """Return the data sets of a part of `experiment=fair`, each with its family."""
    content = yaml.safe_load((CONF / "experiment" / f"{part}.yaml").read_text(encoding="utf-8"))
    names = content["hydra"]["sweeper"]["params"]["dataset"].split(",")
    return {name.strip(): family_of(name.strip()) for name in names}


def curves(study):
    """Return the gains over random rankings, in points, at the default parameters.

    A gain is the mean over the sizes of `WEIGHTS` up to the number of features; the random rankings count with their
    mean over all draws, and a method with a random part with the mean of its seeds.  Data sets are rows, and (method,
    score) columns; nan where a method lacks a size that the random rankings have, or one of its seeds there.
    """
    summary = study.summary
    summary = summary[(summary["clusterer"] == "kmeans") & (summary["n_seeds"] == summary["n_asked"])]
    summary = summary[summary["n_selected"].isin(WEIGHTS)]
    drawn = summary["method"] == RANDOM
    keys, means = ["dataset", "n_selected"], [f"{score}_mean" for score in SCORES]
    random = 100 * summary[drawn].groupby(keys)[means].mean()
    own = summary[~drawn & summary["is_default"]].set_index(["dataset", "method", "n_selected"])[means]
    gains = (100 * own).sub(random.reorder_levels(keys)).dropna(how="all")
    weights = gains.index.get_level_values("n_selected").map(WEIGHTS).to_numpy()
    totals = gains.mul(weights, axis=0).assign(weight=weights).groupby(level=["dataset", "method"]).sum()
    whole = random.index.get_level_values("n_selected").map(WEIGHTS).to_series(random.index).groupby("dataset").sum()
    complete = totals["weight"] == whole.reindex(totals.index.get_level_values("dataset")).to_numpy()
    found = totals[means].div(totals["weight"], axis=0).where(complete)
    table = found.rename(columns=dict(zip(means, SCORES, strict=True))).unstack("method")
    return table.swaplevel(axis=1).sort_index(axis=1)
