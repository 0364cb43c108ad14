"""The frames of a study: the columns that identify a cell and a point, and the protocol that all trials follow."""

import json

import numpy as np
import pandas as pd

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import METRICS, is_learned

CELL = ["study", "dataset", "method", "clusterer"]
POINT = ["study", "dataset", "method", "params", "n_selected", "clusterer"]
ORDER = [*POINT, "nth_seed"]  # of the rows of a point, that of the protocol's seed is first
# Scores, which are shares as long as they are stored: of a summary and of refits, and what follows from these.
SHARES = [f"{metric}_{what}" for metric in METRICS for what in ("mean", "std", "seed_std")]
SHARES += ["mean", "std", "group_std", "loss", "random_best"]


def percent(rows):
    """Return rows with their scores in percent, once, as they are read; all that comes after knows no shares."""
    return rows.assign(**{name: 100 * rows[name] for name in SHARES if name in rows})


def params_of(rows):
    """Return the parameters of rows as dicts, one for all rows with the same text."""
    return rows["params"].map({text: json.loads(text) for text in rows["params"].unique()}.get)


def of_kmeans(rows):
    """Return the rows that K-means on the selected features gives, without those of learned labels."""
    return rows[~is_learned(rows)]


def fits_of(frame):
    """Return one row per fit of a tidy frame sorted by `ORDER`, with sizes, a tuple: those that it was to score."""
    chosen = of_kmeans(frame)
    codes, _ = pd.factorize(chosen["trial"])
    order = np.argsort(codes, kind="stable")
    first = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.split(chosen["n_selected"].to_numpy()[order], first[1:])
    fits = chosen.iloc[order[first]].drop(columns=["n_selected", "clusterer"]).reset_index(drop=True)
    return fits.assign(sizes=pd.Series([tuple(own.tolist()) for own in sizes[: len(fits)]], dtype=object))


def protocol_of(frame):
    """Return the `Protocol` of a study, from its trials or its summary, of one row at least."""
    return Protocol.from_json(frame["protocol"].iloc[0])


def check_one_protocol(trials):
    """Refuse a study whose trials follow several protocols with a ValueError that names the fields that differ."""
    for study, group in trials.groupby("study"):
        protocols = [Protocol.from_json(text) for text in sorted(group["protocol"].unique())]
        differing = sorted({name for protocol in protocols for name in protocols[0].differences(protocol)})
        if differing:
            values = {name: sorted({str(one.stored().get(name)) for one in protocols}) for name in differing}
            words = "; ".join(f"{name}: {' or '.join(each)}" for name, each in values.items())
            rare = group[group["protocol"] == group["protocol"].value_counts().index[-1]].iloc[0]
            raise ValueError(
                f"study={study!r} mixes {len(protocols)} protocols ({words}); their numbers cannot stand in one "
                "table. Move the results of all but one to studies of their own, such as those of "
                f"{rare['method']} on {rare['dataset']}."
            )


def check_one_data(trials):
    """Refuse a study in which one name stands for several data sets with a ValueError that names two cells."""
    shas = trials.groupby(["study", "dataset"])["data_sha"].nunique()
    if (shas > 1).any():
        study, dataset = shas.index[shas > 1][0]
        own = trials[(trials["study"] == study) & (trials["dataset"] == dataset)].drop_duplicates("data_sha")
        raise ValueError(
            f"study={study!r} holds {len(own)} data sets that were called {dataset!r}: that of {own['method'].iloc[0]} "
            f"is another one than that of {own['method'].iloc[1]}. Their numbers cannot stand in one column: run one "
            "of them under another name, and remove its folders here."
        )


def scored_sizes(summary):
    """Return, for every (study, data set), the sizes of the protocol that a method scored; none exceeds n_features."""
    return {
        key: [size for size in protocol_of(group).sizes_on(key[1]) if size in scored]
        for key, group in summary.groupby(["study", "dataset"])
        for scored in [set(group["n_selected"])]
    }


def complete_sizes(own, sizes):
    """Return the sizes of a complete cell: the protocol's, or its own where it has others, as all features do."""
    own = set(own)
    return own | set(sizes) if own & set(sizes) else own
