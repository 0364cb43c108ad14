"""What the plan (docs/plan.md) estimates: gains over random rankings, over a curve of sizes, by two scores."""

import yaml

from scripts.compare.controls import RANDOM
from scripts.core.conf import CONF, family_of

EXPLORATORY, CONFIRMATORY = "fair_exploratory", "fair_confirmatory"
SCORES = ("acc", "nmi")


def datasets_of(part):
    """Return the data sets of a part of `experiment=fair`, each with its family."""
    content = yaml.safe_load((CONF / "experiment" / f"{part}.yaml").read_text(encoding="utf-8"))
    names = content["hydra"]["sweeper"]["params"]["dataset"].split(",")
    return {name.strip(): family_of(name.strip()) for name in names}


def curves(study):
    """Return the gains over random rankings, in points, at the default parameters.

    A gain is the mean over the sizes of the protocol up to the number of features, each with the same weight; the
    random rankings count with their mean over all draws.  Data sets are rows, and (method, score) columns; nan where a
    method lacks a size that the random rankings have.
    """
    summary = study.summary
    summary = summary[(summary["clusterer"] == "kmeans") & (summary["n_restarts"] > 0)]
    drawn = summary["method"] == RANDOM
    keys, means = ["dataset", "n_selected"], [f"{score}_mean" for score in SCORES]
    random = 100 * summary[drawn].groupby(keys)[means].mean()
    own = summary[~drawn & summary["is_default"]].set_index([*keys, "method"])[means]
    gains = (100 * own).sub(random).dropna(how="all").groupby(level=["dataset", "method"])
    wanted = random.groupby("dataset").size()
    found = gains.mean().where(gains.size().eq(wanted, level="dataset").reindex(gains.mean().index))
    table = found.rename(columns=dict(zip(means, SCORES, strict=True))).unstack("method")
    return table.swaplevel(axis=1).sort_index(axis=1)
