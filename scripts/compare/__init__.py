"""Every published score beside the reproduced ones, with a verdict: ``python -m scripts.compare --help``."""

import json

import pandas as pd

from runners.store import load_results
from scripts.compare.explanations import explain_cells
from scripts.compare.verdicts import judge
from scripts.core.conf import CONF, read, read_table
from scripts.core.published import PAPERS
from scripts.core.words import POOR
from scripts.make_table import make_table

COLUMNS = (
    "paper table metric dataset published_method method clusterer published_mean published_std published_n_features "
    "inherited mean std n_selected difference common_std verdict reason explanation remark departs status trial_status "
    "params trial study selection"
).split()


def compare(results_dir, papers=None, studies=None, selection="best_over_grid"):
    """Compare every published ACC and NMI with what every variant of its method gives here.

    Parameters
    ----------
    results_dir : path
    papers : iterable of str, optional
        Keys of `scripts.core.published.PAPERS`; all by default.
    studies : Mapping, optional
        Paper -> study; the study of the paper's name by default.
    selection : {"best_over_grid", "default_params", "grid_median"}, default="best_over_grid"
        The papers print the first.

    Returns
    -------
    DataFrame
        One row per published cell, variant of its method in conf/table, and clusterer, in the order of the tables;
        scores in percent.  table is that of the paper, published_method the printed row, inherited as in
        `scripts.published.mark_inherited`, status as in `scripts.make_table`.  verdict and reason: see
        `scripts.compare.verdicts.verdict` and `judge`.  explanation: what is known of a cell that differs.
        remark: what else to know of the cell, such as a collapsed fit.  departs: how the study's protocol is not the
        paper's; of a coarse grid, only "higher" is final.
    """
    papers = list(PAPERS) if papers is None else list(papers)
    frames = []
    for paper in papers:
        study = (studies or {}).get(paper, paper)
        departs = _departures(results_dir, paper, study)
        for spec in _tables(paper):
            cells = make_table(spec, results_dir, study, selection).cells
            cells = cells[cells["published_mean"].notna()]
            cells = cells.assign(
                paper=paper,
                table=spec["published_table"],
                published_method=cells["method"].map(lambda name, spec=spec: spec["published_as"].get(name, name)),
                remark=[_remark(cell) for cell in cells.itertuples()],
                departs=departs,
                study=study,
            )
            frames.append(cells)
    judged = judge(pd.concat(frames, ignore_index=True))
    return judged.assign(explanation=explain_cells(judged))[COLUMNS]


def _tables(paper):
    specs = [read_table(path.stem) for path in sorted((CONF / "table").glob(f"{paper}_table*.yaml"))]
    return [spec for spec in specs if spec["metric"] in ("acc", "nmi")]


def _departures(results_dir, paper, study):
    """How the protocol of a study departs from that of the paper, in words."""
    trials = load_results(results_dir, study=study).trials
    if trials.empty:
        return ""
    stored, wanted = json.loads(trials["protocol"].iloc[0]), read(CONF / "protocol" / f"{paper}.yaml")
    names = [name for name in {**wanted, **stored} if stored.get(name) != wanted.get(name)]
    return ", ".join(f"{name} {stored.get(name)}" for name in names)


def _remark(cell):
    parts = ["some grid points or sizes are missing"] if cell.status == "partial" else []
    parts += [f"the fit {cell.trial_status}"] if cell.trial_status in POOR else []
    return "; ".join(parts)
