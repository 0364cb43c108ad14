"""The ranks of a study as a page of Markdown."""

import numpy as np

from scripts.core.conf import printed
from scripts.core.text import pipes


def ranks_page(ranking, names, heading, alpha=0.05):
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
    datasets = ", ".join(printed("dataset", name) for name in ranking.scores.index)
    lines = [f"## {heading}", "", f"{n_methods} methods on {n_datasets} data sets: {datasets}.", ""]
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
