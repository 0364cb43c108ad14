"""Further looks at the gains of the plan: one size at a time, with variants, with other values for missing gains,
and with half or twice as many clusters as there are classes.

None of them is in the plan; each takes the plan's data sets, families and test.
"""

import pandas as pd

from ufs_bench.metrics.study import ALL, POOR
from ufs_bench.scripts.core.conf import entry, family_of, printed, unique_names
from ufs_bench.scripts.core.text import signed, with_interval
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
    over_families,
)
from ufs_bench.scripts.findings.predictions import METHODS
from ufs_bench.scripts.rank.choice import is_control

FLIPS = 99_999  # of signs: a p of .05 has a standard error of .0007
MISSING = (-10.0, 0.0, 10.0)  # points
OFTEN = 0.1  # share of fits that learned nothing
OTHERS = ("half", "twice")  # numbers of clusters
STUDIES = {number: f"fair_{number}" for number in OTHERS}  # the experiments, and the studies
COUNTED = tuple(one.method for one in METHODS)


def tested(gains, families):
    """Return the table of `over_families` of gains, by fewer flips."""
    return over_families(gains, families, FLIPS)[1].rename_axis(["method", "score"])


def signs_of(table):
    """Return the methods that gain and those that lose: each a dict of method -> its scores."""
    found = {1: {}, -1: {}}
    for (method, score), row in table[table["p"] <= LEVEL].iterrows():
        found[1 if row["mean"] > 0 else -1].setdefault(method, []).append(score)
    return found[1], found[-1]


def one_size_at_a_time(study, plan):
    """Return size -> table of `tested` of the plan's methods at this size alone."""
    sized, found = by_size(study), {}
    for size in WEIGHTS:
        gains = sized.xs(size, level="n_selected").unstack("method").swaplevel(axis=1)
        gains = gains.reindex(index=list(plan.families))
        gains = gains.loc[:, [column for column in gains if column[0] in plan.methods]]
        found[size] = tested(gains, plan.families)
    return found


def gains_by_size(study, plan, score):
    """Return the mean gains over families: sizes by methods and all features, nan where too few families have any."""
    rows = {}
    for size, own in by_size(study)[score].groupby(level="n_selected"):
        gains = own.droplevel("n_selected").unstack("method").reindex(index=list(plan.families))
        rows[size] = in_enough(means_of(gains, plan.families)).mean().reindex([*plan.methods, ALL])
    return pd.DataFrame(rows).T


def draw_sizes(study, plan):
    """Draw the mean gains over families by size, a line for each method; those that gain have a colour and a name."""
    from matplotlib import rc_context  # here, as tables need no matplotlib

    from ufs_bench.scripts.make_figure.style import COLOURS, GREY, PHONE, STYLE, apart, new_figure

    gainers = list(plan.named(1).index.unique("method"))[: len(COLOURS)]
    looks = dict(zip(gainers, [(colour, "-") for colour in COLOURS], strict=False)) | {ALL: (GREY, "--")}
    names = unique_names("method", gainers) | {ALL: "All features"}
    with rc_context(STYLE):
        figure = new_figure(PHONE, 0.3 + 2.6 * len(SCORES))
        axes = figure.subplots(len(SCORES), 1, sharex=True, sharey=True)
        tables = [gains_by_size(study, plan, score) for score in SCORES]
        for axis, score, table in zip(axes, SCORES, tables, strict=True):
            axis.axhline(0, color=GREY, linewidth=0.9)
            for name in sorted(table, key=looks.__contains__):
                colour, line = looks.get(name, (GREY, "-"))
                width, alpha = (1.8, 1.0) if name in looks else (0.7, 0.45)
                axis.plot(table.index, table[name], line, color=colour, linewidth=width, alpha=alpha)
            axis.set_xscale("log")
            axis.set_xlim(right=max(WEIGHTS) * 1.05)  # lines end where names begin
            axis.set_xticks(list(WEIGHTS), [str(size) for size in WEIGHTS])
            axis.minorticks_off()
            axis.set_title(score.upper(), fontsize=9, loc="left")
            axis.tick_params(labelsize=8)
        axes[-1].set_xlabel("Number of features", fontsize=8)
        figure.supylabel("Gain over random rankings, in points", fontsize=8)
        low, high = axes[0].get_ylim()
        for axis, table in zip(axes, tables, strict=True):
            ends = table.ffill().iloc[-1].reindex(list(looks)).dropna().sort_values()
            for name, height in zip(ends.index, apart(ends, (high - low) / 18, low, high), strict=True):
                axis.text(max(WEIGHTS) * 1.08, height, names[name], color=looks[name][0], fontsize=8, va="center")
        return figure


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


