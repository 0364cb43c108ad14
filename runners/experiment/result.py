"""Says how a cell went: its trials, and a first look at its scores."""

import math
from collections import Counter
from pathlib import Path

import pandas as pd

from ufs_bench.datasets.base import first_of
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import POOR, RANDOM, UNSCORED
from ufs_bench.metrics.study.frames import fits_of, percent
from ufs_bench.metrics.study.summary import Cells, cells_of_draws, summarise
from ufs_bench.runners.experiment.collapsed import COLLAPSED, collapsed_line
from ufs_bench.runners.experiment.shipped import against_shipped
from ufs_bench.runners.papers import PAPERS, printed_numbers
from ufs_bench.runners.place import command_on
from ufs_bench.runners.progress import log
from ufs_bench.runners.store.fits import in_order
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.names import SHOWN, size_to_show, stored_names
from ufs_bench.runners.store.reference import protocol_text, shipped_studies
from ufs_bench.runners.store.row import from_json, subsets_of
from ufs_bench.runners.store.tidy import tidy
from ufs_bench.runners.words import counted

DEFAULT, BEST = "default parameters", "best of the grid, chosen with the labels"
CLUSTERERS = {"kmeans": "K-means on the selected features", "learned": "labels that the method learns"}


def say_result(settings, trials, fits, n_pending, seconds, X):
    """Print how a cell went: its stored trials, those of them that are new, and a first look at its scores.

    `fits` are those stored, and X the data, not scaled.
    """
    folder, keys, fits = settings.folder, {trial.key for trial in trials}, in_order(fits)
    own = [fit for fit in fits if fit["trial"] in keys]
    frame = tidy(own, lists=False)
    stored = fits_of(frame)
    counts = Counter(stored["status"])
    parts = [f"{len(stored)} of {counted(len(trials), 'trial')} stored ({n_pending} now)"]
    parts += [
        f"{counts[status]} {status}" for status in (*UNSCORED, "max_iter", "diverged", "collapsed") if counts[status]
    ]
    log.info("  %s; %.1f s", ", ".join(parts), seconds)
    here = Identity.of(trials[0].cls)
    others = Counter(here.difference(Identity.stored(row)) for row in stored.to_dict("records"))
    if others := {why: count for why, count in others.items() if why}:
        words = ", ".join(f"{why}: {count}" for why, count in others.items())
        again = (
            "the next run does them again"
            if settings.runner.changed == "redo"
            else "runner.changed=redo runs them again"
        )
        log.info("  kept though they are of other code or packages (%s); %s", words, again)
    lines = [collapsed_line(settings, pd.DataFrame(own), X)]
    learned = frame[frame["status"] != COLLAPSED]
    lines += _score_lines(percent(summarise(learned))) if len(learned) else []
    for line in filter(None, [*lines, _paper_line(settings)]):
        log.info("  %s", line)
    if line := _first_names(pd.DataFrame(own), folder):
        log.info("  %s (%s)", line, command_on("features", folder.parents[1], f"dataset={folder.parts[-2]}"))
    if line := against_shipped(trials, fits):
        log.info("  %s", line)
    log.info("  %s", folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _score_lines(summary):
    """Return lines with the scores of a cell, for a first look; `scripts.make_table` makes the tables."""
    cells_of = Cells(summary)
    of_several = summary["clusterer"].nunique() > 1
    for selection, name in (("default_params", DEFAULT), ("best_over_grid", BEST)):
        cells = {metric: cells_of.select(metric, selection).set_index("clusterer") for metric in ("acc", "nmi")}
        if selection == "default_params" and (summary["method"] == RANDOM).all():
            cells = {metric: _mean_of_draws(summary, metric, selection) for metric in cells}
            name = f"mean of {counted(summary['params'].nunique(), 'draw')}"
        for clusterer in cells["acc"].index:
            texts = [_score_text(metric, frame.loc[clusterer]) for metric, frame in cells.items()]
            if all(texts):
                yield f"{name}{f', {CLUSTERERS[clusterer]}' if of_several else ''}: {', '.join(texts)}"
    scored = summary[summary["agreement"].notna()]
    if len(scored) and scored["acc_mean"].isna().all():
        best = scored.loc[scored["agreement"].idxmax()]
        yield (
            f"no labels: the clusters of the restarts agree most with {best['n_selected']} features (adjusted Rand "
            f"index {best['agreement']:.2f}), where their silhouette is {best['silhouette']:.2f}"
        )


def _first_names(trials, folder):
    """Return what the defaults select, of features that have names; "" without any, or where no fit says something."""
    poor = trials["status"].isin([*UNSCORED, *POOR])
    fits = trials[trials["is_default"] & ~poor & (trials["method"] != RANDOM)]
    names = None if fits.empty else stored_names(folder.parent, fits["data_sha"].iloc[0])
    if names is None:
        return ""
    sets = subsets_of(fits["ranking"].iloc[0], from_json(fits["sizes"].iloc[0]))
    features = sets[size_to_show(sets)]
    if len(features) in (0, len(names)):
        return ""
    shown = first_of([names[one] for one in features], SHOWN)
    return f"selected by default parameters ({counted(len(features), 'feature')}): {shown}"


def _mean_of_draws(summary, metric, selection):
    """Return the mean over the draws of random rankings, in a row as that of one draw, which alone is arbitrary."""
    each = cells_of_draws(summary).select(metric, selection).dropna(subset="mean")
    means = each.groupby("clusterer").agg({"mean": "mean", "n_selected": "first"})
    return means.astype({"n_selected": int}).assign(std=math.nan)


def _paper_line(settings):
    """Return what the paper of the protocol prints for this cell; "" if it is not run by the paper's protocol."""
    name, dataset = settings.protocol.name, settings.dataset["name"]
    if name not in PAPERS or name not in shipped_studies():
        return ""
    paper = Protocol.from_json(protocol_text(name))
    if (paper.scoring(), paper.sizes_on(dataset)) != (settings.protocol.scoring(), settings.protocol.sizes_on(dataset)):
        return ""
    if not (rows := printed_numbers(name, dataset, settings.method.name)):
        return ""
    learned = f", {CLUSTERERS['learned']}" if rows[0]["evaluated_by"] == "learned" else ""
    texts = [_score_text(row["metric"], row) for row in rows]
    return f"the {PAPERS[name]} paper prints, best of its grid{learned}: {', '.join(texts)}"


def _score_text(metric, row):
    if math.isnan(row["mean"]):
        return ""
    spread = "" if math.isnan(row["std"]) else f" ± {row['std']:.1f}"
    size = "" if row["n_selected"] is None else f" ({counted(int(row['n_selected']), 'feature')})"
    return f"{metric.upper()} {row['mean']:.1f}{spread}{size}"
