"""Methods ranked over the data sets of a study: ``python -m scripts.ranks --help``."""

import sys
from pathlib import Path

import hydra
import numpy as np

from metrics.summary import SELECTIONS, summarise
from runners.store import load_results
from scripts._conf import CONF, names_in_print, unique_names
from scripts._missing import MissingResults, fill, no_results, with_commands
from scripts._ranking import rank_study
from scripts._table_formats import pipes


def to_markdown(ranking, names, heading, alpha=0.05):
    """The ranks, the tests, and the p of every pair.

    Parameters
    ----------
    ranking : Ranking
    names : dict
        Method -> name in print.
    heading : str
        What is ranked.
    alpha : float, default=0.05

    Returns
    -------
    str
    """
    table, comparison = ranking.table, ranking.comparison
    n_datasets, n_methods = ranking.scores.shape
    lines = [f"## {heading}", "", f"{n_methods} methods on {n_datasets} data sets: {_datasets(ranking)}.", ""]
    rows = [
        [names[method], f"{row.average_rank:.2f}", _interval(row), str(int(row.wins))]
        for method, row in zip(table.index, table.itertuples(), strict=True)
    ]
    lines += [pipes([["Method", "Average rank", "95 % interval", "Wins"], *rows]), ""]
    lines.append(
        "* 1 is the best; ties share the mean of their places. The interval is a bootstrap over the K-means restarts, "
        "which are averaged before the data sets: it holds these data sets and this choice of parameters fixed."
    )
    if comparison.nemenyi is not None:
        verdict = "they differ" if comparison.friedman_p < alpha else "they may all be alike"
        lines += [
            f"* Friedman: chi-squared {comparison.friedman:.2f}, p {_p(comparison.friedman_p, '= ')}: {verdict}.",
            f"* Nemenyi: ranks differ at {alpha:g} when more than {comparison.critical_difference:.2f} apart.",
        ]
    if comparison.wilcoxon_holm is None:
        lines.append(
            f"* Wilcoxon-Holm is left out: with {n_methods} methods no pair can reach {alpha:g} on {n_datasets} data "
            f"sets, whatever the scores; it takes {comparison.needed}, or fewer methods."
        )
    for title, matrix in (("Nemenyi", comparison.nemenyi), ("Wilcoxon-Holm", comparison.wilcoxon_holm)):
        if matrix is not None:
            lines += [
                "",
                f"p of every pair, {title} (bold: below {alpha:g})",
                "",
                _matrix(matrix, table, names, alpha),
            ]
    return "\n".join(lines) + "\n"


def _datasets(ranking):
    printed = names_in_print("dataset")
    return ", ".join(printed.get(name, name) for name in ranking.scores.index)


def _interval(row):
    return "" if np.isnan(row.low) else f"{row.low:.2f} to {row.high:.2f}"


def _matrix(matrix, table, names, alpha):
    order = list(table.index)
    rows = []
    for place, first in enumerate(order[:-1]):
        texts = [_p(matrix.loc[first, second]) for second in order[place + 1 :]]
        marked = [
            f"**{text}**" if matrix.loc[first, second] < alpha else text
            for text, second in zip(texts, order[place + 1 :], strict=True)
        ]
        rows.append([names[first], *[""] * place, *marked])
    return pipes([["", *[names[name] for name in order[1:]]], *rows])


def _p(value, sign=""):
    return "< 0.001" if value < 0.001 else f"{sign}{value:.3f}"


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="ranks")
def main(config):
    """Print the ranks that `config` describes, or write them to a file."""
    if config.format not in ("md", "csv"):
        sys.exit(f"format={config.format} must be md or csv.")
    if config.selection not in SELECTIONS:
        sys.exit(f"selection={config.selection} must be one of {', '.join(SELECTIONS)}.")
    results = load_results(config.results_dir, study=config.study)
    if results.trials.empty:
        sys.exit(f"error: {no_results(config.results_dir, config.study)}")
    settings = {name: config[name] for name in ("metric", "selection", "clusterer", "partial", "alpha")}
    chosen = {name: None if config[name] is None else list(config[name]) for name in ("methods", "datasets")}
    try:
        ranking = rank_study(results, summarise(results.trials, results.scores), **chosen, **settings)
    except MissingResults as error:
        lines = fill(error.cells, results.trials, config.study, config.study)
        sys.exit(with_commands(error, lines))
    except ValueError as error:
        sys.exit(f"error: {error}")
    heading = f"Ranks of study {config.study}: {config.metric.upper()}, {config.selection}, {config.clusterer}"
    if config.format == "csv":
        text = ranking.table.rename_axis("method").to_csv()
    else:
        text = to_markdown(ranking, unique_names("method", ranking.table.index), heading, config.alpha)
    if config.output is None:
        print(text, end="")
        return
    path = Path(config.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
