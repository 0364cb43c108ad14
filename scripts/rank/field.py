"""The scores that are compared: every method and control on every data set, without gaps."""

from typing import NamedTuple

import pandas as pd

from ufs_bench.scripts.compare.controls import ALL, RANDOM, control_scores
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.rank.choice import choose

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
    families: dict  # data set -> family
    n_draws: int  # number of random rankings on a data set
    lacking: list  # list of (str, str): (control, data set) without a score
    left_out: list  # sentences on what was left out, and why


def field_of(study, metric="acc", selection="best_over_grid", clusterer="kmeans",
             methods=None, datasets=None, variants="base", partial=False, drop=False):  # fmt: skip
    """Return the `Field` of a study: the scores that can be compared.

    Metric, selection and clusterer are as in `metrics.study.summary.select`; controls are clustered by K-means,
    whatever the clusterer.  Methods, datasets and variants are as in `scripts.rank.choice.choose`.  `partial` accepts
    cells in which some grid points or sizes failed or are missing; `drop` leaves out methods that lack a cell, if two
    others have all.  MissingResults is about a cell that is missing or incomplete, a ValueError about controls alone.
    """
    selected = study.select(metric, selection)
    cells = selected[selected["clusterer"] == clusterer].set_index(["dataset", "method"])
    if cells.empty:
        raise MissingResults(f"no scores are stored for clusterer={clusterer}.")
    choice = choose(study, methods, datasets, variants)
    scored = cells.index.unique("method")
    names = [name for name in choice.methods if methods is not None or name in scored]
    if not names:
        raise ValueError(
            f"only controls ({', '.join(choice.controls)}), which have no rank: name methods, or run some."
        )
    means = cells["mean"].where(partial | (cells["n_missing"] == 0))
    scores = means.unstack("method").reindex(index=choice.datasets, columns=names)
    lacking = [(method, dataset) for dataset in scores.index for method in names if pd.isna(scores.at[dataset, method])]
    whole = list(scores.columns[scores.notna().all()])
    if lacking and not (drop and methods is None and len(whole) > 1):
        raise MissingResults(_explain(lacking, cells["mean"], scores), lacking)
    if lacking:
        choice.left_out.append(f"{DROPPED}{', '.join(name for name in names if name not in whole)}.")
    controls, n_draws = _controls(study, metric, selection, choice)
    gaps = [(name, dataset) for name in controls for dataset in controls.index[controls[name].isna()]]
    return Field(
        study, metric, selection, clusterer, scores[whole], controls.dropna(axis=1), choice.families, n_draws, gaps,
        choice.left_out,
    )  # fmt: skip


def _explain(lacking, means, scores):
    """Say which cells are missing, and what has them all."""
    texts = [
        f"{method} on {dataset} ({'incomplete' if pd.notna(means.get((dataset, method))) else 'no score'})"
        for method, dataset in lacking
    ]
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    whole = {"methods": scores.columns[scores.notna().all()], "datasets": scores.index[scores.notna().all(axis=1)]}
    ways = [f"{what}=[{','.join(names)}] has them all" for what, names in whole.items() if len(names) > 1]
    ways += ["partial=true takes incomplete cells as they are"] if any("incomplete" in text for text in texts) else []
    return (
        f"{len(lacking)} of {scores.size} cells are missing: {', '.join(texts[:SHOWN])}{more}. "
        f"{'; '.join(['A rank needs every cell', *ways])}."
    )


def _controls(study, metric, selection, choice):
    """Return the controls on the data sets, with gaps, and the number of random rankings."""
    names = list(dict.fromkeys([*REFERENCES, *choice.controls]))
    scores = study.means(metric, selection).reindex(index=choice.datasets, columns=names)
    drawn = control_scores(study, selection, [metric])
    drawn = drawn[drawn["control"] == RANDOM].groupby("dataset")["mean"]
    scores[RANDOM] = drawn.mean().reindex(choice.datasets)
    return scores, int(drawn.size().reindex(choice.datasets, fill_value=0).min())
