"""A paper's table from stored results: ``python -m scripts.make_table --help``."""

import json
import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from metrics.summary import SELECTIONS, check_one_protocol, running_times, select, summarise
from runners.store import load_results
from scripts._conf import CONF, check_names, check_table, names_in_print, read, unique_names
from scripts._dataset_table import make_dataset_table
from scripts._table_formats import to_csv, to_html, to_latex, to_markdown
from scripts._table_notes import commands, notes, overrides_of
from scripts._tables import Table, build_cells
from scripts.published import published_cells

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
        Of scores, one of `metrics.summary.SELECTIONS`; seconds are those of all fits.
    published : DataFrame, optional
        From `scripts.published.load_published`, which is the default.

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


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="make_table")
def main(config):
    """Print the table that `config` describes, or write it to a file."""
    for name, options in (("format", FORMATS), ("selection", SELECTIONS)):
        if config[name] not in options:
            sys.exit(f"{name}={config[name]} must be one of {', '.join(options)}.")
    try:
        spec = config.get("table")
        spec = OmegaConf.to_container(spec, resolve=True) if OmegaConf.is_config(spec) else spec
        check_table(spec, HydraConfig.get().runtime.choices["table"])
        table = make_table(spec, config.results_dir, config.study, config.selection)
    except ValueError as error:
        sys.exit(f"error: {error}")
    text = to_markdown(table, config.width) if config.format == "md" else FORMATS[config.format](table)
    if config.output is None:
        print(text, end="")
        return
    path = Path(config.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    try:  # Hydra would answer a slip in YAML with a traceback
        for file in sorted((CONF / "table").glob("*.yaml")):
            read(file)
    except ValueError as error:
        sys.exit(f"error: {error}")
    main()