def collapsed(study, plan):
    """Return a row for each method of which many fits learned nothing, and for their variants.

    none is the number of these fits, total the number of all; they are at the default parameters on the plan's data
    sets.  learned is the number of data sets on which no fit learned nothing; mean, low and high are the gain in NMI
    there, over families.
    """
    fits = study.trials[study.trials["dataset"].isin(plan.families) & study.trials["is_default"]]
    fits = fits.assign(none=fits["status"].isin(POOR)).groupby(["method", "dataset"])["none"].agg(["sum", "size"])
    counts = fits.groupby("method").sum().set_axis(["none", "total"], axis=1)
    often = counts.index[counts["none"] > OFTEN * counts["total"]]
    bases = {entry("method", name, "target") for name in often}
    counts = counts[[entry("method", name, "target") in bases for name in counts.index]]
    gains, rows = curves(study).xs("nmi", axis=1, level="score").reindex(index=list(plan.families)), {}
    for name in counts.index:
        own = fits.loc[name, "sum"]
        kept = gains[[name]].loc[own.index[own == 0]].dropna()
        mean, low, high = intervals_of(means_of(kept, plan.families)).loc[name]
        rows[name] = {"learned": len(kept), "mean": mean, "low": low, "high": high}
    return counts.join(pd.DataFrame.from_dict(rows, orient="index"))


def size_lines(found, names):
    """Return the lines of a table: how many methods gain at each size, which, and the median gain of all methods."""
    rows = [["Features", "Methods that gain", "Median gain, ACC", "NMI", "Which"]]
    for size, table in found.items():
        gain, _ = signs_of(table)
        medians = [signed(table["mean"].xs(score, level="score").median()) for score in SCORES]
        which = ", ".join(f"{names[name]} ({', '.join(map(str.upper, own))})" for name, own in gain.items())
        rows.append([str(size), str(len(gain)), *medians, which or "none"])
    return rows


def missing_lines(found, plan, names):
    """Return the lines of a table: what changes if each missing gain were so many points."""
    rows = [["Missing gains set to", "Also gain", "Also lose", "No longer gain or lose"]]
    known = [set(plan.named(sign).index.unique("method")) for sign in (1, -1)]
    for points, signs in found.items():
        more = [sorted(set(now) - old) for now, old in zip(signs, known, strict=True)]
        gone = sorted((known[0] - set(signs[0])) | (known[1] - set(signs[1])))
        texts = [", ".join(names[name] for name in own) or "none" for own in (*more, gone)]
        rows.append([signed(points, 0), *texts])
    return rows


def collapsed_lines(found, table, names):
    """Return the lines of a table of `collapsed`, with the gains of a `table` of `with_variants`."""
    rows = [
        ["Method", "Fits that learned nothing", "Gain, ACC", "Gain, NMI", "Gain, NMI, where all learned", "Data sets"]
    ]
    for row in found.itertuples():
        gains = [signed(table["mean"].get((row.Index, score))) for score in SCORES]
        where = with_interval(row.mean, row.low, row.high) if row.learned else ""
        rows.append([names[row.Index], f"{row.none} of {row.total}", *gains, where, str(row.learned)])
    return rows


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


def change_lines(found):
    """Return the lines of the table of changes: one for each method and score."""
    rows = [["Method", "Score", "Data sets (families)", "Gain", "Change, half as many", "Change, twice as many"]]
    for (method, score), row in found.iterrows():
        sizes = f"{row['data', 'sets']:.0f} ({row['data', 'families']:.0f})"
        cells = [with_interval(*row[part]) for part in ("gain", *OTHERS)]
        rows.append([printed("method", method), score.upper(), sizes, *cells])
    return rows
