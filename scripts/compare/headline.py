"""The head of a comparison: five lines a paper, and counts, each beside those of controls in the place of our rows."""

import numpy as np
import pandas as pd

from metrics.study import is_learned
from metrics.study.frames import of_kmeans
from scripts.compare.columns import AGREES, DIFFERS, INCONCLUSIVE, equivalence, own_error, published_error
from scripts.compare.controls import ALL, CONTROLS, RANDOM, Drawn, studies_of
from scripts.compare.evidence import line_values, lines
from scripts.compare.verdicts import CELL, NOT_COMPARABLE, NOT_RUN, POINTS, ROUNDING, closest, common_std, is_hollow
from scripts.core.text import listed
from scripts.core.words import PARTIAL

WORDS = (AGREES, DIFFERS, INCONCLUSIVE)
COLUMN = ["paper", "dataset", "metric"]
# The columns that a count or a line looks at, beside the margin.
COUNTED = [
    *COLUMN, "method", "published_method", "mean", "std", "n_restarts", "seed_std", "group_error",
    "published_mean", "published_std", "published_n", "all_mean", "published_all",
]  # fmt: skip
OTHERS, OWN, OWN_KMEANS, CLOSEST = "other rows", "own row", "own row, by K-means", "closest variant (exploratory)"
OURS, PERMUTED, COPY = "ours", "another published row", "a perfect copy"


def with_equivalence(rows):
    """Add the equivalence test of every cell to the rows of a comparison, as `judge` gives them.

    margin: half of the paper's gain or loss against all features; equivalence: "" for these, and without a number of
    ours; left_out: why a cell is no evidence for or against the method, or "".
    """
    whole = of_kmeans(rows[rows["method"] == ALL]).set_index(COLUMN)
    places = pd.MultiIndex.from_frame(rows[COLUMN])
    rows = rows.assign(
        all_mean=whole["mean"].reindex(places).to_numpy(),
        published_all=whole["published_mean"].reindex(places).to_numpy(),
    )
    margin = (rows["published_mean"] - rows["published_all"]).abs() / 2
    rows["margin"] = margin.where(rows["published_method"] != ALL)
    rows = _tested(rows)
    reasons = {
        "all features": rows["published_method"] == ALL,
        "inherited": rows["inherited"] != "",
        NOT_RUN: rows["verdict"] == NOT_RUN,
        NOT_COMPARABLE: rows["verdict"] == NOT_COMPARABLE,
        "hollow": is_hollow(rows),
    }
    return rows.assign(left_out=np.select(list(reasons.values()), list(reasons), ""))


def _tested(cells):
    """Add standard_error and equivalence to cells, from mean, std, n_restarts, seed_std and group_error."""
    error = np.hypot(own_error(cells), published_error(cells))
    difference = (cells["mean"] - cells["published_mean"]).to_numpy(dtype=float)
    words = equivalence(difference, error, cells["margin"].to_numpy())
    known = np.isfinite(difference) & cells["margin"].notna().to_numpy()
    return cells.assign(
        standard_error=np.where(known, error, np.nan), equivalence=np.where(known, words.astype(object), "")
    )


def headline(comparison):
    """Return the rows of the methods' own names, clustered as in the paper; K-means where no labels are learned."""
    own = comparison[comparison["method"] == comparison["published_method"]]
    wanted = own[own["clusterer"] == own["evaluated_by"]]
    return pd.concat([wanted, of_kmeans(own)]).drop_duplicates(CELL).sort_index()


def weighed(comparison):
    """Return the rows of `headline` that the lines weigh, of methods with all scores of a data set, by paper."""
    papers = headline(comparison).groupby("paper", sort=False)
    return {paper: complete(own[own["left_out"] == ""]) for paper, own in papers}


