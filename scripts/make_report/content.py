"""The content of the report page, as plain values; the template decides how it looks."""

import shlex
from collections import Counter

import pandas as pd

from metrics.study import METRICS
from metrics.study.frames import percent
from metrics.study.summary import SELECTIONS
from runners.place import place_of
from runners.words import counted, duration
from scripts.audit import make_audit
from scripts.audit.audit_page import compact, titles
from scripts.audit.findings import by_method, in_words
from scripts.cite import sources
from scripts.compare import controls_of, published_rows, score_tables, with_verdicts
from scripts.compare.evidence import LINES
from scripts.compare.evidence_page import due, line_rows, summaries
from scripts.compare.headline import line_table
from scripts.compare.verdicts import NOT_RUN, VERDICTS, is_hollow, own_rows, unreached
from scripts.core.conf import unique_names
from scripts.core.data import data_of
from scripts.core.published import PAPERS, load_published
from scripts.core.tables import OF_TABLES, paper_tables
from scripts.core.words import labelled
from scripts.make_report.figures import figures, gains_and_ranks
from scripts.make_report.folded import fold, times, unfinished
from scripts.make_report.trials import OF_SETS, trial_facts
from scripts.make_table import make_table, own_spec
from scripts.make_table.formats import HTML, ours, paper

# A sign beside each colour, so that nothing rests on colour alone.
SIGNS = dict(zip(VERDICTS, "●◐○▲▼–×", strict=True))
MANY_FITS = 500  # with more, their curves and pixels are left out: a fifth of a page that is large anyway
TOO_MANY_FITS = 2000  # with more, none has a card: thousands are half of a page that takes a browser many seconds
HEADINGS = {"dataset": "data set", "n_selected": "features", "max_iter": "at max_iter"}


def gather(study, selection="best_over_grid"):
    """Return all values on the page, by their names in the template; nothing is downloaded for them."""
    found = make_audit(study)
    trials = study.trials
    methods, datasets = (unique_names(group, trials[group].unique()) for group in ("method", "dataset"))
    source = _paper_of(study)
    printed = sorted(paper_tables(source), key=lambda spec: OF_TABLES.index(spec.metric)) if source else []
    made = [(spec, make_table(spec, study, selection)) for spec in [*printed, *_whole_tables(study)]]
    comparison, judged = None, {}
    if source:
        cells = {spec.name: table.cells for spec, table in made}
        comparison = with_verdicts(
            published_rows(source, study, [(spec, cells[spec.name]) for spec in score_tables(source)])
        )
        keys = comparison[["table", "metric", "dataset", "method", "clusterer"]].itertuples(index=False, name=None)
        judged = dict(zip(keys, comparison.itertuples(), strict=True))
    tables = [(table, list(_rows(table, spec.published_table, judged))) for spec, table in made]
    whole = next((table for spec, table in made if spec.paper is None), None) or make_table(own_spec(study), study)
    cells = (cell for _, rows in tables for _, cells in rows for cell in cells)
    shown = {cell["trial"]: cell["size"] for cell in cells if cell["trial"]}
    return {
        "study": study.name,
        "place": "".join(f" {shlex.quote(word)}" for word in place_of(study.results_dir)),
        "paper": PAPERS.get(source),
        "selection": selection,
        "selection_text": SELECTIONS[selection],
        "overview": _overview(trials, comparison, found),
        "evidence": _evidence(source, study, comparison, selection),
        "signs": SIGNS,
        "tables": tables,
        "comparison": _comparison(comparison),
        "figures": figures(study.output_dir / "figures", study, selection),
        "ranks": gains_and_ranks(study, selection),
        "audit": _audit(found, {"method": methods, "optimum": methods, "dataset": datasets}),
        "unfinished": unfinished(study, whole, methods, datasets),
        "times": times(trials, methods, datasets),
        "trials": _trials(study, shown) if len(shown) <= TOO_MANY_FITS else [],
        "many_fits": MANY_FITS,
        "n_shown": len(shown),
        "environment": _environment(study),
        "sources": sources(study),
        "metrics": METRICS,
        "methods": methods,
        "datasets": datasets,
    }


def _paper_of(study):
    """Return the paper that has the study's protocol and prints scores of one of its data sets; None without one."""
    published = load_published()
    printed_on = published.loc[published["paper"] == study.protocol["name"], "dataset"]
    return study.protocol["name"] if printed_on.isin(study.trials["dataset"]).any() else None


def _whole_tables(study):
    """Return a table of each metric with every method and data set of the study."""
    return [
        own_spec(study, metric, name=f"all_{metric}", title=f"All methods of this study: {METRICS[metric]}")
        for metric in METRICS
        if study.summary[f"{metric}_mean"].notna().any()
    ]


def _rows(table, published_table, judged):
    """Yield the label and the cells of every row of a table; `judged` has the verdicts of its published cells."""
    for row, label in table.rows.items():
        cells = [table.cell(row, column) for column in table.columns]
        has_published = table.has_published(row)
        if row[1:2] == ("learned",) and not has_published and all(pd.isna(cell["mean"]) for cell in cells):
            continue  # such as the accuracy of the nearest neighbour for labels that a method gives itself
        keys = [(published_table, cell["metric"], cell["dataset"], *row[:2]) for cell in cells]
        yield label, [_cell(cell, has_published, judged.get(key)) for cell, key in zip(cells, keys, strict=True)]


