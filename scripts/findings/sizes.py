"""Further looks at the gains of the plan: one size at a time, with variants, with other values for missing gains.

None of them is in the plan; each takes the plan's data sets, families and test.
"""

import pandas as pd

from ufs_bench.metrics.study import POOR
from ufs_bench.metrics.study.families import step_down
from ufs_bench.scripts.core.conf import entry
from ufs_bench.scripts.findings.plan import (
    LEVEL,
    SCORES,
    WEIGHTS,
    by_size,
    choice_of,
    curves,
    in_enough,
    intervals_of,
    means_of,
)
from ufs_bench.scripts.ranks.choice import is_control

FLIPS = 99_999  # of signs: a p of .05 has a standard error of .0007
MISSING = (-10.0, 0.0, 10.0)  # points


def tested(gains, families):
    """Return mean, low, high and p of the columns (method, score) of gains with values in enough families."""
    means = in_enough(means_of(gains, families))
    table = intervals_of(means).rename_axis(["method", "score"])
    table["p"] = step_down(means, n_flips=FLIPS)
    return table


def signs_of(table):
    """Return the methods that gain and those that lose: each a dict of method -> its scores."""
    found = {1: {}, -1: {}}
    for (method, score), row in table[table["p"] <= LEVEL].iterrows():
        found[1 if row["mean"] > 0 else -1].setdefault(method, []).append(score)
    return found[1], found[-1]


def one_size_at_a_time(study, plan):
    """Return size -> table of `tested` of the plan's methods at this size alone."""
    methods, sized = plan.table.index.unique("method"), by_size(study)
    found = {}
    for size in WEIGHTS:
        gains = sized.xs(size, level="n_selected").unstack("method").swaplevel(axis=1)
        gains = gains.reindex(index=list(plan.families))
        gains = gains.loc[:, [column for column in gains if column[0] in methods]]
        found[size] = tested(gains, plan.families)
    return found


def with_variants(study, plan):
    """Return the table of `tested` of all methods of the study with their variants, in one test."""
    gains = curves(study).reindex(index=list(plan.families))
    return tested(gains.loc[:, [column for column in gains if not is_control(column[0])]], plan.families)


def with_missing(study, plan):
    """Return points -> methods that gain and lose if each missing gain of the plan's methods were so many points."""
    columns = [(name, score) for name in choice_of(study).methods for score in SCORES]
    gains = curves(study).reindex(index=list(plan.families), columns=pd.MultiIndex.from_tuples(columns))
    gains = gains.dropna(axis=1, how="all")
    return {points: signs_of(tested(gains.fillna(points), plan.families)) for points in MISSING}


def size_rows(tables, names):
    """Return the lines of a table: how many methods gain at each size, which, and the median gain of all methods."""
    rows = [["Features", "Methods that gain", "Median gain, ACC", "NMI", "Which"]]
    for size, table in tables.items():
        gain, _ = signs_of(table)
        medians = [f"{table['mean'].xs(score, level='score').median():+.1f}" for score in SCORES]
        rows.append([str(size), str(len(gain)), *medians, _listed(gain, names) or "none"])
    return rows


def collapsed_rows(study, plan, table, names, share=0.1):
    """Return the lines of a table of the methods that learned nothing in more than a share of their fits.

    `table` is of `with_variants`.  Fits are those at the default parameters on the plan's data sets.
    """
    fits = study.trials[study.trials["dataset"].isin(plan.families) & study.trials["is_default"]]
    counts = fits.assign(none=fits["status"].isin(POOR)).groupby("method")["none"].agg(["sum", "size"])
    rows = [["Method", "Fits that learned nothing", "Gain, ACC", "Gain, NMI"]]
    often = counts.index[counts["sum"] > share * counts["size"]]
    bases = {entry("method", name, "target") for name in often}
    for name, (none, total) in counts[[entry("method", name, "target") in bases for name in counts.index]].iterrows():
        gains = [f"{table.loc[(name, score), 'mean']:+.1f}" for score in SCORES] if name in table.index else ["", ""]
        rows.append([names.get(name, name), f"{none} of {total}", *gains])
    return rows


def variant_text(table, plan, names):
    """Name the methods that gain in one test with all variants, besides those that gain in the plan's test."""
    gain, _ = signs_of(table)
    known = set(plan.named(1).index.unique("method"))
    return _listed({name: own for name, own in gain.items() if name not in known}, names)


def _listed(methods, names):
    """Return methods with their scores as one text: "CAE (ACC, NMI), RUFS (NMI)"."""
    return ", ".join(f"{names.get(name, name)} ({', '.join(map(str.upper, own))})" for name, own in methods.items())


def missing_rows(found, plan, names):
    """Return the lines of a table: what changes if each missing gain were so many points."""
    rows = [["Missing gains set to", "Also gain", "Also lose", "No longer gain or lose"]]
    known = [set(plan.named(sign).index.unique("method")) for sign in (1, -1)]
    for points, signs in found.items():
        more = [sorted(set(now) - old) for now, old in zip(signs, known, strict=True)]
        gone = sorted((known[0] - set(signs[0])) | (known[1] - set(signs[1])))
        texts = [", ".join(names.get(name, name) for name in own) or "none" for own in (*more, gone)]
        rows.append([f"{points:+.0f} points" if points else "0", *texts])
    return rows
