"""The notes below a table: how to read it, where its numbers come from, and what they rest on."""

import shlex
from collections import Counter

import pandas as pd

from ufs_bench.metrics.study import CAPPED, FAILED, METRICS, POOR, RANDOM, is_learned
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.seeds import SCORES
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.store.row import from_json
from ufs_bench.scripts.core.conf import find, unique_names, whole_grid
from ufs_bench.scripts.core.published import explain
from ufs_bench.scripts.core.text import CAPPED_CELL, NO_LABELS, NOT_RUN, PARTIAL, REFITTED, labelled, rule, signed, span
from ufs_bench.scripts.core.views import notes
from ufs_bench.scripts.make_table.table import IS_SHIPPED, PARTS, SHIPPED

THIN = "Fewer points than the grid has"  # how the note begins that a paper must have
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


def details(cells, study, whole):
    """Return what else is known of a table: marks, grids, gaps, seeds, protocol and code; `whole` has its seeds."""
    metric, selection = cells["metric"].iloc[0], cells["selection"].iloc[0]
    trials, protocol, names = study.trials, study.protocol, unique_names("method", cells["method"].unique())
    of_defaults, of_clusters = selection in ("default_params", "largest_size"), metric in SCORES
    known = cells[cells["excess"].notna()]
    seeds = cells[cells["seed_std"].notna()].groupby(["method", "clusterer"], sort=False)
    lacking = _lacking(cells, whole.seeds) if of_clusters else []
    words = ["python", "-m", "scripts.refit", "what=seeds", f"study={study.own_name}", f"methods=[{','.join(lacking)}]"]
    return notes(
        "make_table/details.md.j2",
        metric=metric,
        here=sorted({from_json(text).get("machine", "unknown") for text in trials["versions"].unique()}),
        there=sorted(set(cells["published_machine"]) - {""}),
        learned=is_learned(cells).any(),
        draws=RANDOM in set(trials["method"]) and metric != "seconds" and not BY_NAME[selection].oracle,
        fewer=THIN,
        thin=[] if of_defaults else _thin(cells, study),
        changed=_changed(cells) if of_defaults else [],
        poor=cells["trial_status"].isin(POOR).any(),
        inherited=explain(cells["inherited"]),
        gains=[
            f"{method} {signed(own['excess'].mean())} ({span(own['n_candidates'])})"
            for method, own in known.groupby("method", sort=False)
        ],
        reasons=_reasons(cells),
        sensitive=_sensitive(cells, study),
        scored=_scored(trials),
        seeds=[(labelled(names[method], clusterer), own) for (method, clusterer), own in seeds] if of_clusters else [],
        lacking=[names[name] for name in lacking],
        command="" if study.is_shipped else shlex.join(words),  # nothing is added to what is shipped
        study=study.title,
        trials=len(trials),
        protocol=protocol,
        fields=[f"{name} {value}" for name, value in protocol.items() if name != "name"],
        odd=[f"{count} {name}" for name, count in sorted(Counter(trials["status"]).items()) if name != "converged"],
        dates=[text[:10] for text in trials["started"]],
        codes=sorted({_short(sha) for sha in trials["git_sha"].unique()}),
    )


def _scored(trials):
    """Return the cells with fits that score fewer features than asked for: "hvg on x (from 3 on; 67% of its fits)"."""
    fits, found = trials.dropna(subset="n_scored"), []
    fits = fits.assign(short=fits["n_scored"].astype(float) < fits["sizes"].map(max))
    for (dataset, method), own in fits.groupby(["dataset", "method"]):
        if own["short"].any():
            least = own.loc[own["short"], "n_scored"].astype(float).min()
            found.append(f"{method} on {dataset} (from {least:.0f} on; {own['short'].mean():.0%} of its fits)")
    return found


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
    return [f"{protocol['restarts']} K-means restarts; {scaling}{study.clusters_words}."]


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
