"""Changes of gains if methods and K-means look for half or twice as many clusters as there are classes."""

import pandas as pd

from ufs_bench.scripts.compare.controls import ALL
from ufs_bench.scripts.core.conf import family_of, printed
from ufs_bench.scripts.core.text import with_interval
from ufs_bench.scripts.findings.plan import SCORES, curves, intervals_of, means_of
from ufs_bench.scripts.findings.predictions import METHODS

OTHERS = ("half", "twice")
STUDIES = {number: f"fair_{number}" for number in OTHERS}  # the experiments, and the studies
COUNTED = tuple(one.method for one in METHODS)


def changes(study, others, families):
    """Return the gains over random rankings, and what they change by in the studies `others`, by `OTHERS`.

    Rows are (method, score), of all features and the methods of the plan; columns are ("gain", "half" or "twice") by
    mean, low and high over families, and ("data", "sets" or "families").  A row is of the data sets of `families`
    that a method has in all three studies.
    """
    columns = pd.MultiIndex.from_product([(ALL, *COUNTED), SCORES], names=["method", "score"])
    gains = {name: curves(own).reindex(index=families, columns=columns) for name, own in others.items()}
    own = curves(study).reindex(index=families, columns=columns)
    own = own.where(sum(gains.values()).notna())  # a change is of the same data sets
    own_families = {name: family_of(name) for name in families}
    means = {"gain": means_of(own, own_families)}
    means |= {name: means_of(gains[name] - own, own_families) for name in OTHERS}
    found = pd.concat({name: intervals_of(one) for name, one in means.items()}, axis=1)
    found["data", "sets"], found["data", "families"] = own.count(), means["gain"].count()
    return found


def lines(found):
    """Return the lines of the table of changes: one for each method and score."""
    rows = [["Method", "Score", "Data sets (families)", "Gain", "Change, half as many", "Change, twice as many"]]
    for (method, score), row in found.iterrows():
        sizes = f"{row['data', 'sets']:.0f} ({row['data', 'families']:.0f})"
        cells = [with_interval(*row[part]) for part in ("gain", *OTHERS)]
        rows.append([printed("method", method), score.upper(), sizes, *cells])
    return rows
