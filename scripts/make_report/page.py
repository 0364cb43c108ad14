"""What the report page shows, as plain values: the template decides how it looks."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from datasets import DataError, load_dataset
from metrics.study.summary import SELECTIONS, summarise
from runners.store import load_results
from scripts.audit import TITLES, compact
from scripts.audit.findings import by_method, in_words, make_audit
from scripts.cite import sources
from scripts.compare import compare
from scripts.compare.verdicts import VERDICTS, is_hollow, own_rows, unreached
from scripts.core.conf import CONF, names_in_print, read_table, unique_names
from scripts.core.published import PAPERS
from scripts.core.study import Study
from scripts.make_report.figures import average_ranks, figures
from scripts.make_report.trials import trial_facts
from scripts.make_table import make_table
from scripts.make_table.formats import HTML, ours, paper

# A sign beside each colour, so that nothing rests on colour alone.
SIGNS = dict(zip(VERDICTS, "●◐○▲▼–×", strict=True))
HEADINGS = {"dataset": "data set", "n_selected": "features", "max_iter": "at max_iter"}


def gather(results_dir, study, selection="best_over_grid", data_dir=None):
    """Everything on the page.

    Parameters
    ----------
    results_dir : path
    study : str
    selection : str, default="best_over_grid"
        One of `metrics.study.summary.SELECTIONS`, for the tables.
    data_dir : path, optional
        For what is drawn over images and for the audit; nothing is downloaded.

    Returns
    -------
    dict
        What the template names.

    Raises
    ------
    ValueError
        When nothing is stored under that name.
    """
    found = make_audit(results_dir, study, data_dir=data_dir)
    results = load_results(results_dir, study=study)
    trials = results.trials
    methods, datasets = (unique_names(group, trials[group].unique()) for group in ("method", "dataset"))
    summary = summarise(trials, results.scores)
    protocol = json.loads(trials["protocol"].iloc[0])
    paper_name = protocol["name"] if protocol["name"] in PAPERS else None
    comparison = compare(results_dir, [paper_name], {paper_name: study}, selection) if paper_name else None
    tables = [
        _table(make_table(spec, results_dir, study, selection), comparison)
        for spec in [*_paper_tables(paper_name), *_whole_tables(study, trials, protocol)]
    ]
    shown = {cell["trial"]: cell["size"] for table in tables for row in table["rows"] for cell in row["cells"]}
    return {
        "study": study,
        "paper": PAPERS.get(paper_name),
        "selection": selection,
        "selection_text": SELECTIONS[selection],
        "overview": _overview(trials, comparison, found),
        "signs": SIGNS,
        "tables": tables,
        "comparison": _comparison(comparison),
        "figures": figures(Path(results_dir) / study / "figures", Study(results, summary, data_dir), selection),
        "ranks": average_ranks(results, summary, selection),
        "audit": _audit(found, {"method": methods, "optimum": methods, "dataset": datasets}),
        "seconds": _seconds(trials),
        "trials": _trials(results, shown, data_dir),
        "environment": _environment(trials, protocol),
        "sources": sources(trials),
        "methods": methods,
        "datasets": datasets,
    }


def _paper_tables(paper_name):
    if paper_name is None:
        return []
    specs = [read_table(path.stem) for path in sorted((CONF / "table").glob(f"{paper_name}_table*.yaml"))]
    return sorted(specs, key=lambda spec: ("acc", "nmi", "seconds", "shape").index(spec["metric"]))


def _whole_tables(study, trials, protocol):
    """A table of each metric with every method and data set of the study."""
    order = sorted(trials["method"].unique(), key=lambda name: (name != "all_features", name))
    base = {"paper": None, "published_table": None, "study": study, "protocol": protocol["name"], "published_as": {}}
    columns = sorted(trials["dataset"].unique())
    return [
        {**base, "name": f"all_{metric}", "title": title, "metric": metric, "rows": order, "columns": columns}
        for metric, title in (("acc", "All methods of this study: ACC"), ("nmi", "All methods of this study: NMI"))
    ]


def _table(table, comparison):
    judged = {}
    if comparison is not None:
        for cell in comparison.itertuples():
            judged[cell.table, cell.metric, cell.dataset, cell.method, cell.clusterer] = cell
    rows = []
    for row, label in table.rows.items():
        cells = []
        for column in table.columns:
            cell = table.cell(row, column)
            key = (_published_table(table.name), cell.get("metric"), cell.get("dataset"), *row[:2])
            verdict = judged.get(key)
            cells.append(
                {
                    "ours": ours(cell, HTML),
                    "paper": paper(cell, HTML) if table.has_published(row) else "",
                    "value": "" if pd.isna(cell["mean"]) else f"{cell['mean']:.6g}",
                    "trial": cell.get("trial", "") or "",
                    "size": None if pd.isna(cell.get("n_selected", pd.NA)) else int(cell["n_selected"]),
                    "verdict": verdict.verdict if verdict is not None else "",
                    "why": "; ".join(filter(None, (verdict.reason, verdict.remark))) if verdict is not None else "",
                }
            )
        rows.append({"label": label, "cells": cells})
    return {
        "name": table.name,
        "title": table.title,
        "head": table.head,
        "columns": list(table.columns.values()),
        "rows": rows,
        "notes": table.notes,
        "commands": table.commands,
    }


def _published_table(name):
    """The paper's own name of a table of ours: dgufs_table2 is table2, jgufs_table2_nmi too."""
    path = CONF / "table" / f"{name}.yaml"
    return read_table(name)["published_table"] if path.exists() else None


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
    seconds = trials["fit_s"].sum()
    return {
        **facts,
        "n_trials": len(trials),
        "n_methods": trials["method"].nunique(),
        "n_datasets": trials["dataset"].nunique(),
        "worker_time": f"{seconds / 3600:.1f} hours" if seconds > 5400 else f"{seconds / 60:.0f} minutes",
        "statuses": dict(counts.most_common()),
        "verdicts": {name: verdicts[name] for name in VERDICTS} if verdicts else {},
        "n_cells": sum(verdicts.values()),
        "n_findings": len(found.findings),
        "first": trials["started"].min()[:10],
        "last": trials["started"].max()[:10],
    }