def line_table(comparison, controls):
    """Return the five lines of every paper, and the value that each control would get.

    cells: of `weighed`; own_cells: those of the paper's own row; partial: those that lack a part of their grid, points
    says which; absent: published cells that are not run; the others are of `scripts.compare.evidence.Line`, and of the
    draws.
    """
    absent = headline(comparison).query("left_out == @NOT_RUN")["paper"].value_counts()
    rows = []
    for paper, own in weighed(comparison).items():
        beside = {}
        for control, instead in studies_of(own[COUNTED], controls[controls["paper"] == paper]):
            for name, value in line_values(instead).items():
                beside.setdefault((name, control), []).append(value)
        partial = own[is_partial(own)]
        about = {"paper": paper, "cells": len(own), "own_cells": (own["method"] == paper).sum()}
        about |= {"partial": len(partial), "points": points_run(partial), "absent": absent.get(paper, 0)}
        for name, line in lines(own).items():
            random, whole, variance = (np.array(beside.get((name, one), [np.nan])) for one in CONTROLS)
            rows.append({
                **about, "line": name, **line._asdict(),
                "random_low": random.min(), "random": np.median(random), "random_high": random.max(),
                "all_features": whole[0], "max_variance": variance[0],
            })  # fmt: skip
    return pd.DataFrame(rows)


def is_partial(cells):
    """Return True where a cell lacks a part of its grid: of the points that were asked for, or of the whole grid."""
    return (cells["status"] == PARTIAL) | (cells["points"] < cells["grid"]).fillna(False).astype(bool)


def points_run(cells):
    """Say how many points of its grid each method of some cells was run at: "jgufs 7 of 343 points, 3 on mnist"."""
    texts = []
    for (method, grid), own in cells.dropna(subset="grid").groupby(["method", "grid"], sort=False):
        counts = own.groupby("dataset")["points"].max()
        fewer = counts[counts < counts.max()].groupby(counts)
        others = [f", {count} on {listed(list(places.index))}" for count, places in fewer]
        texts.append(f"{method} {counts.max()} of {grid} points{''.join(others)}")
    return "; ".join(texts)


def complete(cells):
    """Return the methods that have all scores of a data set, where there are at least two."""
    scores = cells.groupby("dataset")["metric"].transform("nunique")
    cells = cells[cells.groupby(["dataset", "method"])["metric"].transform("size") == scores]
    return cells[cells.groupby("dataset")["method"].transform("nunique") > 1]


def count_table(comparison, controls):
    """Count the cells that agree, by the equivalence test and the std rule; likewise for controls in their place.

    A perfect copy and another published row have our errors; counts for another row are means over all others.
    """
    counts = []
    for paper, rows in comparison.groupby("paper", sort=False):
        own = headline(rows)
        draws = controls[controls["paper"] == paper]
        for name, cells in _groups(paper, rows, own).items():
            reasons = cells.loc[cells["left_out"] != "", "left_out"].value_counts(sort=False)
            cells = cells[cells["left_out"] == ""]
            left_out = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
            # All columns would be copied with every draw of the controls.
            cells = cells[[*COUNTED, "margin", *(["n_variants"] if name == CLOSEST else [])]]
            found = [(OURS, cells)]
            if len(cells):
                found.append((COPY, cells.assign(mean=cells["published_mean"])))
                found += _closest_of(cells, draws) if name == CLOSEST else studies_of(cells, draws)
            found = _counted(found)
            found[0]["left_out"] = left_out
            if len(cells):
                found += [] if name == CLOSEST else [{"by": PERMUTED, **_permuted(cells, own)}]
            counts += [{"paper": paper, "rows": name, **count} for count in found]
    columns = ["paper", "rows", "by", "cells", *WORDS, "std_rule", "left_out"]
    return pd.DataFrame(counts, columns=columns).fillna({"left_out": ""})


def _groups(paper, rows, own):
    """Return the groups of cells that are counted together, by name."""
    mine = own["published_method"] == paper
    groups = {OTHERS: own[~mine], OWN: own[mine]}
    if is_learned(own[mine]).any():
        groups[OWN_KMEANS] = of_kmeans(rows[rows["method"] == paper])
    nearest = closest(rows)
    keys = ["table", "metric", "dataset", "published_method"]
    run = of_kmeans(rows[rows["difference"].notna()])
    variants = run.groupby(keys).size().reindex(pd.MultiIndex.from_frame(nearest[keys]), fill_value=0)
    return {**groups, CLOSEST: nearest.assign(n_variants=variants.to_numpy())}


