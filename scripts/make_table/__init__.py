"""A paper's table from stored results: ``python -m scripts.make_table --help``."""

from metrics.study.seeds import SCORES
from metrics.study.selections import BY_NAME
from metrics.study.summary import check_one_protocol, running_times
from scripts.core.command_lines import fill
from scripts.core.conf import check_names, printed, unique_names
from scripts.core.published import published_cells
from scripts.core.words import labelled
from scripts.make_table.dataset_table import make_dataset_table
from scripts.make_table.formats import to_csv, to_html, to_latex, to_markdown
from scripts.make_table.notes import notes
from scripts.make_table.seed_notes import seed_notes
from scripts.make_table.table import NO_MAXIMA, NO_SEEDS, Table, build_cells

FORMATS = {"md": to_markdown, "csv": to_csv, "latex": to_latex, "html": to_html}


def make_table(spec, study, selection="best_over_grid", published=None):
    """Build a table from the results of a study.

    Parameters
    ----------
    spec : TableSpec
    study : Study
        Not read for a table of shapes.
    selection : str, default="best_over_grid"
        For scores, one of `metrics.study.summary.SELECTIONS`; seconds are those of all fits.
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
    if spec.metric == "shape":
        return make_dataset_table(spec)
    cells = table_cells(spec, study, selection, published)
    part = study.part(spec.rows, spec.columns)
    lines, unknown = fill(cells, part, spec.protocol, experiment=study.name)
    below = notes(cells, part, spec.paper) + seed_notes(cells, study)
    if lines:
        below.append("The commands below run what is missing and repeat what failed.")
    if unknown:
        below.append(f"Not in conf/, and so without a command: {', '.join(unknown)}.")
    return Table(
        name=spec.name,
        title=spec.title,
        columns={dataset: printed("dataset", dataset) for dataset in spec.columns},
        rows=_row_labels(cells),
        cells=cells,
        notes=below,
        commands=lines,
    )


def table_cells(spec, study, selection="best_over_grid", published=None):
    """Return the cells of a table of scores or seconds, without title and notes; parameters as for `make_table`.

    Returns
    -------
    DataFrame
        From `scripts.make_table.table.build_cells`.
    """
    for group, names in (("method", spec.rows), ("dataset", spec.columns)):
        check_names(group, names, study.trials[group].unique())
    part = study.part(spec.rows, spec.columns)
    if spec.metric == "seconds":
        check_one_protocol(part.trials)
        chosen, selection, maxima, seeds = running_times(part.trials), "all_fits", NO_MAXIMA, NO_SEEDS
    else:
        chosen = part.select(spec.metric, selection)
        chosen = chosen.assign(mean=100 * chosen["mean"], std=100 * chosen["std"])
        maxima = study.maxima(spec.metric) if BY_NAME[selection].oracle else NO_MAXIMA
        maxima = maxima.assign(random_best=100 * maxima["random_best"])
        seeds = _seeds(study, spec.metric)
    beside = published_cells(spec.paper, spec.published_table, spec.metric, published)
    return build_cells(spec, study.name, chosen, beside, selection, maxima, seeds)


def _seeds(study, metric):
    if metric not in SCORES:
        return NO_SEEDS
    found = {"seed_std": 100 * study.seeds[f"{metric}_std"], "seed_mean": 100 * study.seeds[f"{metric}_mean"]}
    return study.seeds.assign(**found)[list(NO_SEEDS)]


def _row_labels(cells):
    names = unique_names("method", cells["method"].unique())
    rows = dict.fromkeys(zip(cells["method"], cells["clusterer"], strict=True))
    return {(method, clusterer): labelled(names[method], clusterer) for method, clusterer in rows}
