"""The notes below a table: how to read it, where its numbers come from, and what they rest on."""

import shlex
from collections import Counter

import pandas as pd

from ufs_bench.metrics.study import CAPPED, FAILED, METRICS, POOR, RANDOM, is_learned
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.seeds import SCORES
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.runners.messages import counted
from ufs_bench.runners.place import place_of
from ufs_bench.runners.store.row import from_json
from ufs_bench.scripts.core.conf import find, printed, unique_names, whole_grid
from ufs_bench.scripts.core.papers import explain
from ufs_bench.scripts.core.text import CAPPED_CELL, NO_LABELS, NOT_RUN, PARTIAL, REFITTED, labelled, rule, signed, span
from ufs_bench.scripts.make_table.table import IS_SHIPPED, PARTS, SHIPPED

THIN = "Fewer points than the grid has"  # how the note begins that a paper must have
SIGNS = {"†": "incomplete", "‡": "the fit diverged or collapsed", "§": "no independent evidence", SHIPPED: "shipped"}


def brief(cells, study, paper, commands):
    """Return the four sentences below a table on a screen, from its cells and the part of the study that it shows."""
    metric, selection, counts = cells["metric"].iloc[0], cells["selection"].iloc[0], Counter(cells["status"])
    difference = PARTS["difference"] if paper else ""
    if metric == "seconds":
        said = [f"Seconds of one fit, without K-means: mean ± std over the grid points{difference}."]
    else:
        parts = [PARTS["std"] if metric in SCORES else "", PARTS["size"]] if selection != "grid_median" else []
        said = [f"{METRICS[metric]} in percent: mean{''.join(parts)}{difference}."]
    said[0] += " Best in bold, second underlined."
    if metric != "seconds":
        said.append(f"Selection {selection}: {rule(selection, metric)}.")
    is_signed = [
        PARTIAL in counts, cells["trial_status"].isin(POOR).any(), (cells["inherited"] != "").any(),
        cells["study"].str.endswith(IS_SHIPPED).any(),
    ]  # fmt: skip
    if any(is_signed):
        signs = [f"{sign} {words}" for (sign, words), has in zip(SIGNS.items(), is_signed, strict=True) if has]
        said.append(f"{'; '.join(signs)}.")
    about = "nothing of this table is stored yet."
    if len(study.trials):
        about = "protocol {name}, {restarts} K-means restarts, scaling of the data: {scaling}.".format(**study.protocol)
        kinds = (NOT_RUN, NO_LABELS, FAILED, CAPPED_CELL, PARTIAL)
        if states := [f"{counts[name]} {name}" for name in kinds if counts[name]]:
            about += f" Of {len(cells)} cells: {', '.join(states)}."
    more = ", and the commands that fill it" if len(commands) > 1 else ""
    return [*said, f"Study {study.title}: {about} notes=full has more{more}."]


