"""The figures that compare methods by their scores."""

import math

from metrics.study import METRICS, RANDOM
from metrics.study.selections import BY_NAME
from metrics.study.summary import select
from scripts.core.command_lines import MissingResults
from scripts.core.conf import printed, unique_names
from scripts.core.draws import name_of_draws, with_mean_of_draws
from scripts.core.published import PAPERS
from scripts.core.words import CLUSTERERS, by_labels
from scripts.make_figure.critical_difference import TESTS, draw_critical_difference
from scripts.make_figure.curves import MOST_BANDS, draw_curves
from scripts.make_figure.gains import draw_gains
from scripts.make_figure.options import one, several
from scripts.make_figure.seconds import draw_seconds, with_seconds
from scripts.make_figure.style import WIDTH, styles


def acc_vs_size(
    study, dataset, metric="acc", clusterer="kmeans", selection="best_over_grid", methods=None, width=WIDTH
):
    """Draw a score against the number of features on one data set, a line for each method."""
    dataset = one(dataset)
    summary = study.summary
    colours = styles(summary["method"])
    stored = summary[summary["clusterer"] == clusterer]
    if dataset not in set(stored["dataset"]):
        raise MissingResults(
            f"nothing is stored for dataset={dataset!r} and clusterer={clusterer!r}; "
            f"data sets of this study: {', '.join(stored['dataset'].unique()) or 'none'}.",
            [(method, dataset) for method in methods or sorted(summary["method"].unique())],
        )
    points = select(stored[stored["dataset"] == dataset], metric, selection, per_size=True)
    points = with_mean_of_draws(points, study, metric, selection, per_size=True).dropna(subset="mean")
    if methods is not None:
        points = points[points["method"].isin(methods)]
    if points.empty:
        who = "no method has" if methods is None else f"methods={methods} have no"
        raise MissingResults(
            f"{who} scores on {dataset} for selection={selection!r}.",
            [(method, dataset) for method in methods or sorted(stored["method"].unique())],
        )
    sizes = max(points["sizes"], key=len)  # all features alone have none of the protocol's
    if not sizes:
        raise MissingResults(
            f"nothing but all features has scores on {dataset}: there is no curve to draw.",
            [(method, dataset) for method in sorted(points["method"].unique())],
        )
    names = _names(points, selection)
    curves = [(names[method], colours[method], curve) for method, curve in points.groupby("method")]
    banded = points["std"].notna().any() and len(curves) <= MOST_BANDS
    bands = f"; bands: {study.spread()}" if banded else ""
    return draw_curves(
        curves,
        sizes,
        title=f"{printed('dataset', dataset)}: {METRICS[metric]} of {CLUSTERERS[clusterer]}",
        ylabel=f"{METRICS[metric]} (%)",
        note=f"{by_labels(BY_NAME[selection].per_size, metric)}{bands}.\n{study.origin(points['method'])}",
        width=width,
    )


def _names(points, selection):
    names = unique_names("method", points["method"].unique())
    return names | {RANDOM: name_of_draws(selection)} if RANDOM in names else names


def acc_vs_seconds(study, dataset, metric="acc", clusterer="kmeans", selection=None, methods=None, width=WIDTH):
    """Draw a score against the seconds of fitting, a panel for each data set."""
    if selection is None:
        selection = "best_over_grid" if study.protocol.get("name") in PAPERS else "largest_size"
    datasets = several(dataset)
    points = with_mean_of_draws(study.select(metric, selection), study, metric, selection)
    points = points[(points["clusterer"] == clusterer) & points["dataset"].isin(datasets)]
    points = with_seconds(points, study.trials, selection)
    if methods is not None:
        points = points[points["method"].isin(methods)]
    lacking = [name for name in datasets if name not in set(points["dataset"])]
    if lacking:
        wanted = methods or sorted(study.summary["method"].unique())
        raise MissingResults(
            f"no scores are stored for dataset={','.join(lacking)}, clusterer={clusterer} and selection={selection}.",
            [(method, name) for name in lacking for method in wanted],
        )
    return draw_seconds(
        points,
        styles(study.summary["method"]),
        _names(points, selection),
        {name: printed("dataset", name) for name in datasets},
        metric=metric,
        title=f"{METRICS[metric]} of {CLUSTERERS[clusterer]} against the seconds of fitting",
        note=f"{by_labels(BY_NAME[selection].overall, metric)}; bars: {study.spread()}. Pareto front: no other "
        "method scores as high in as few seconds.\n"
        f"{BY_NAME[selection].seconds}; what the fits on one data set share, a graph for example, counts in the first "
        f"of them. One core each, on whatever machine ran them.\n{study.origin(points['method'])}",
        width=width,
    )


