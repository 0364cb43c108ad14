"""The notes below a table: how to read it, where its numbers come from, and what they rest on."""

import json
from collections import Counter

from metrics.study import CAPPED, FAILED, METRICS
from metrics.study.frames import of_kmeans
from metrics.study.scored import scored
from scripts.core.conf import whole_grid
from scripts.core.published import PAPERS, explain
from scripts.core.text import span
from scripts.core.words import CAPPED_CELL, NOT_RUN, PARTIAL, POOR, rule
from scripts.make_table.table import PARTS

SECONDS = (
    "Seconds of one fit, without K-means: mean ± std over the grid points. One BLAS thread; what no parameter changes, "
    "such as a graph, is computed in the first fit of each worker process only."
)


def reading(cells, study, paper):
    """Return how to read a table, from its cells and the part of the study that belongs to it; it fits into a paper."""
    metric, selection = cells["metric"].iloc[0], cells["selection"].iloc[0]
    spread = PARTS["std"] if metric in ("acc", "nmi") else ""
    spread = "" if selection == "grid_median" else f"{spread}{PARTS['size']}"
    lines = [
        SECONDS if metric == "seconds" else f"{METRICS[metric]} in percent: mean{spread}.",
        "Best in bold, second underlined, in each column.",
    ]
    lines = [" ".join(lines)]
    if paper:
        lines.append(f"Ours stands with what the {PAPERS[paper]} paper prints{PARTS['difference']}.")
    if (cells["clusterer"] == "learned").any():
        lines.append(
            "(learned labels): the clusters that the method itself gives, one labelling of a fit, hence without std; "
            "not ranked among the others."
        )
    if metric == "seconds":
        lines += _machines(cells, study.trials)
    else:
        lines.append(f"Selection {selection}: {rule(selection)}.")
    return [*lines, *_marks(cells)]


def clustering(study):
    """Return what a reader of a paper must know of the protocol, in a line; none where nothing is stored."""
    protocol = study.protocol
    if not protocol:
        return []
    scaling = f"scaling of the data: {protocol['scaling']}"
    return [f"{protocol['restarts']} K-means restarts; {scaling}{study.clusters_told}."]


def background(cells, study):
    """Return what else is known of a table: the gain of its maxima, reasons of its gaps, protocol, study and code."""
    return [*_maximum(cells), *_reasons(cells), *_sensitive(cells, study), *_scored(study), *_provenance(study)]


def _maximum(cells):
    """Describe the gain from the maximum itself: the best of as many random subsets."""
    known = cells[cells["excess"].notna()]
    if known.empty:
        return []
    texts = [
        f"{method} {own['excess'].mean():+.1f} ({span(own['n_candidates'])})"
        for method, own in known.groupby("method", sort=False)
    ]
    return [
        "The best of many candidates is high by chance. Ours less the best of as many random subsets, as a mean over "
        f"the columns (number of candidates): {', '.join(texts)}."
    ]


def _marks(cells):
    counts = Counter(cells["status"])
    lines = []
    if counts[PARTIAL]:
        lines.append("†: some grid points or sizes of this cell failed, reached a limit or are missing.")
    if cells["trial_status"].isin(POOR).any():
        lines.append("‡: the fit diverged, or collapsed: it learned nothing, such as one cluster for all samples.")
    if inherited := explain(cells["inherited"]):
        lines.append(f"§: a published number that is no independent evidence: {inherited}.")
    gaps = {name: counts[name] for name in (NOT_RUN, FAILED, CAPPED_CELL, PARTIAL) if counts[name]}
    if gaps:
        text = ", ".join(f"{count} {name}" for name, count in gaps.items())
        lines.append(f"Of {len(cells)} cells: {text}.")
    return lines