def _comparison(comparison):
    if comparison is None:
        return []
    methods, datasets = unique_names("method", comparison["method"].unique()), names_in_print("dataset")
    far = dict.fromkeys(unreached(comparison).index, "no variant reaches it")
    rows = []
    for cell in comparison[comparison["verdict"] != "not run"].itertuples():
        rows.append(
            {
                "dataset": datasets.get(cell.dataset, cell.dataset),
                "method": methods[cell.method] + (" (learned labels)" if cell.clusterer == "learned" else ""),
                "metric": cell.metric.upper(),
                "published": _score(cell.published_mean, cell.published_std) + ("§" if cell.inherited else ""),
                "ours": _score(cell.mean, cell.std),
                "published_value": cell.published_mean,
                "value": cell.mean,
                "difference": cell.difference,
                "verdict": cell.verdict,
                "why": "; ".join(filter(None, (far.get(cell.Index), cell.reason, cell.explanation, cell.remark))),
                "trial": cell.trial,
            }
        )
    return rows


def _score(mean, std):
    return "" if pd.isna(mean) else f"{mean:.1f}" + ("" if pd.isna(std) else f" ± {std:.1f}")


def _audit(found, names):
    tables = []
    for name, (title, text) in TITLES.items():
        frame = compact(name, found.tables[name]).replace(names)
        frame.columns = [HEADINGS.get(column, column) for column in frame.columns]
        tables.append(
            {"title": title, "text": text, "columns": list(map(str, frame.columns)), "rows": frame.to_numpy().tolist()}
        )
    findings = {
        method: [
            f"{claim}: {in_words([(names['dataset'].get(dataset, dataset), detail) for dataset, detail in places])}"
            for claim, places in claims.items()
        ]
        for method, claims in by_method(found.findings).items()
    }
    return {"findings": findings, "notes": found.notes, "tables": tables}


def _seconds(trials):
    fits = trials[trials["status"] != "failed"]
    rows = []
    for (dataset, method), cell in fits.groupby(["dataset", "method"]):
        seconds = cell["fit_s"]
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "fits": len(cell),
                "values": [seconds.median(), seconds.max(), seconds.sum(), cell["eval_s"].sum(), cell["peak_mb"].max()],
            }
        )
    return rows


def _trials(results, shown, data_dir):
    wanted = results.trials[results.trials["trial"].isin(shown)]
    traces = dict(list(results.traces.groupby("trial")["objective"]))
    scores = dict(list(results.scores.groupby("trial")))
    faces = {dataset: _face(dataset, rows, data_dir) for dataset, rows in wanted.groupby("dataset")}
    nothing = results.scores.iloc[:0]
    return [
        trial_facts(
            row,
            scores.get(row["trial"], nothing),
            np.asarray(traces.get(row["trial"], [])),
            shown[row["trial"]],
            faces[row["dataset"]],
        )
        for row in wanted.to_dict("records")
    ]


def _face(dataset, rows, data_dir):
    """Mean sample and pixel order of a data set of images; None where it is none, or not at hand."""
    try:
        loaded = load_dataset(dataset, data_dir=data_dir, download=False)
    except DataError:
        return None
    if loaded.image_shape is None or set(rows["data_sha"]) != {loaded.sha}:
        return None
    return loaded.image(loaded.X.mean(axis=0)), loaded.pixel_order


def _environment(trials, protocol):
    return {
        "protocol": protocol,
        "code": dict(Counter(trials["git_sha"]).most_common()),
        "versions": dict(Counter(trials["versions"]).most_common()),
        "data": dict(sorted(set(zip(trials["dataset"], trials["data_sha"], strict=True)))),
    }