def critical_difference(
    study, dataset=None, metric="acc", clusterer="kmeans", selection="best_over_grid",
    methods=None, variants="base", test="nemenyi", alpha=0.05, partial=False, width=WIDTH,
):  # fmt: skip
    """Draw average ranks over data sets; the defaults are those of `scripts.ranks.field.field_of`."""
    from scripts.ranks import rank_study  # here, as it imports statistics that most figures do not need
    from scripts.ranks.field import field_of

    if test not in TESTS:
        raise ValueError(f"test={test!r} must be one of {', '.join(TESTS)}.")
    field = field_of(study, metric, selection, clusterer, methods, _datasets(dataset), variants, partial)
    ranking = rank_study(field, alpha, test)
    p = ranking.comparison.friedman_p
    friedman = "" if math.isnan(p) else f" Friedman's test: p = {p:.2g}."
    return draw_critical_difference(
        ranking,
        styles(study.summary["method"]),
        unique_names("method", ranking.table.index),
        alpha=alpha,
        title=f"Average ranks by {METRICS[metric]} over {len(field.scores)} data sets; 1 is the best",
        note=f"Joined: not told apart at {alpha:g} by {TESTS[test]}.{friedman} "
        f"{BY_NAME[selection].overall}.\n"
        f"Data sets: {', '.join(printed('dataset', name) for name in field.scores.index)}. "
        f"{study.origin(field.scores)}",
        width=width,
    )


def gains(
    study, dataset=None, metric="acc", clusterer="kmeans", selection="best_over_grid",
    methods=None, variants="base", rope=1.0, partial=False, width=WIDTH,
):  # fmt: skip
    """Draw gains over random rankings and over all features; the defaults are those of `critical_difference`."""
    from scripts.ranks.field import REFERENCES, field_of  # here, as it imports what most figures do not need
    from scripts.ranks.gains import paired_gains
    from scripts.ranks.ranks_page import OVER, names_of

    field = field_of(study, metric, selection, clusterer, methods, _datasets(dataset), variants, partial)
    found = paired_gains(field, rope)
    if not found:
        lacking = ", ".join(dict.fromkeys(control for control, _ in field.lacking))
        raise MissingResults(f"gains are over controls that have a score on every data set: {lacking}.", field.lacking)
    missing = "".join(f" No {name}: it lacks data sets." for name in REFERENCES if name not in field.controls)
    return draw_gains(
        found,
        field.families,
        names_of(field),
        {one.reference: f"Over {OVER[one.reference]}" for one in found},
        {name: printed("dataset", name) for name in field.families},
        rope=rope,
        title=f"Gain in {METRICS[metric]} over controls on {len(field.scores)} data sets, in points",
        note="A point: one data set. Bar and line: the mean and its 95 % interval, from a bootstrap that draws "
        f"families, then data sets of each. Grey: within {rope:g}, which counts as none. Below the line: controls, of "
        f"which random rankings are the mean of {field.n_draws}. {BY_NAME[selection].overall}.{missing}\n"
        f"{study.origin([*field.scores, *field.controls])}",
        width=width,
    )


def _datasets(dataset):
    return None if dataset is None else several(dataset)
