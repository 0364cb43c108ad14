"""The agreement of other metrics with K-means ACC on the order of the methods, and on the best one."""

import pandas as pd
import scipy  # it imports its parts when they are first used, and `stats` takes long

from metrics.study import METRICS, NOT_CHOOSING
from metrics.study.frames import of_kmeans
from metrics.study.summary import select

FIRST = "acc"  # the metric that the others are compared with


def evaluators(summary):
    """Compare the order of the methods by each metric with that by ACC, on the feature sets of the default parameters.

    There is one row per data set of a summary and other metric, where there are three methods at least besides all
    features and random rankings: n_methods; tau: Kendall's rank correlation (tau-b) of the two orders; winner_acc and
    winner: the best method by each, the first by name of equal ones; loss: by how much less ACC the other metric's
    winner has than the best, as a fraction.
    """
    summary = of_kmeans(summary[~summary["method"].isin(NOT_CHOOSING)])
    scores = {metric: select(summary, metric, "default_params").pivot(index="dataset", columns="method", values="mean")
              for metric in METRICS}  # fmt: skip
    rows = []
    for dataset, first in scores[FIRST].iterrows():
        for metric in [name for name in METRICS if name != FIRST]:
            both = pd.DataFrame({"first": first, "other": scores[metric].loc[dataset]}).dropna()
            if len(both) < 3:
                continue
            best, other = both["first"].idxmax(), both["other"].idxmax()
            tau = scipy.stats.kendalltau(both["first"], both["other"]).statistic
            loss = both["first"].max() - both.loc[other, "first"]
            rows.append((dataset, metric, len(both), tau, best, other, loss))
    return pd.DataFrame(rows, columns=["dataset", "metric", "n_methods", "tau", "winner_acc", "winner", "loss"])
