"""The page and the figure of what is found in data of known truth."""

import numpy as np
from matplotlib import colormaps
from scipy.stats import binom

from datasets.truth import parts_of, truth_names
from scripts.core.conf import printed
from scripts.core.views import render
from scripts.ground_truth import ENOUGH, LEVEL, SEEDS, SHARE, beyond_chance, differences, found
from scripts.make_figure.style import HEAT, WIDTH, framed
from scripts.ranks.choice import base_methods, is_control

SAME = 1e-9  # measures and expectations that differ by rounding
ABREAST = 6  # panels of a figure
RARE, OFTEN = 0.6, 0.9  # shares of seeds that reach `ENOUGH`, of which the page says how often they bring a star


def ground_truth_page(rows, name):
    """Return the rows of `recovered`, of a study of this name, as a page of Markdown."""
    table = found(rows)
    own = [method for method in table.index.unique("method") if not is_control(method)]
    stored = rows.groupby(["family", "difficulty", "seed"]).ngroups
    copies = _of(table, table.index[table["redundancy"] > 0].unique("family"))
    hidden = _not_by_variance(table)
    rest = table.index.unique("family").difference(hidden)
    n_seeds = table.groupby("method")["seeds"].min()  # one that has more of some difficulties has no more of each
    fewer = n_seeds[n_seeds < n_seeds.max()]
    counts = sorted({count for count in n_seeds if count >= SEEDS}, reverse=True)
    return render(
        "ground_truth/truth.md.j2",
        enough=ENOUGH,
        share=f"{SHARE:.0%}",
        seeds=SEEDS,
        name=name,
        days=list(rows["day"]),
        n_seeds=n_seeds.max(),
        counts=counts,
        starred={share: [_text(_chance_of_star(count, share)) for count in counts] for share in (RARE, OFTEN)},
        rare=RARE,
        often=OFTEN,
        fewer={count: list(own.index) for count, own in fewer.groupby(fewer)},
        n_methods=rows["method"].nunique(),
        stored=stored,
        n_datasets=len(truth_names()),
        n_families=rows["family"].nunique(),
        n_all=len({parts_of(one)[0] for one in truth_names()}),
        absent=[one for one in base_methods() if one not in own],
        own=own,
        **_conclusions(table, own),
        level=LEVEL,
        beyond=_beyond_chance(rows, own),
        **_against_variance(rows, own),
        relevance=[_lines(_of(table, some), "precision", "relevant") for some in (rest, hidden) if len(some)],
        hidden={family: _passing(own, _easy(_of(table, [family]))["relevant"]) for family in hidden},
        diversity=_lines(copies, "recall", "diverse"),
        redundancy=_lines(copies, "redundancy"),
        has_copies=(rows["redundancy"] > 0).any(),
        unfound=_open(table),
        text=_text,
    )


