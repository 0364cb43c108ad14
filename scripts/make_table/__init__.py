"""A table from stored results, a study's own or a paper's: ``python -m scripts.make_table --help``."""

import shutil
from dataclasses import replace

from ufs_bench.metrics.study import METRICS, RANDOM
from ufs_bench.metrics.study.seeds import SCORES
from ufs_bench.metrics.study.selections import BY_NAME, LABEL_FREE
from ufs_bench.metrics.study.summary import check_one_protocol, running_times
from ufs_bench.runners.cli.boundary import words_of
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.place import command_on
from ufs_bench.runners.store.fits import load_fits
from ufs_bench.scripts.core.command_lines import fill
from ufs_bench.scripts.core.conf import check_names, printed, unique_names
from ufs_bench.scripts.core.controls import name_of_draws, with_mean_of_draws
from ufs_bench.scripts.core.papers import PAPERS, TableSpec, published_cells
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import NO_LABELS, NOT_RUN, labelled
from ufs_bench.scripts.make_table.formats import to_markdown
from ufs_bench.scripts.make_table.notes import THIN, brief, clustering, details
from ufs_bench.scripts.make_table.table import IS_SHIPPED, NO_MAXIMA, NO_SEEDS, Table, build_cells, make_dataset_table

WIDEST = 120  # characters of a line, also on a wider terminal
TITLES = {
    "acc": "Clustering accuracy (ACC)",
    "nmi": "Normalised mutual information (NMI)",
    "nearest_neighbour": "Accuracy of the nearest neighbour (1-NN)",
    "reconstruction": "Reconstruction of all features",
    "seconds": "Seconds of a fit",
}


def make_table(spec, study, selection="best_over_grid", learned=True):
    """Return the `Table` of a specification from a study, which is not read for a table of shapes.

    `learned` adds a row for the labels that a method learns. A ValueError is about an unknown name, or mixed protocols.
    """
    if spec.metric == "shape":
        return make_dataset_table(spec)
    cells = table_cells(spec, study, selection, learned)
    part = study.part(spec.rows, spec.columns)
    below = details(cells, part, study)
    lines, notes = fill(cells, study, spec.protocol, experiment=study.own_name)
    names = unique_names("method", cells["method"].unique())
    if RANDOM in set(part.trials["method"]) and spec.metric != "seconds":
        names[RANDOM] = name_of_draws(selection, part, spec.columns)
    rows = dict.fromkeys(zip(cells["method"], cells["clusterer"], strict=True))
    sources = {row: spec.printed_row(row[0]) for row in rows}
    short = brief(cells, part, spec.paper, lines)
    if notes:
        below.append(f"Commands: {'; '.join(notes)}.")
    return Table(
        name=spec.name,
        title=spec.title,
        columns={dataset: printed("dataset", dataset) for dataset in spec.columns},
        rows={(method, clusterer): labelled(names[method], clusterer) for method, clusterer in rows},
        sources={row: (source, printed("method", source)) for row, source in sources.items()},
        cells=cells,
        brief=short,
        short=[
            *short[:-1],
            *(note for note in below if note.startswith(THIN)),
            *([] if spec.metric == "seconds" else clustering(part)),
        ],
        details=below,
        commands=lines,
        warning=_departs(spec, study),
    )


def study_table(study, selection="best_over_grid", metric=None, variants=True, **given):
    """Return the table of what a study stores, methods by data sets; parameters as for `own_spec`.

    Without `variants` it has one variant of each method, unless `given` names rows, and no learned labels.
    """
    if not variants and given.get("rows") is None:
        from ufs_bench.scripts.rank.choice import choose  # here, as it imports what the tests of ranks need

        chosen = choose(study)
        given["rows"] = [*chosen.controls, *chosen.methods]
    spec = own_spec(study, metric, **given)
    origin = "" if given.get("title") else f"study {study.title}, protocol {study.protocol['name']}"
    return replace(make_table(spec, study, selection, variants), origin=origin)


