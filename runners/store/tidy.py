"""The tidy frame of a study: one row for every feature set that a fit selected, and for the labels that it learned.

It is made here from the rows of a run's CSVs, and back; `reference` writes and reads it as it is shipped.  What
belongs to a fit as a whole is repeated in its rows; its trace stands in the first of them only.
"""

import math

import numpy as np
import pandas as pd

from ufs_bench.metrics.measures import DECIMALS, OF_SET
from ufs_bench.metrics.study import is_learned
from ufs_bench.runners.store.columns import SUMMARY
from ufs_bench.runners.store.row import (
    REPORTED,
    feature_set_digest,
    from_json,
    pack_labels,
    ranking_of,
    stored_nmi,
    subsets_of,
    to_json,
    unpack_labels,
)

SET = ["trial", "n_selected", "clusterer"]
OF_ROW = ("sizes", "n_scores", "ranking", "feature_sets", "shared", "labels", "n_others")  # what other columns hold


def tidy(results, lists=True):
    """Return the tidy frame of results, with `LISTS` and shared if asked, which most readers do without.

    It has the columns `columns.COLUMNS`, with study, protocol and the fields of an identity in the place of its name.
    A trial without scores has a row for every size that it was to score, with n_restarts=0.
    """
    trials, scores = results.trials, results.scores.sort_values([*SET, "restart"], kind="stable")
    scores = scores.assign(nmi=stored_nmi(scores["nmi"]))
    first = np.flatnonzero(~scores.duplicated(SET).to_numpy())
    lists_of = {name: _split(scores[name].to_numpy(float), first) for name in ("acc", "nmi")}
    # A mean of pandas moves in its last digit with the other groups of the frame: their order chooses how it adds.
    sets = scores.groupby(SET).agg(n_restarts=("acc", "size"), acc_std=("acc", "std"), nmi_std=("nmi", "std"))
    for name, own in lists_of.items():
        sets[f"{name}_mean"] = np.array([math.fsum(values) / len(values) for values in own], dtype=float)
    sets[SUMMARY] = sets[SUMMARY].round(DECIMALS)
    if lists:
        sets = sets.assign(**lists_of)
    sizes = trials["sizes"].map(from_json)
    asked = pd.DataFrame({
        "trial": trials["trial"].repeat(sizes.map(len).astype(int)),
        "n_selected": np.array([size for own in sizes for size in own], dtype=int),
    })  # fmt: skip
    sets = asked.assign(clusterer="kmeans").merge(sets.reset_index(), how="outer", on=SET)
    sets["n_restarts"] = sets["n_restarts"].fillna(0).astype(int)
    if lists:
        sets["nmi"] = _objects(own if n else None for own, n in zip(sets["nmi"], sets["n_restarts"], strict=True))
    sets = sets.merge(_wide(results.measures, ["trial", "n_selected"], OF_SET), how="left", on=["trial", "n_selected"])
    sets.loc[is_learned(sets), list(OF_SET)] = np.nan  # they are of the selected features
    of_fit = trials.drop(columns=list(OF_ROW)).merge(_wide(results.facts, ["trial"], REPORTED), how="left", on="trial")
    of_fit["rise"] = of_fit["trial"].map(_rises(results.traces)).astype(float)
    frame = of_fit.merge(sets, on="trial")
    named = {key: from_json(text) for key, text in zip(trials["trial"], trials["feature_sets"], strict=True)}
    digests = [
        None if learned else named[key].get(str(size))
        for key, size, learned in zip(frame["trial"], frame["n_selected"], is_learned(frame), strict=True)
    ]
    frame["feature_set"] = pd.factorize(np.array(digests, dtype=object))[0] + 1
    return _with_lists(frame, trials, results.traces) if lists else frame


def _split(values, first):
    return pd.Series(np.split(values, first[1:]) if len(first) else [], dtype=object).to_numpy()


def _wide(rows, keys, names):
    """Return one row per key with a column for each name; a ValueError says that a name is unknown."""
    if unknown := sorted(set(rows["name"]) - set(names)):
        raise ValueError(f"{unknown[0]!r} is no column of the tidy frame: add it to runners/store/columns.py.")
    wide = rows.pivot_table(index=keys, columns="name", values="value", aggfunc="last", dropna=False)
    return wide.reindex(columns=list(names)).astype(float).reset_index()


