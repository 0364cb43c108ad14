"""Every published score beside the reproduced ones, with a verdict: ``python -m scripts.compare --help``."""

import json
import sys
from pathlib import Path

import hydra
import pandas as pd

from metrics.summary import SELECTIONS
from runners.store import load_results
from scripts._comparison_text import to_markdown
from scripts._conf import CONF, read, read_table
from scripts._explanations import explain_cells
from scripts._tables import POOR
from scripts._verdicts import judge
from scripts.make_table import make_table
from scripts.published import PAPERS

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
        Keys of `scripts.published.PAPERS`; all by default.
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
        `scripts._verdicts.verdict` and `judge`.  explanation: what is known of a cell that differs.  remark: what else
        to know of the cell, such as a collapsed fit.  departs: how the study's protocol is not the paper's; of a
        coarse grid, only "higher" is final.
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


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="compare")
def main(config):
    """Print the comparison that `config` describes, or write it to a file."""
    options = {
        "format": ("md", "csv"),
        "selection": SELECTIONS,
        "paper": (*PAPERS, None),
        "quick": (True, False),
        "summary": (True, False),
    }
    for name, allowed in options.items():
        if config[name] not in allowed:
            sys.exit(f"{name}={config[name]} must be one of {', '.join(map(str, allowed))}.")
    papers = [config.paper] if config.paper else list(PAPERS)
    studies = {paper: config.study or f"{paper}{'_quick' if config.quick else ''}" for paper in papers}
    try:
        comparison = compare(config.results_dir, papers, studies, config.selection)
    except ValueError as error:
        sys.exit(f"error: {error}")
    if config.format == "csv":
        text = comparison.to_csv(index=False, float_format="%.4f", lineterminator="\n")
    else:
        text = to_markdown(comparison, config.summary)
    if config.output is None:
        print(text, end="")
        return
    path = Path(config.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
