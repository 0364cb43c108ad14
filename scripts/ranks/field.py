"""The scores that are compared: every method and control on every data set, without gaps."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.scripts.compare.controls import ALL, RANDOM, control_scores
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.ranks.choice import choose

DROPPED = "Left out, as a data set or a part of the grid is missing: "
SHOWN = 6  # most missing cells that a message names
REFERENCES = (RANDOM, ALL)  # controls that gains are measured over


class Field(NamedTuple):
    """The scores that a ranking and the gains are computed from."""

    study: object
    metric: str
    selection: str
    clusterer: str
    # scores, controls: data sets x methods, and x controls, in percent. A control is there if it has a score on every
    # data set; random rankings have the mean over their draws
    scores: pd.DataFrame
    controls: pd.DataFrame
    cells: pd.DataFrame  # the cells of `scores`, by data set and method
    families: dict  # data set -> family
    n_draws: int  # number of random rankings on a data set
    lacking: list  # list of (str, str): (control, data set) without a score
    left_out: list  # sentences on what was left out, and why


def field_of(study, metric="acc", selection="best_over_grid", clusterer="kmeans",
             methods=None, datasets=None, variants="base", partial=False, drop=False):  # fmt: skip
    """Return the `Field` of a study: the scores that can be compared.

    Metric, selection and clusterer are as in `metrics.study.summary.select`; controls are clustered by K-means,
    whatever the clusterer.  Methods, datasets and variants are as in `scripts.ranks.choice.choose`.  `partial` accepts
    cells in which some grid points or sizes failed or are missing; `drop` leaves out methods that lack a cell, if two
    others have all.  MissingResults is about a cell that is missing or incomplete, a ValueError about controls alone.
    """
    selected = study.select(metric, selection)
    chosen = selected[selected["clusterer"] == clusterer]
    if chosen.empty:
        raise MissingResults(f"no scores are stored for clusterer={clusterer}.")
    choice = choose(study, methods, datasets, variants)
    able = set(chosen["method"])
    names = [name for name in choice.methods if name in able] if methods is None else choice.methods
    if not names:
        raise ValueError(
            f"only controls ({', '.join(choice.controls)}), which have no rank: name methods, or run some."
        )
    cells = chosen.set_index(["dataset", "method"])
    complete = cells["mean"].notna() & (partial | (cells["n_missing"] == 0))
    pairs = [(method, dataset) for dataset in choice.datasets for method in names]
    lacking = [(method, dataset) for method, dataset in pairs if not complete.get((dataset, method), False)]
    whole = [name for name in names if not any(method == name for method, _ in lacking)]
    if lacking and not (drop and methods is None and len(whole) > 1):
        raise MissingResults(_explain(lacking, cells, names, choice.datasets), lacking)
    if lacking:
        choice.left_out.append(f"{DROPPED}{', '.join(name for name in names if name not in whole)}.")
        names = whole
    scores = cells["mean"].unstack("method").loc[choice.datasets, names]
    controls, n_draws = _controls(study, metric, selection, choice)
    gaps = [(name, dataset) for name in controls for dataset in controls.index[controls[name].isna()]]
    return Field(
        study, metric, selection, clusterer, scores, controls.dropna(axis=1), cells, choice.families, n_draws, gaps,
        choice.left_out,
    )  # fmt: skip


def _explain(lacking, cells, methods, datasets):
    texts = []
    for method, dataset in lacking:
        stored = (dataset, method) in cells.index and pd.notna(cells.loc[(dataset, method), "mean"])
        texts.append(f"{method} on {dataset} ({'incomplete' if stored else 'no score'})")
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    whole = [name for name in datasets if not any(dataset == name for _, dataset in lacking)]
    everywhere = [name for name in methods if not any(method == name for method, _ in lacking)]
    ways = []
    if len(everywhere) > 1:
        ways.append(f"methods=[{','.join(everywhere)}] has them all")
    if whole:
        ways.append(f"data sets with all methods: {', '.join(whole)}")
    if any("incomplete" in text for text in texts):
        ways.append("partial=true takes incomplete cells as they are")
    return (
        f"{len(lacking)} of {len(methods) * len(datasets)} cells are missing: {', '.join(texts[:SHOWN])}{more}. "
        f"A rank needs every cell{'; ' if ways else ''}{'; '.join(ways)}."
    )


def _controls(study, metric, selection, choice):
    """Return the controls on the data sets, with gaps, and the number of random rankings."""
    names = list(dict.fromkeys([*REFERENCES, *choice.controls]))
    scores = study.means(metric, selection).reindex(index=choice.datasets, columns=names)
    drawn = control_scores(study, selection, [metric])
    drawn = drawn[drawn["control"] == RANDOM].groupby("dataset")["mean"]
    scores[RANDOM] = drawn.mean().reindex(choice.datasets)
    return scores, int(drawn.size().reindex(choice.datasets, fill_value=0).min())
