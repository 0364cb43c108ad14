"""Who is best on what: the methods of a study by their mean gain, and the first two on every data set."""

import numpy as np
import pandas as pd

from ufs_bench.metrics.study import ALL, METRICS, RANDOM
from ufs_bench.metrics.study.families import family_means, t_intervals
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.core.conf import family_of, unique_names
from ufs_bench.scripts.core.draws import names_of, with_mean_of_draws
from ufs_bench.scripts.core.text import number, signed

CONTROLS = (RANDOM, ALL)
ENOUGH = 6  # families; with fewer, the intervals are over data sets


def chosen(study, metric, selection):
    """Return the chosen scores of K-means in percent, random rankings with the mean of their draws."""
    return of_kmeans(with_mean_of_draws(study.select(metric, selection), study, metric, selection))


def standings(study, metric, selection):
    """Return a dict on one score: the sentence on who is best, and a row a method; None without any score."""
    means = chosen(study, metric, selection).pivot(index="dataset", columns="method", values="mean")
    means = means.dropna(axis=1, how="all").dropna(how="all")
    methods = [name for name in means if name not in CONTROLS]
    if not methods:
        return None
    reference = next((name for name in CONTROLS if name in means), None)
    names = names_of(means.columns, selection)
    over = names[reference] if reference else "the mean of all methods"
    gains = means[methods].sub(means[reference] if reference else means[methods].mean(axis=1), axis=0).dropna(how="all")
    families = [family_of(dataset) for dataset in gains.index]
    by_family = len(set(families)) >= ENOUGH
    units = family_means(gains, families) if by_family else gains.to_numpy()
    intervals = dict(zip(methods, np.transpose(t_intervals(units)), strict=True))
    firsts = means[methods].eq(means[methods].max(axis=1), axis=0).sum()
    known = gains.notna().sum()
    order = sorted(methods, key=lambda name: (known[name] < len(gains), -intervals[name][0]))
    rows = [
        {
            "title": names[name], "mean": number(means[name].mean(), 1), "gain": signed(intervals[name][0]),
            "interval": "" if np.isnan(intervals[name][1]) else " to ".join(map(signed, intervals[name][1:])),
            "firsts": int(firsts[name]), "n": int(known[name]),
        }
        for name in order
    ]  # fmt: skip
    unit = "families of data" if by_family else "data sets"
    return {"title": METRICS[metric], "over": over, "rows": rows, "n": len(gains), "unit": unit,
            "sentence": _sentence(rows, METRICS[metric], over, len(gains))}  # fmt: skip


def _sentence(rows, title, over, n):
    """Say which method gains most, and which is first most often."""
    best, most = rows[0], max(rows, key=lambda row: row["firsts"])
    within = f" (95 % interval {best['interval']})" if best["interval"] else ""
    where = "on the only data set" if n == 1 else f"over {n} data sets"
    text = f"{best['title']} has the highest mean gain in {title} {where}: {best['gain']} points over {over}{within}."
    text += " This interval includes zero." if best["interval"].startswith(("-", "0.0")) else ""
    if n > 1:
        first = "It" if most is best else most["title"]
        text += f" {first} is first most often: on {most['firsts']} of {n}."
    return text


def by_dataset(study, selection):
    """Return a row a data set: its name, then the best and the second method in ACC and NMI with their scores."""
    rows, methods = {}, unique_names("method", study.trials["method"].unique())
    for metric in ("acc", "nmi"):
        own = chosen(study, metric, selection).dropna(subset="mean")
        for dataset, cells in own[~own["method"].isin(CONTROLS)].groupby("dataset"):
            cells = cells.sort_values("mean", ascending=False, kind="stable").head(2)
            texts = [f"{methods[row.method]} {row.mean:.1f}{_spread(row.std)}" for row in cells.itertuples()]
            rows.setdefault(dataset, []).extend([*texts, ""][:2])
    titles = unique_names("dataset", rows)
    return sorted(([titles[name], *texts] for name, texts in rows.items()), key=lambda row: row[0].lower())


def _spread(std):
    return "" if pd.isna(std) else f" ± {std:.1f}"