def rise_of(trace):
    """Return the column `rise` of a fit with these values, one or more."""
    return _rises(pd.DataFrame({"trial": 0, "objective": trace})).iloc[0]


def _rises(traces):
    """Return, by trial, the largest rise of the objective from one sweep to the next as a share of itself."""
    values, trials = traces["objective"].to_numpy(float), traces["trial"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rises = np.maximum(np.diff(values, prepend=np.nan) / np.abs(np.roll(values, 1)), 0)
    rises[np.r_[True, trials[1:] != trials[:-1]][: len(trials)]] = 0
    return pd.Series(rises).groupby(trials).max()


def _with_lists(frame, trials, traces):
    """Add `LISTS` and shared to the frame of all sets of these trials."""
    ranked = {
        key: subsets_of(text, from_json(sizes))
        for key, text, sizes in zip(*(trials[name] for name in ("trial", "ranking", "sizes")), strict=True)
    }
    learned = {key: unpack_labels(text)[1] for key, text in zip(trials["trial"], trials["labels"], strict=True) if text}
    shared = {key: from_json(text) for key, text in zip(trials["trial"], trials["shared"], strict=True)}
    keys = list(zip(frame["trial"], frame["n_selected"], ~is_learned(frame), strict=True))
    first = ~frame["trial"].duplicated()
    starts = np.flatnonzero(~traces["trial"].duplicated().to_numpy())
    traced = dict(
        zip(traces["trial"].iloc[starts], _split(_rounded(traces["objective"].to_numpy()), starts), strict=True)
    )
    counts = (
        np.rint(own * n).astype(np.int32) if isinstance(own, np.ndarray) and not np.isnan(own).all() else None
        for own, n in zip(frame["acc"], frame["n_samples"], strict=True)
    )
    return frame.assign(
        acc=_objects(counts),
        features=_objects(
            np.array(ranked[key][size], dtype=np.int32) if selected and ranked[key].get(size) else None
            for key, size, selected in keys
        ),
        labels=_objects(None if selected else learned.get(key) for key, _, selected in keys),
        trace=_objects(traced.get(key) if own else None for key, own in zip(frame["trial"], first, strict=True)),
        shared=[selected and size in shared[key] for key, size, selected in keys],
    )


def _rounded(values):
    """Return numbers with the 24 bits of a float32, but the range of a float64; they keep their order, or are equal."""
    bits = np.asarray(values, dtype=float).view(np.int64)
    return ((bits + (1 << 28)) & -(1 << 29)).view(float)


def _objects(values):
    return pd.Series(list(values), dtype=object).to_numpy()


def _scores(one):
    if not one["n_restarts"] or one["acc"] is None:
        return [(math.nan, math.nan)] * one["n_restarts"]
    return zip((one["acc"] / one["n_samples"]).tolist(), one["nmi"].tolist(), strict=True)


def rows_of(fit):
    """Return the rows of a fit, from those of the tidy frame: of trials.csv, as a dict, and of each of `OTHERS`."""
    sets = fit.to_dict("records")
    row, chosen = sets[0], [one for one in sets if not is_learned(one)]
    selected = {one["n_selected"]: one["features"] for one in chosen if one["features"] is not None}
    scores = [
        (one["trial"], one["dataset"], one["method"], one["n_selected"], one["clusterer"], restart, acc, nmi)
        for one in sets
        for restart, (acc, nmi) in enumerate(_scores(one))
    ]
    traces = [] if row["trace"] is None else [(row["trial"], place, float(v)) for place, v in enumerate(row["trace"])]
    facts = [(row["trial"], name, row[name]) for name in REPORTED if row[name] == row[name]]
    measures = [(row["trial"], one["n_selected"], name, one[name]) for one in chosen for name in OF_SET]
    measures = measures if scores else []
    learned = [pack_labels(one["n_selected"], one["labels"]) for one in sets if one["labels"] is not None]
    row = row | {
        "sizes": to_json([one["n_selected"] for one in chosen]),
        "n_scores": len(scores),
        "ranking": ranking_of(list(selected.values())) if selected else "[]",
        "feature_sets": to_json({str(size): feature_set_digest(own) for size, own in selected.items()}),
        "shared": to_json(sorted(one["n_selected"] for one in chosen if one["shared"])),
        "labels": learned[0] if learned else "",
        "n_others": to_json({"traces": len(traces), "facts": len(facts), "measures": len(measures)}),
    }
    return row, scores, traces, facts, measures