def _cell(cell, has_published, verdict):
    return {
        "ours": ours(cell, HTML),
        "paper": paper(cell, HTML) if has_published else "",
        "value": "" if pd.isna(cell["mean"]) else f"{cell['mean']:.6g}",
        "trial": cell["trial"],
        "size": None if pd.isna(cell["n_selected"]) else int(cell["n_selected"]),
        "verdict": verdict.verdict if verdict is not None else "",
        "why": "; ".join(filter(None, (verdict.reason, verdict.remark))) if verdict is not None else "",
    }


def _overview(trials, comparison, found):
    counts = Counter(trials["status"])
    verdicts, facts = Counter(), {}
    if comparison is not None:
        own = own_rows(comparison)
        verdicts = Counter(own["verdict"])
        facts = {
            "departs": own["departs"].iloc[0],
            "n_hollow": int(is_hollow(own).sum()),
            "n_inherited": int((own["inherited"] != "").sum()),
            "n_unreached": len(unreached(comparison)),
        }
    return {
        **facts,
        "n_trials": len(trials),
        "fits": counted(len(trials), "fit"),
        "methods": counted(trials["method"].nunique(), "method"),
        "datasets": counted(trials["dataset"].nunique(), "data set"),
        "fit_time": duration(trials["fit_s"].sum()),
        "statuses": dict(counts.most_common()),
        "verdicts": {name: verdicts[name] for name in VERDICTS} if verdicts else {},
        "n_cells": sum(verdicts.values()),
        "n_findings": len(found.findings),
        "first": trials["started"].min()[:10],
        "last": trials["started"].max()[:10],
    }


def _evidence(paper, study, comparison, selection):
    """Return the five lines of the paper beside controls, as `scripts.compare` prints them; None without a paper."""
    if comparison is None:
        return None
    controls = controls_of({paper: study}, selection)
    lines = line_table(comparison, controls)
    (head, *rows), (summary,) = line_rows(lines), summaries(lines)
    return {
        "summary": (words := summary.partition(": ")[2])[:1].upper() + words[1:],
        "columns": head[1:],
        "rows": [row[1:] for row in rows],
        "meant": LINES,
        "due": due(comparison, controls),
    }


def _comparison(comparison):
    if comparison is None:
        return []
    methods = unique_names("method", comparison["method"].unique())
    far = dict.fromkeys(unreached(comparison).index, "no variant reaches it")
    return [
        cell._replace(
            method=labelled(methods[cell.method], cell.clusterer),
            remark="; ".join(filter(None, (far.get(cell.Index), cell.reason, cell.explanation, cell.remark))),
        )
        for cell in comparison[comparison["verdict"] != NOT_RUN].itertuples()
    ]


def _audit(found, names):
    tables = []
    for name, (title, text) in titles().items():
        frame, n_folded = fold(compact(name, found.tables[name]).replace(names))
        columns = [str(HEADINGS.get(column, column)) for column in frame.columns]
        rows = frame.to_numpy().tolist()
        tables.append({"title": title, "text": text, "columns": columns, "rows": rows, "n_folded": n_folded})
    findings = {
        method: [
            f"{claim}: {in_words([(names['dataset'].get(dataset, dataset), detail) for dataset, detail in places])}"
            for claim, places in claims.items()
        ]
        for method, claims in by_method(found.findings).items()
    }
    return {"findings": findings, "notes": found.notes, "tables": tables}


def _trials(study, shown):
    wanted = study.trials[study.trials["trial"].isin(shown)]
    if study.trials["versions"].nunique() == 1:  # they stand once for all fits, under Environment
        wanted = wanted.assign(versions="{}")
    traces = study.traces
    sets = {}
    for own in percent(study.whole.loc[study.whole["trial"].isin(shown), OF_SETS]).to_dict("records"):
        sets.setdefault(own["trial"], []).append(own)
    faces = {dataset: _face(rows, study.data_dir) for dataset, rows in wanted.groupby("dataset")}
    if len(wanted) > MANY_FITS:
        traces, faces = {}, dict.fromkeys(faces)
    seeds = dict(list(study.seeds.groupby("trial")))
    names = {dataset: study.feature_names(dataset) for dataset in faces}
    found = []
    for row in wanted.to_dict("records"):
        trial, own = row["trial"], seeds.get(row["trial"], study.seeds.iloc[:0])
        of_data = faces[row["dataset"]], names[row["dataset"]]
        found.append(trial_facts(row, sets[trial], traces.get(trial, ()), shown[trial], *of_data, own))
    return found


def _face(rows, data_dir):
    """Return mean sample and pixel order of a data set of images; None for other data sets, and for missing ones."""
    data, _ = data_of(rows, data_dir)
    return None if data is None or data.image_shape is None else (data.image(data.X.mean(axis=0)), data.pixel_order)


def _environment(study):
    trials = study.trials
    return {
        "protocol": study.protocol,
        "code": dict(Counter(trials["git_sha"]).most_common()),
        "versions": dict(Counter(trials["versions"]).most_common()),
        "data": dict(sorted(set(zip(trials["dataset"], trials["data_sha"], strict=True)))),
    }
