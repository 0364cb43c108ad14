"""The notes below a table: how to read it, where its numbers come from, and what they rest on."""

import shlex
from collections import Counter

import pandas as pd

from ufs_bench.metrics.study import CAPPED, FAILED, METRICS, POOR, RANDOM, is_learned
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.scored import scored
from ufs_bench.metrics.study.seeds import SCORES
from ufs_bench.runners.store.row import from_json
from ufs_bench.scripts.core.conf import find, unique_names, whole_grid
from ufs_bench.scripts.core.published import PAPERS, explain
from ufs_bench.scripts.core.text import signed, span
from ufs_bench.scripts.core.views import notes
from ufs_bench.scripts.core.words import CAPPED_CELL, NO_LABELS, NOT_RUN, PARTIAL, REFITTED, labelled, rule
from ufs_bench.scripts.make_table.table import IS_SHIPPED, PARTS, SHIPPED

SIGNS = {"†": "incomplete", "‡": "the fit diverged or collapsed", "§": "no independent evidence", SHIPPED: "shipped"}


def brief(cells, study, paper, commands):
    """Return the four sentences below a table on a screen, from its cells and the part of the study that it shows."""
    metric, selection, counts = cells["metric"].iloc[0], cells["selection"].iloc[0], Counter(cells["status"])
    is_signed = [
        PARTIAL in counts, cells["trial_status"].isin(POOR).any(), (cells["inherited"] != "").any(),
        cells["study"].str.endswith(IS_SHIPPED).any(),
    ]  # fmt: skip
    return notes(
        "make_table/brief.md.j2",
        metric=metric,
        metrics=METRICS,
        parts=PARTS,
        selection=selection,
        rule="" if metric == "seconds" else rule(selection, metric),
        paper=paper,
        signs=[f"{sign} {words}" for (sign, words), has in zip(SIGNS.items(), is_signed, strict=True) if has],
        trials=len(study.trials),
        title=study.title,
        protocol=study.protocol,
        counts={name: counts[name] for name in (NOT_RUN, NO_LABELS, FAILED, CAPPED_CELL, PARTIAL) if counts[name]},
        n_cells=len(cells),
        commands=commands,
    )


def reading(cells, study, paper):
    """Return how to read a table, from its cells and the part of the study that belongs to it; it fits into a paper."""
    metric, selection = cells["metric"].iloc[0], cells["selection"].iloc[0]
    counts, seconds = Counter(cells["status"]), metric == "seconds"
    of_defaults = selection in ("default_params", "largest_size")
    versions = study.trials["versions"].unique() if seconds else ()  # of two machines seconds are no difference of fits
    return notes(
        "make_table/reading.md.j2",
        metric=metric,
        metrics=METRICS,
        parts=PARTS,
        selection=selection,
        rule="" if seconds else rule(selection, metric),
        paper=PAPERS.get(paper),
        learned=is_learned(cells).any(),
        here=sorted({from_json(text).get("machine", "unknown") for text in versions}),
        there=sorted(set(cells["published_machine"]) - {""}) if seconds else [],
        counts={name: counts[name] for name in (NOT_RUN, NO_LABELS, FAILED, CAPPED_CELL, PARTIAL) if counts[name]},
        n_cells=len(cells),
        poor=cells["trial_status"].isin(POOR).any(),
        inherited=explain(cells["inherited"]),
        shipped=SHIPPED if cells["study"].str.endswith(IS_SHIPPED).any() else "",
        alike=study.protocol.get("scaling") == "zscore" and "max_variance" in set(cells["method"]),
        changed=_changed(cells) if of_defaults else [],
        thin=[] if of_defaults else _thin(cells, study),
    )


def _thin(cells, study):
    """Return the methods that have fewer points than their grid on a data set of the table: "rufs 3 of 49"."""
    there = of_kmeans(cells[cells["trial"] != ""])[["method", "dataset"]].drop_duplicates()
    counts = study.trials.merge(there).groupby(["method", "dataset"])["params"].nunique()
    found = []
    for method, own in counts.groupby("method"):
        whole = whole_grid(method, study.protocol) or 0
        fewer = own[own < whole]
        found += [f"{method} {span(fewer)} of {whole}"] if len(fewer) else []
    return found


def _changed(cells):
    """Return the methods whose defaults, as a run was told, are not those of their files: "mcfs (n_neighbors=3)"."""
    found = {}
    for row in cells[cells["params"] != ""].itertuples():
        own, given = (find("method", row.method) or {}).get("params") or {}, from_json(row.params)
        others = {key: given[key] for key in own if key in given and given[key] != own[key]}
        if others:
            found[row.method, row.params] = ", ".join(f"{key}={value}" for key, value in others.items())
    return [f"{method} ({words})" for (method, _), words in found.items()]


