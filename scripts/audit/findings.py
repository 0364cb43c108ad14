"""The sentences that follow from the tables of an audit."""

from metrics.study import METRICS, POOR
from metrics.study.frames import of_kmeans
from scripts.core.text import span

# An overlap of at least so much, corrected for chance, means that two rankings select the same features.
SAME = 0.9
ALL_METHODS = "all methods"
HARDLY = 0.2  # share of the steps along a parameter
UNSTABLE = 0.75  # above it agreement is excellent (Nogueira et al.)
CAPS = {"timeout": "were ended at runner.max_seconds", "out_of_memory": "were ended at runner.max_memory"}
ENDS = {status: status for status in (*POOR, "failed")} | CAPS  # status of a fit -> what is said of it


def findings(tables):
    """Return the sentences that follow from the tables of an audit, as (data set, method, claim, detail)."""
    yield from _inert(tables["parameters"])
    yield from _repeated(tables["distinct"])
    yield from _trivial(tables["overlaps"])
    yield from _hollow(tables["choices"])
    yield from _ends(tables["outcomes"])
    yield from _still(tables["movements"])
    yield from _held(tables["starts"])
    yield from _short(tables["scored"])
    for (dataset, method, optimum), rows in tables["gaps"].groupby(["dataset", "method", "optimum"]):
        gap = span(100 * rows["gap"], "{:.2f} %")
        yield dataset, method, f"it ends above the optimum of its own objective, which {optimum} reaches", f"by {gap}"
    yield from _winners(tables["evaluators"])
    changes = {"samples": "permuted samples", "columns": "permuted columns", "seed": "new seeds"}
    for row in tables["stability"].itertuples():
        if row.nogueira < UNSTABLE:
            interval = f"Nogueira {row.nogueira:.2f} [{row.low:.2f}, {row.high:.2f}], Jaccard {row.jaccard:.2f}"
            claim = f"the selected features change under {changes[row.change]}"
            yield row.dataset, row.method, claim, f"{row.n_selected} of them: {interval}"


def _winners(evaluators):
    """Return a finding for each other metric whose best method, or all equally good ones, are not best by ACC."""
    for row in evaluators.itertuples():
        if set(row.winner).isdisjoint(row.winner_acc):
            detail = f"{tied(row.winner)}, not {tied(row.winner_acc)}; tau {row.tau:.2f} over {row.n_methods} methods"
            yield row.dataset, ALL_METHODS, f"{METRICS[row.metric]} names another best method than ACC", detail


def tied(names):
    """Return the names of equally good methods as a text."""
    return " = ".join(names)


def _inert(parameters):
    for row in parameters.itertuples():
        corrected = (row.shared - row.chance) / (1 - row.chance) if row.chance < 1 else 0.0
        hardly = f"{row.parameter} hardly matters"
        if not row.n_changed:
            claim = f"{row.parameter} is inert, no step along it changes a selected set"
            yield row.dataset, row.method, claim, f"{row.n_steps} steps"
        elif row.n_changed <= HARDLY * row.n_steps:
            claim = f"{hardly}, few steps along it change a selected set"
            yield row.dataset, row.method, claim, f"{row.n_changed} of {row.n_steps}"
        elif corrected >= SAME:
            claim = f"{hardly}, its neighbouring values select nearly the same features"
            yield row.dataset, row.method, claim, f"{row.shared:.0%}, by chance {row.chance:.0%}"


def _repeated(distinct):
    for (dataset, method), rows in distinct.groupby(["dataset", "method"]):
        if rows["n_points"].max() > 1 and (rows["n_distinct"] == 1).all():
            claim = "all points of the grid select the same features at every size"
            yield dataset, method, claim, f"{rows['n_points'].max()} points"


def _trivial(overlaps):
    """Find overlaps with trivial rankings; a control that is one itself, such as max_variance, is left out by name."""
    controls = {"max_variance", "min_variance", "min_norm", "first_index", "all_features", "spectral_labels"}
    rows = overlaps[~overlaps["method"].isin(controls) & (overlaps["chance"] < SAME)]
    corrected = (rows["median"] - rows["chance"]) / (1 - rows["chance"])
    same = rows[corrected >= SAME]
    for (dataset, method, ranking, is_start), found in same.groupby(["dataset", "method", "ranking", "is_start"]):
        what = "its first features, as many as clusters," if is_start else "its features"
        overlap, chance = (span(found[name], "{:.0%}") for name in ("median", "chance"))
        detail = f"{overlap} of {span(found['n_selected'], '{:d}')}, by chance {chance}"
        yield dataset, method, f"{what} are those of {ranking}", detail


def _hollow(choices):
    rows = of_kmeans(choices[choices["oracle_status"].isin(POOR)])
    for row in rows.itertuples():
        claim = f"the best score of its grid, as judged by the labels, is that of a fit that {row.oracle_status}"
        yield row.dataset, row.method, claim, f"{row.best_over_grid:.1f} %"


def _ends(outcomes):
    for row in outcomes.itertuples():
        for status, what in ENDS.items():
            if share := getattr(row, status):
                yield row.dataset, row.method, f"fits {what}", f"{share:.0%} of {row.n_trials}"
        if row.max_iter >= 0.5:
            yield row.dataset, row.method, "fits stopped at max_iter", f"{row.max_iter:.0%} of {row.n_trials}"
        if row.rose > 0:
            yield row.dataset, row.method, "the objective rose in traced fits", f"{row.rose:.0%} of {row.n_traced}"


def _still(movements):
    for row in movements.itertuples():
        if row.still >= 0.5:
            claim = "its indicators end where they began, so that it learns no clusters of its own"
            yield row.dataset, row.method, claim, f"{row.still:.0%} of {row.n_fits} fits"


def _held(starts):
    for row in starts.itertuples():
        if row.held >= 0.5:
            claim = "its selection is mostly its random start"
            kept = f"{row.kept:.0%} of the start is selected, by chance {row.chance:.0%}"
            detail = f"{kept}; {row.held:.0%} of {row.n_fits} fits"
            yield row.dataset, row.method, claim, detail


def _short(scored):
    for row in scored.itertuples():
        claim = "it scores fewer features than it is asked for, and the others follow by rounding or in file order"
        number = f"{row.low:.0f}" if row.low == row.high else f"{row.low:.0f} to {row.high:.0f}"
        yield row.dataset, row.method, claim, f"{number} of up to {row.asked}; {row.short:.0%} of {row.n_fits} fits"


def by_method(findings):
    """Return the findings by method, as claim -> list of (data set, detail), in the order in which they were found."""
    grouped = {method: {} for method in sorted({method for _, method, *_ in findings})}
    for dataset, method, claim, detail in findings:
        grouped[method].setdefault(claim, []).append((dataset, detail))
    return grouped


def in_words(places):
    """Return pairs (data set, detail) as a text; a detail that all share is written once."""
    details = {detail for _, detail in places}
    if len(details) == 1:
        return f"{', '.join(dataset for dataset, _ in places)} ({details.pop()}{' each' if len(places) > 1 else ''})"
    return "; ".join(f"{dataset} ({detail})" for dataset, detail in places)