def _reasons(cells):
    """Say why feature sets have no score, where a cap is among the reasons."""
    if not cells["gaps"].str.contains("|".join(CAPPED)).any():
        return []
    lacking = of_kmeans(cells[cells["gaps"] != ""])
    texts = [
        f"{reason} ({', '.join(f'{row.method} on {row.dataset}' for row in rows.itertuples())})"
        for reason, rows in lacking.groupby("gaps", sort=False)
    ]
    return [
        f"Feature sets without a score, by cell: {'; '.join(texts)}. timeout and out_of_memory: the fit reached "
        "runner.max_seconds or runner.max_memory, which says nothing about the method's scores."
    ]


def _sensitive(cells, study):
    """Name the cells whose score is of a fit that rounding alone moves, as far as that was looked for."""
    moved = study.sensitive.set_index("trial")
    rows = cells[cells["trial"].isin(moved.index)].drop_duplicates(["method", "dataset", "trial"])
    texts = [
        f"{row.method} on {row.dataset} (keeps {moved['kept'][row.trial]:.0%} of its features; "
        f"ACC moves by {moved['acc_moved'][row.trial]:.1f} points)"
        for row in rows.itertuples()
    ]
    sensitive = "Sensitive fits, which select other features or score otherwise where X is moved by 1e-14 of itself"
    return [f"{sensitive}: {', '.join(texts)}."] if texts else []


def _scored(study):
    """Name the fits that were asked for more features than they score."""
    found = scored(study.trials)
    if found.empty:
        return []
    texts = [
        f"{row.method} on {row.dataset} (from {row.low:.0f} on; {row.short:.0%} of its fits)"
        for row in found.itertuples()
    ]
    return [
        f"Fits that score fewer features than they were asked for, the others being ranked by rounding or in file "
        f"order: {', '.join(texts)}."
    ]


def _machines(cells, trials):
    """Name the machines of the seconds, as differences between machines are not differences between programs."""
    here = ", ".join(sorted({json.loads(text).get("machine", "unknown") for text in trials["versions"]}))
    there = ", ".join(sorted(set(cells["published_machine"]) - {""}))
    lines = [f"Our machine: {here}."] if here else []
    return [*lines, f"The paper's: {there}."] if there else lines


def _provenance(study):
    trials, protocol = study.trials, study.protocol
    if trials.empty:
        return [f"Study {study.name!r}: nothing is stored yet."]
    fields = ", ".join(f"{name} {value}" for name, value in protocol.items() if name not in ("name", "restarts"))
    statuses = Counter(trials["status"])
    odd = ", ".join(f"{count} {name}" for name, count in sorted(statuses.items()) if name != "converged")
    shas = ", ".join(sorted({_short(sha) for sha in trials["git_sha"]}))
    first, last = trials["started"].min()[:10], trials["started"].max()[:10]
    points = _grid_points(trials, protocol)
    codes = trials.groupby(["method", "dataset"])["code_fit"].nunique()
    mixed = ", ".join(f"{method} on {dataset}" for method, dataset in codes.index[codes > 1])
    return [
        f"Protocol {protocol['name']}: {protocol['restarts']} K-means restarts; {fields}.",
        f"Study {study.name!r}: {len(trials)} trials{f' ({odd})' if odd else ''}, "
        f"{first if first == last else f'{first} to {last}'}, code {shas}. Grid points: {points}.",
        *([f"Fits by more than one code of the method in one cell: {mixed}."] if mixed else []),
    ]


def _grid_points(trials, protocol):
    """Return the points that were run per method, those of its grid, and the data sets with another number."""
    texts = []
    for method, group in trials.groupby("method"):
        counts = group.groupby("dataset")["params"].nunique()
        usual, whole = counts.max(), whole_grid(method, protocol) or 0
        fewer = ", ".join(f"{dataset} {count}" for dataset, count in counts.items() if count != usual)
        of = f" of {whole}" if whole > 1 else ""
        texts.append(f"{method} {usual}{of}" + (f" ({fewer})" if fewer else ""))
    return "; ".join(texts)


def _short(sha):
    name, dash, rest = sha.partition("-")
    return name[:7] + dash + rest