def printed_methods(spec):
    """Return the specification of a paper's table with the methods that the paper prints, and no variants of them."""
    if spec.paper is None or spec.metric == "shape":
        return spec
    known = set(published_cells(spec.paper, spec.published_table, spec.metric).index.get_level_values("method"))
    # The paper may print nothing of another metric than the table's own.
    rows = [row for row in spec.rows if row not in spec.published_as and (row in known or not known)]
    return replace(spec, rows=rows)


def own_spec(study, metric=None, **given):
    """Return the specification of a table of a study, or of given rows and columns, of its first metric by default."""
    if metric is None:
        metric = next((name for name in METRICS if study.summary[f"{name}_mean"].notna().any()), "acc")
    own = {
        "name": study.own_name,
        "title": TITLES[metric],
        "rows": sorted(study.trials["method"].unique(), key=lambda name: (name != "all_features", name)),
        "columns": sorted(study.trials["dataset"].unique()),
    }
    own |= {key: value for key, value in given.items() if value is not None}
    return TableSpec(**own, metric=metric, study=study.name, protocol=study.protocol["name"])


def _departs(spec, study):
    """Return a sentence where the protocol of a study is not that of the paper of a table; "" elsewhere."""
    if spec.paper is None or not (differences := study.departures(spec.paper)):
        return ""
    return (
        f"Study {study.title} was not run under the protocol of the {PAPERS[spec.paper]} paper, so Δ is no measure of "
        f"how well the paper reproduces: {differences}."
    )


def table_cells(spec, study, selection="best_over_grid", learned=True):
    """Return the cells of a table of scores or seconds, as `build_cells` does; parameters as for `make_table`."""
    for group, names in (("method", spec.rows), ("dataset", spec.columns)):
        check_names(group, names, study.trials[group].unique())
    part = study.part(spec.rows, spec.columns)
    if spec.metric == "seconds":
        check_one_protocol(part.trials)
        chosen, selection, maxima, seeds = running_times(part.trials), "all_fits", NO_MAXIMA, NO_SEEDS
    else:
        chosen = with_mean_of_draws(part.select(spec.metric, selection), study, spec.metric, selection)
        maxima = study.maxima(spec.metric) if BY_NAME[selection].oracle else NO_MAXIMA
        names = {f"{spec.metric}_{what}": f"seed_{what}" for what in ("mean", "std")}
        seeds = study.seeds.rename(columns=names)[list(NO_SEEDS)] if spec.metric in SCORES else NO_SEEDS
    beside = published_cells(spec.paper, spec.published_table, spec.metric)
    learned = learned and spec.metric in SCORES  # clusters have no other scores than these
    cells = build_cells(spec, study.name, chosen, beside, selection, maxima, seeds, learned)
    taken = [cell in study.taken for cell in zip(cells["dataset"], cells["method"], strict=True)]
    cells.loc[taken, "study"] += IS_SHIPPED
    if spec.metric not in ("seconds", *LABEL_FREE):
        scores = study.summary[study.summary["n_restarts"] > 0].groupby("dataset")["acc_mean"].count()
        unlabelled = cells["dataset"].isin(scores.index[scores == 0])
        cells.loc[unlabelled & (cells["status"] == NOT_RUN), "status"] = NO_LABELS
    return cells


def print_table(folder, cells):
    """Print after a run the scores of some cells of a study, (data set, method), as far as stored.

    False is returned where it cannot, or where a cell of the study is damaged, which is named and left out.
    """
    results_dir, study, damaged = folder.parent, folder.name, []
    try:
        datasets, methods = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
        fits = load_fits(results_dir, study, damaged=damaged)
        for error in damaged:
            print(f"not in the table: {error}")
        part = Study.of(study, fits, results_dir).part(set(methods), set(datasets))
        if part.trials.empty:  # a line for each cell says why
            return not damaged
        stored = {group: set(part.trials[group]) for group in ("dataset", "method")}
        columns = [name for name in datasets if name in stored["dataset"]]
        rows = [name for name in methods if name in stored["method"]]
        table = study_table(part, rows=rows, columns=columns)
    except (ValueError, StoreError, OSError) as error:
        print(f"no table: {words_of(error) or error}")
        return False
    text = to_markdown(table, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns), notes="short")
    print(f"\n{text}")
    print(f"With notes=full, or as format=csv or latex: {command_on('make_table', folder)}")
    return not damaged