def clustering(study):
    """Return what a reader of a paper must know of the protocol, in a line; none where nothing is stored."""
    protocol = study.protocol
    if not protocol:
        return []
    scaling = f"scaling of the data: {protocol['scaling']}"
    return [f"{protocol['restarts']} K-means restarts; {scaling}{study.clusters_told}."]


def background(cells, study):
    """Return what else is known of a table: the gain of its maxima, reasons of its gaps, protocol, study and code."""
    trials, protocol = study.trials, study.protocol
    known, statuses = cells[cells["excess"].notna()], Counter(trials["status"])
    codes = trials.groupby(["method", "dataset"])["code_fit"].nunique()
    return notes(
        "make_table/background.md.j2",
        gains=[
            f"{method} {signed(own['excess'].mean())} ({span(own['n_candidates'])})"
            for method, own in known.groupby("method", sort=False)
        ],
        reasons=_reasons(cells),
        sensitive=_sensitive(cells, study),
        scored=[
            f"{row.method} on {row.dataset} (from {row.low:.0f} on; {row.short:.0%} of its fits)"
            for row in scored(trials).itertuples()
        ],
        study=study.title,
        trials=len(trials),
        protocol=protocol,
        fields=[f"{name} {value}" for name, value in protocol.items() if name not in ("name", "restarts")],
        odd=[f"{count} {name}" for name, count in sorted(statuses.items()) if name != "converged"],
        dates=[text[:10] for text in trials["started"]],
        codes=sorted({_short(sha) for sha in trials["git_sha"].unique()}),
        mixed=[f"{method} on {dataset}" for method, dataset in codes.index[codes > 1]],
    )


def _reasons(cells):
    """Return why feature sets have no score, where a cap is among the reasons."""
    if not cells["gaps"].str.contains("|".join(CAPPED)).any():
        return []
    lacking = of_kmeans(cells[cells["gaps"] != ""])
    return [
        f"{reason} ({', '.join(f'{row.method} on {row.dataset}' for row in rows.itertuples())})"
        for reason, rows in lacking.groupby("gaps", sort=False)
    ]


def _sensitive(cells, study):
    """Name the cells whose score is of a fit that rounding alone moves, as far as that was looked for."""
    moved = study.sensitive.set_index("trial")
    rows = cells[cells["trial"].isin(moved.index)].drop_duplicates(["method", "dataset", "trial"])
    return [
        f"{row.method} on {row.dataset} (keeps {moved['kept'][row.trial]:.0%} of its features; "
        f"ACC moves by {moved['acc_moved'][row.trial]:.1f} points)"
        for row in rows.itertuples()
    ]


def _short(sha):
    name, dash, rest = sha.partition("-")
    return name[:7] + dash + rest


def seed_notes(cells, study):
    """Return the spread over the methods' seeds, a line a row, and the command that measures what is lacking."""
    if cells["metric"].iloc[0] not in SCORES:
        return []
    names = unique_names("method", cells["method"].unique())
    known = cells[cells["seed_std"].notna()].groupby(["method", "clusterer"], sort=False)
    lacking = _lacking(cells, study.seeds)
    words = ["python", "-m", "scripts.refit", "what=seeds", f"study={study.own_name}", f"methods=[{','.join(lacking)}]"]
    return notes(
        "make_table/seeds.md.j2",
        known=[(labelled(names[method], clusterer), own) for (method, clusterer), own in known],
        averaged=study.protocol.get("seeds"),
        lacking=[names[name] for name in lacking],
        command="" if study.is_shipped else shlex.join(words),  # nothing is added to what is shipped
    )


def _lacking(cells, seeds):
    """Return the methods with a random part for which some fit that is shown has no spread."""
    open_cells = cells[(cells["trial"] != "") & cells["seed_std"].isna()]
    if cells["selection"].iloc[0] not in REFITTED:  # `scripts.refit` does not repeat the fits of this selection
        pairs, stored = (pd.MultiIndex.from_frame(frame[["dataset", "method"]]) for frame in (open_cells, seeds))
        open_cells = open_cells[~pairs.isin(stored)]
    # Each draw of random rankings is a point of its grid.
    files = {name: find("method", name) for name in open_cells["method"].unique() if name != RANDOM}
    if not files:
        return []
    from ufs_bench.runners.experiment.trial import has_random_part  # here, as it imports what fits need

    return [name for name, content in files.items() if content and has_random_part(content)]
