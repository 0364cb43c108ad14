"""The figure of the findings: gains over random rankings by size, in ACC above NMI."""

import pandas as pd
from matplotlib import rc_context

from ufs_bench.metrics.study import ALL
from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.findings.plan import SCORES, WEIGHTS, by_size, in_enough, means_of
from ufs_bench.scripts.make_figure.style import COLOURS, GREY, PHONE, STYLE, apart, new_figure


def draw_sizes(study, plan):
    """Draw the mean gains over families by size, a line for each method; those that gain have a colour and a name."""
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


def gains_by_size(study, plan, score):
    """Return the mean gains over families: sizes by methods and all features, nan where too few families have any."""
    rows = {}
    for size, own in by_size(study)[score].groupby(level="n_selected"):
        gains = own.droplevel("n_selected").unstack("method").reindex(index=list(plan.families))
        rows[size] = in_enough(means_of(gains, plan.families)).mean().reindex([*plan.methods, ALL])
    return pd.DataFrame(rows).T