def details(cells, study, whole):
    """Return what else is known of a table: marks, grids, gaps, seeds, protocol and code; `whole` has its seeds."""
    metric, selection, trials = cells["metric"].iloc[0], cells["selection"].iloc[0], study.trials
    said = []
    if metric == "seconds":
        here = sorted({from_json(text).get("machine", "unknown") for text in trials["versions"].unique()})
        there = sorted(set(cells["published_machine"]) - {""})
        papers = f" The paper's: {', '.join(there)}." if there else ""
        said.append(
            "One BLAS thread; what no parameter changes, such as a graph, is computed in the first fit of each worker "
            f"process only. Our machine: {', '.join(here)}.{papers}"
        )
    if is_learned(cells).any():
        said.append(
            "(learned labels): the clusters that the method itself gives, one labelling of a fit, hence without std; "
            "not ranked among the others."
        )
    if RANDOM in set(trials["method"]) and metric != "seconds" and not BY_NAME[selection].oracle:
        said.append("Random rankings have the mean over their draws, and the std of one draw and one K-means start.")
    if selection in ("default_params", "largest_size"):
        if changed := _changed(cells):
            said.append(
                f"Not the defaults of the method's file, but what `method.params` was set to: {', '.join(changed)}."
            )
    elif thin := _thin(cells, study):
        said.append(f"{THIN}, so that its best may lie elsewhere: {'; '.join(thin)}.")
    if cells["trial_status"].isin(POOR).any():
        said.append(
            "‡: the fit diverged, or collapsed: its scores are all zero, so that the order of the columns decides, or "
            "all samples are in one cluster; learned labels may be sound where the scores are zero."
        )
    if inherited := explain(cells["inherited"]):
        said.append(f"§: a published number that is no independent evidence: {inherited}.")
    if gains := _gains(cells):
        said.append(
            "The best of many candidates is high by chance. Ours less the best of as many random subsets, as a mean "
            f"over the columns (number of candidates): {', '.join(gains)}."
        )
    if reasons := _reasons(cells):
        said.append(
            f"Feature sets without a score, by cell: {'; '.join(reasons)}. timeout and out_of_memory: the fit reached "
            "runner.max_seconds or runner.max_memory, which says nothing about the method's scores."
        )
    if sensitive := _sensitive(cells, study):
        said.append(
            "Sensitive fits, which select other features or score otherwise where X is moved by 1e-14 of itself: "
            f"{', '.join(sensitive)}."
        )
    if scored := _scored(trials):
        said.append(
            "Fits that score fewer features than they were asked for, the others being ranked by rounding or in file "
            f"order: {', '.join(scored)}."
        )
    said += _seeds(cells, study, whole) if metric in SCORES else []
    if len(trials):
        protocol = study.protocol
        fields = [f"{name} {value}" for name, value in protocol.items() if name != "name"]
        odd = [f"{count} {name}" for name, count in sorted(Counter(trials["status"]).items()) if name != "converged"]
        ended = f" ({', '.join(odd)})" if odd else ""
        codes = sorted({_short(sha) for sha in trials["git_sha"].unique()})
        said += [
            f"Protocol {protocol['name']}: {', '.join(fields)}.",
            f"Study {study.title}: {counted(len(trials), 'trial')}{ended}, {span(trials['started'].str[:10])}, "
            f"code {', '.join(codes)}.",
        ]
    return said


def _gains(cells):
    """Return the mean gains of methods over the best of as many random subsets: "mcfs 1.2 (49)"."""
    known = cells[cells["excess"].notna()].groupby("method", sort=False)
    return [f"{method} {signed(own['excess'].mean())} ({span(own['n_candidates'])})" for method, own in known]


def _seeds(cells, study, whole):
    """Return sentences on the spread over seeds of methods, and on cells that lack it."""
    names, said = unique_names("method", cells["method"].unique()), []
    seeds = cells[cells["seed_std"].notna()].groupby(["method", "clusterer"], sort=False)
    if len(seeds):
        means = " The numbers in the cells are means over these seeds." if study.protocol.get("seeds") else ""
        said.append(
            "Seeds of a method: std over its own seeds (how many), in points, with the same K-means starts. The ± of "
            f"the cells does not hold it.{means}"
        )
    for (method, clusterer), own in seeds:
        each = [f"{printed('dataset', one.dataset)} {one.seed_std:.1f} ({one.n_seeds:.0f})" for one in own.itertuples()]
        said.append(f"Seeds of {labelled(names[method], clusterer)}: {', '.join(each)}.")
    if lacking := _lacking(cells, whole.seeds):
        listed = ", ".join(names[name] for name in lacking)
        said.append(f"Methods with a random part and cells without other seeds: {listed}.")
        if not study.is_shipped:  # nothing is added to what is shipped
            words = [f"study={study.own_name}", f"methods=[{','.join(lacking)}]", *place_of(study.results_dir)]
            options = shlex.join(words)
            said[-1] += f" The command is python -m scripts.refit what=seeds {options}"
    return said


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
