"""Says how a cell went: its trials, a first look at its scores, and how far they are from the shipped ones."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from ufs_bench.datasets import scale
from ufs_bench.datasets.base import first_of
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import POOR, RANDOM, UNSCORED
from ufs_bench.metrics.study.frames import fits_of, percent
from ufs_bench.metrics.study.summary import Cells, cells_of_draws, summarise
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.messages import counted
from ufs_bench.runners.papers import PAPERS, printed_numbers
from ufs_bench.runners.place import SUITE, command_on
from ufs_bench.runners.progress import log
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import SHOWN, size_to_show, stored_names
from ufs_bench.runners.store.fits import in_order
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.row import from_json, subsets_of
from ufs_bench.runners.store.tidy import SET, differing, distance, tidy
from ufs_bench.runners.workers.outside import is_outside

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
        log.info("  kept though they are of other code or packages (%s); the next run does them again", words)
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
    if name not in PAPERS or name not in reference.shipped_studies():
        return ""
    paper = Protocol.from_json(reference.protocol_text(name))
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


COLLAPSED = "collapsed"
# What methods that learn nothing were seen to select, and the words for it.
CONTROLS = {
    "methods.baselines.FirstIndex": "the ranking is the order of the columns",
    "methods.baselines.MinNorm": "the ranking is that of min_norm",
}
SAME = 0.99  # of the features: norms that differ by rounding alone change places


def collapsed_line(settings, fits, X):
    """Say how many of the fits of a cell have learned nothing, what they select, and what to run; "" if all learned.

    `fits` are rows of trials, and X the data, not scaled.
    """
    collapsed = fits[fits["status"] == COLLAPSED]
    if collapsed.empty:
        return ""
    page = Path("docs/methods", f"{settings.method.target.split('.')[1]}.md")
    told = f" ({page})" if not is_outside(settings.method.target) and (SUITE / page).exists() else ""
    parts = [f"learned nothing in {len(collapsed)} of {len(fits)} fits"]
    if len(collapsed) < len(fits) and collapsed["is_default"].any():
        parts[0] += ", the default parameters among them"
    if words := _selected(settings, collapsed, X):
        parts.append(words)
    parts[-1] += told
    if repair := settings.method_file.get("repair"):
        parts.append(f"our repair is method={repair}")
    return "; ".join(parts)


def _selected(settings, collapsed, X):
    """Say which control selects the same features as all these fits; "" for none."""
    X = scale(X, settings.protocol.scaling_of(settings.method.name))
    for target, words in CONTROLS.items():
        ranking = load_class(target)(X.shape[1]).fit(X).ranking_
        if all(_is_like(ranking, row) for row in collapsed.to_dict("records")):
            return words
    return ""


def _is_like(ranking, row):
    """Return True if the features that a fit selects are, at every size, those of a ranking."""
    sets = subsets_of(row["ranking"], from_json(row["sizes"])).items()
    return all(len(set(ranking[:size]) & set(own)) >= SAME * size for size, own in sets)


NAMES = ("trial", "is_default")  # a fit may have another key in a study of another name, and other defaults beside it
_compared = []  # the fits of each cell that are the same, and those that are not


def against_shipped(trials, fits):
    """Return a line on the fits of a cell that a shipped study has, too; "" if there are none.

    `fits` are those stored.  Those that were taken from the shipped study, or shipped from here, are left out.
    """
    frame, differ, same = None, [], 0
    for name, keys in _shipped_keys(trials).items():
        if frame is None:
            frame = _sets(tidy([fit for fit in fits if fit["status"] not in UNSCORED]))
        there = reference.read(name, [trials[0].method], lists=True)
        there = _sets(there[there["trial"].isin(list(keys.values()))])
        for key in keys.keys() & frame.keys():
            now, stored = frame[key], there[keys[key]]
            if _is_one_fit(now.iloc[0], stored.iloc[0]):
                continue
            now = now.assign(**{column: stored[column].iloc[0] for column in NAMES})
            if differing(stored, now):
                differ.append(distance(stored, now))
            else:
                same += 1
    if not same + len(differ):
        return ""
    _compared.append((same, len(differ)))
    line = _equal(same, len(differ))
    return f"{line}; {_how_far(differ)}" if differ else line


def in_all():
    """Return the line on the fits of all cells that this process has compared; "" for fewer than two cells."""
    same, other = map(sum, zip(*_compared, strict=True)) if len(_compared) > 1 else (0, 0)
    return f"in all {_equal(same, other)}" if same + other else ""


def _equal(same, other):
    verb = "fit equals" if same + other == 1 else "fits equal"
    return f"{same:,} of {same + other:,} {verb} the shipped results byte for byte"


def _shipped_keys(trials):
    """Return, by shipped study, the keys of the trials that it has with scores -> their keys there."""
    found, left = {}, {trial.key: trial for trial in trials}
    for name in reference.studies_with(trials[0].method, lists=True):
        rows = reference.fits_of(name, trials[0].method).get(trials[0].dataset, [])
        scored = {row["trial"] for row in rows if row["status"] not in UNSCORED}
        protocol = Protocol.from_json(reference.protocol_text(name)).name if scored else ""
        there = {key: trial.key_under(protocol) for key, trial in left.items() if scored}
        if there := {key: other for key, other in there.items() if other in scored}:
            found[name] = there
            left = {key: trial for key, trial in left.items() if key not in there}
    return found


def _sets(frame):
    """Return the rows of each fit, in the order of size and clusterer, by key."""
    return {key: own.sort_values(SET[1:], ignore_index=True) for key, own in frame.groupby("trial")}


def _is_one_fit(now, stored):
    """Return True if two rows come from a single run of a fit; the shipped seconds are rounded to 32 bits."""
    return now["started"] == stored["started"] and np.float32(now["fit_s"]) == np.float32(stored["fit_s"])


def _how_far(differ):
    """Say how far fits are from the shipped ones at most."""
    acc, objective = (max(one[name] for one in differ) for name in ("acc", "objective"))
    kept = min(one["selected"] for one in differ)
    if not np.isfinite(acc):
        return f"{counted(len(differ), 'other')} cannot be compared, as their scores are of other restarts or labels"
    others = "the other differs" if len(differ) == 1 else f"the other {len(differ):,} differ"
    return (
        f"{others} by at most {acc:.1f} points of a mean ACC and {objective:.1g} of the objective, and at least "
        f"{kept:.0%} of the features are the same"
    )
