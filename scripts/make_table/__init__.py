"""A paper's table from stored results: ``python -m scripts.make_table --help``."""

import json

from metrics.study.summary import check_one_protocol, running_times, select, summarise
from runners.store import load_results
from scripts.core.commands import commands, overrides_of
from scripts.core.conf import CONF, check_names, names_in_print, read, unique_names
from scripts.core.published import published_cells
from scripts.make_table.dataset_table import make_dataset_table
from scripts.make_table.formats import to_csv, to_html, to_latex, to_markdown
from scripts.make_table.notes import notes
from scripts.make_table.table import Table, build_cells

FORMATS = {"md": to_markdown, "csv": to_csv, "latex": to_latex, "html": to_html}


def make_table(spec, results_dir, study, selection="best_over_grid", published=None):
    """Build a table from the results of a study.

    Parameters
    ----------
    spec : Mapping
        A file of conf/table: name, title, paper, published_table, metric, study, protocol, rows, columns, published_as.
        metric is "acc", "nmi", "seconds" (of a fit) or "shape" (of the data sets; no results are read).
    results_dir : path
    study : str
    selection : str, default="best_over_grid"
        Of scores, one of `metrics.study.summary.SELECTIONS`; seconds are those of all fits.
    published : DataFrame, optional
        From `scripts.core.published.load_published`, which is the default.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        For an unknown selection, method or data set, or a study that mixes protocols.
    """
    if spec["metric"] == "shape":
        return make_dataset_table(spec)
    results = load_results(results_dir, study=study)
    for group, names in (("method", spec["rows"]), ("dataset", spec["columns"])):
        check_names(group, names, results.trials[group].unique())
    wanted = results.trials["method"].isin(spec["rows"]) & results.trials["dataset"].isin(spec["columns"])
    trials = results.trials[wanted]
    if spec["metric"] == "seconds":
        check_one_protocol(trials)
        chosen, selection = running_times(trials), "all_fits"
    else:
        summary = summarise(trials, results.scores[results.scores["trial"].isin(trials["trial"])])
        chosen = select(summary, spec["metric"], selection)
        chosen = chosen.assign(mean=100 * chosen["mean"], std=100 * chosen["std"])
    printed = published_cells(spec["paper"], spec["published_table"], spec["metric"], published)
    cells = build_cells({**spec, "study": study}, chosen, printed, selection)

    protocol_name, overrides = _protocol(spec, trials)
    methods, datasets = (names_in_print(group) for group in ("method", "dataset"))
    lines, unknown = commands(cells, study, protocol_name, overrides, methods, datasets, experiment=study)
    below = notes(cells, selection, study, trials, spec["paper"])
    if lines:
        below.append("The commands below run what is missing and repeat what failed.")
    if unknown:
        below.append(f"Not in conf/, and so without a command: {', '.join(unknown)}.")
    return Table(
        name=spec["name"],
        title=spec["title"],
        columns={dataset: datasets.get(dataset, dataset) for dataset in spec["columns"]},
        rows=_row_labels(cells),
        cells=cells,
        notes=below,
        commands=lines,
    )


def _protocol(spec, trials):
    """Name of the protocol that fills the table, and how the stored one departs from its file."""
    if trials.empty:
        return spec["protocol"], []
    stored = json.loads(trials["protocol"].iloc[0])
    path = CONF / "protocol" / f"{stored['name']}.yaml"
    return stored["name"], overrides_of(read(path), stored) if path.exists() else []


def _row_labels(cells):
    names = unique_names("method", cells["method"].unique())
    rows = dict.fromkeys(zip(cells["method"], cells["clusterer"], strict=True))
    return {
        (method, clusterer): names[method] + (" (learned labels)" if clusterer == "learned" else "")
        for method, clusterer in rows
    }