def _counted(studies):
    """Count the cells of studies, (name, cells), that all have the same ones; they are tested together."""
    names, frames = zip(*studies, strict=True)
    together = pd.concat(frames)
    shape = len(frames), len(frames[0])
    words = _tested(together)["equivalence"].to_numpy().reshape(shape)
    counts = {word: (words == word).sum(axis=1).astype(float) for word in WORDS}
    counts["std_rule"] = _accepted(together).reshape(shape).sum(axis=1).astype(float)
    return pd.DataFrame({"by": names, "cells": shape[1], **counts}).to_dict("records")


def _accepted(cells):
    """Return True, for each cell, where the std rule accepts its mean and std (`scripts.compare.verdicts.verdict`)."""
    distance = (cells["mean"] - cells["published_mean"]).abs() - ROUNDING - 1e-9
    return (distance <= np.maximum(2 * common_std(cells["std"], cells["published_std"]), POINTS)).to_numpy()


def _permuted(cells, own):
    """Count with another published row of the column in the place of each of our numbers, averaged over these rows."""
    names = {"published_method": "other", "published_mean": "mean"}
    others = own.loc[own["published_method"] != ALL, [*COLUMN, *names]].rename(columns=names)
    pairs = cells.drop(columns="mean").reset_index(names="cell").merge(others, on=COLUMN)
    pairs = pairs[pairs["other"] != pairs["published_method"]]
    weights = 1 / pairs.groupby("cell")["cell"].transform("size")
    words, accepted = _tested(pairs)["equivalence"], _accepted(pairs)
    counts = {word: float(weights[words == word].sum()) for word in WORDS}
    return {"cells": len(cells), **counts, "std_rule": float(weights[accepted].sum())}


def _closest_of(cells, controls):
    """Yield the cells with, in the place of ours, the closest of as many random rankings as there are variants."""
    drawn = Drawn.of(controls[controls["control"] == RANDOM], cells)
    variants = np.arange(int(cells["n_variants"].max()))
    away = np.abs(drawn.mean - cells["published_mean"].to_numpy(dtype=float)[:, None])
    for shift in range(drawn.n_draws):
        tried = (shift + variants) % drawn.n_draws
        open_to = np.isfinite(away[:, tried]) & (variants < cells["n_variants"].to_numpy()[:, None])
        nearest = np.where(open_to, away[:, tried], np.inf).argmin(axis=1)
        yield RANDOM, drawn.beside(cells, tried[nearest])


def accepted_at_random(comparison, controls):
    """Return, by row, the share of random rankings that the std rule accepts; nan without any."""
    judged = comparison[~comparison["verdict"].isin((NOT_RUN, NOT_COMPARABLE))]
    random = controls.loc[controls["control"] == RANDOM, [*COLUMN, "mean", "std"]]
    cells = judged[[*COLUMN, "published_mean", "published_std"]].reset_index(names="cell")
    pairs = cells.merge(random, on=COLUMN)
    shares = pd.Series(_accepted(pairs), index=pairs["cell"], dtype=float).groupby(level=0).mean()
    return shares.reindex(comparison.index)


def random_medians(controls):
    """Return the median random ranking of every paper, data set and metric, in a column random."""
    scores = controls[controls["control"] == RANDOM]
    return scores.groupby(COLUMN)["mean"].median().rename("random").reset_index()


def above_random(comparison, controls):
    """Count, by paper, published cells with random rankings, those above their median, and those of another paper."""
    published = headline(comparison)
    published = published[published["published_method"] != ALL]
    pairs = published[[*COLUMN, "published_mean", "inherited"]].merge(random_medians(controls), on=COLUMN)
    pairs = pairs.assign(above=pairs["published_mean"] > pairs["random"], taken=pairs["inherited"] != "")
    counts = pairs.groupby("paper", sort=False)
    return counts.agg(cells=("above", "size"), above=("above", "sum"), taken=("taken", "sum")).reset_index()