def ground_truth_figure(rows, name):
    """Draw the relevance in the rows of `recovered`, of a study of this name, over the difficulty; a panel a family."""
    table = found(rows)
    methods, families = _order(table), table.index.unique("family")
    colours = colormaps[HEAT]
    n_lines = -(-len(families) // ABREAST)
    title = "Relevance: share of the selected features that are relevant, at their number"
    note = f"Study {name}, default parameters. Bold: {SHARE:.0%} of the seeds reach {ENOUGH}."
    with framed(WIDTH, 0.8 + n_lines * (0.6 + 0.16 * len(methods)), title, note) as figure:
        axes = figure.subplots(n_lines, -(-len(families) // n_lines), sharey=True, squeeze=False)
        for axis in axes.ravel()[len(families) :]:
            axis.set_visible(False)
        for axis, family in zip(axes.ravel(), families, strict=False):
            part = table.xs(family, level="family")
            wide = part["precision"].unstack().reindex(methods)
            axis.pcolormesh(np.ma.masked_invalid(wide), cmap=HEAT, vmin=0, vmax=1, edgecolor="white", linewidth=0.5)
            passed = part["relevant"].unstack().reindex(methods)
            for (row, column), value in np.ndenumerate(wide.to_numpy()):
                if np.isfinite(value):
                    dark = np.dot(colours(value)[:3], (0.299, 0.587, 0.114)) < 0.5
                    axis.text(
                        column + 0.5, row + 0.5, _text(value), ha="center", va="center", fontsize=6,
                        color="white" if dark else "black", fontweight="bold" if passed.iat[row, column] else "normal",
                    )  # fmt: skip
            signals = part.groupby("difficulty")["signal"].first()
            axis.set_xticks(np.arange(len(signals)) + 0.5, [f"{signal:g}" for signal in signals], fontsize=7)
            axis.set_yticks(np.arange(len(methods)) + 0.5, [printed("method", one) for one in methods], fontsize=6.5)
            axis.set_title(family, fontsize=8)
            axis.grid(visible=False)
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)
        axes[0, 0].invert_yaxis()
        axes[0, len(axes[0]) // 2].set_xlabel("signal, in standard deviations of the noise", fontsize=7)
    return figure


def _of(table, families):
    """Return the rows of some families."""
    return table[table.index.get_level_values("family").isin(families)]


def _easy(table):
    """Return the rows of the easiest difficulty."""
    return table.xs(1, level="difficulty")


def _not_by_variance(table):
    """Return the families in which the features of largest variance have no star at the easiest difficulty."""
    easy = _easy(table)["relevant"]
    known = easy.xs("max_variance", level="method") if "max_variance" in easy.index else easy.iloc[:0]
    return known.index[~known]


def _conclusions(table, own):
    """Return what the table comes to: lists of methods, of the `own` that are no controls, by what is said of them."""
    easy = _easy(table)
    lacking = easy["precision"].unstack("method").isna().any()
    copies = easy[easy["redundancy"].groupby("family").transform("max") > 0]
    stars = easy[easy.index.get_level_values("method").isin(own)]["relevant"].groupby("family").any()
    return {
        "found": _passing(own, easy["relevant"]),
        "starless": list(stars.index[~stars]),
        "copied": list(copies.index.unique("family")),
        "diverse": _passing(own, copies["relevant"] & copies["diverse"]) if len(copies) else None,
        "partial": [one for one in own if lacking[one]],
    }


def _against_variance(rows, own):
    """Return which of the `own` methods differ from the features of largest variance, and what to say of it."""
    if "max_variance" not in set(rows["method"]):
        return {"has_variance": False}
    table = differences(rows, "max_variance").reindex(own)
    clear = table["p"] <= LEVEL
    better, worse = clear & (table["mean"] > 0), clear & (table["mean"] < 0)
    return {
        "has_variance": True,
        "better": list(table.index[better]),
        "worse": list(table.index[worse]),
        "unclear": list(table.index[~better & ~worse]),
    }


def _chance_of_star(n_seeds, share):
    """Return the chance of a star from so many seeds, where a share of all possible ones reaches `ENOUGH`."""
    return binom.sf(np.ceil(SHARE * n_seeds - SAME) - 1, n_seeds, share)


def _beyond_chance(rows, own):
    """Return which of the `own` methods select more relevant features than chance in every family."""
    p = beyond_chance(rows[rows["method"].isin(own)])
    return [method for method in own if p.get(method, 1) <= LEVEL]


def _passing(own, stars):
    """Return the methods that have all of some stars, of every family."""
    whole = stars.unstack("family", fill_value=False).all(axis=1)
    return [method for method in own if whole.get(method, False)]


def _lines(table, measure, star=None):
    """Return the lines of a table of one measure, the methods by their mean relevance."""
    families = list(table.index.unique("family"))
    signals = table.groupby(["family", "difficulty"])["signal"].first()
    heads = [f"{family} ({', '.join(f'{one:g}' for one in signals[family])})" for family in families]
    lines = [["Method", *heads]]
    for method in _order(table):
        cells = table.loc[method]
        line = [f"*{method}*" if is_control(method) else method]
        for family in families:
            own = cells.loc[family] if family in cells.index else cells.iloc[:0]
            marks = own[star] if star else [False] * len(own)
            line.append(" ".join(_text(value) + "*" * mark for value, mark in zip(own[measure], marks, strict=True)))
        lines.append(line)
    return lines


def _open(table):
    """Yield the family, and its methods besides the controls, with all their seeds, without a star at first, and else.

    Of the others there is only the number of those with all seeds, and of those without.
    """
    first = _easy(table)
    for family in first.index.unique("family"):
        own = first.xs(family, level="family")
        own = own[[not is_control(method) for method in own.index]]
        whole = own[own["seeds"] >= SEEDS]
        failed = whole[~whole["relevant"]].sort_values("precision", ascending=False)
        yield family, list(failed.itertuples()), len(whole), len(own) - len(whole)


def _order(table):
    """Return the methods, the one with the largest mean relevance first."""
    means = table.groupby("method")["precision"].mean()
    return sorted(means.index, key=lambda method: (-means[method], method))


def _text(value):
    return "" if np.isnan(value) else f"{value:.2f}".replace("0.", ".", 1)
