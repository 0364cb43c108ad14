"""The power of the five lines of a comparison: ``python -m benchmarks.lines``.

The published values stand for ours, with noise, on the cells that docs/reproduction.md weighs: how often copies pass
each line, how often studies pass whose methods have a quality of their own that has nothing to do with the paper, and
the ceiling of the cells that agree.  Errors are those of K-means, with the paper's std on both sides, and of no seed.
"""

import functools

import numpy as np

from scripts.compare import compare_studies, open_studies, shipped_names
from scripts.compare.columns import AGREES, columns_of, equivalence, orders_of
from scripts.compare.evidence import (
    LEVEL,
    LINES,
    N_COPIES,
    N_ORDERS_OF_COPIES,
    noise_of_half,
    p_values,
    passes,
    spread,
    values,
)
from scripts.compare.headline import weighed
from scripts.core.conf import find
from scripts.core.programs import parser_of
from scripts.core.published import PAPERS
from scripts.core.text import pipes

QUALITY = 3.0  # points, std of the quality of methods unrelated to the paper; their noise has a std of 1
NOISE = (1.0, 2.0, 3.0)
TOLD = 0.8  # share of copies from which on a line is counted as one that can tell


@functools.cache
def _weighed():
    """Return the cells that the lines of docs/reproduction.md weigh, by paper."""
    return weighed(compare_studies(open_studies(None, shipped_names())))


def perfect_cells(paper):
    """Return the cells that the lines of a paper weigh, with the published values in the place of ours."""
    cells, restarts = _weighed()[paper], find("protocol", paper)["restarts"]
    return cells.assign(
        mean=cells["published_mean"], std=cells["published_std"], n_restarts=restarts, published_n=restarts,
        all_mean=cells["published_all"], seed_std=np.nan, group_error=np.nan,
    )  # fmt: skip


def false_passes(columns, n_studies=N_COPIES):
    """Estimate, by line, how often studies whose methods have a quality unrelated to the paper's have p <= `LEVEL`."""
    rng = np.random.default_rng(0)
    quality = QUALITY * rng.normal(size=(n_studies, 1, len(columns.methods)))
    ours = columns.published_all[:, None] + quality + rng.normal(size=(n_studies, *columns.published.shape))
    found = values(columns, ours, orders_of(len(columns.methods), N_ORDERS_OF_COPIES))
    return {name: float((p_values(found[name]) <= LEVEL).mean()) for name in LINES}


def ceiling(columns):
    """Return the share of the cells in which a perfect copy agrees."""
    margin = np.abs(columns.published - columns.published_all[:, None]) / 2
    known = np.isfinite(columns.published)
    return float((equivalence(0.0, columns.error, margin) == AGREES)[known].mean())


def main():
    """Print the two tables."""
    parser_of("benchmarks.lines", __doc__).parse_args()
    rows = [["Paper", "Cells", "Orders", *LINES, "Can tell", "Half pass", "Spread", "Agree, at most"]]
    noisy = [["Paper", "Ours are", *LINES, "None", "Three or more"]]
    for paper, title in PAPERS.items():
        cells = perfect_cells(paper)
        columns = columns_of(cells)
        orders = len(orders_of(len(columns.methods), N_ORDERS_OF_COPIES))
        power = passes(columns, columns.error, N_COPIES).mean(axis=0)
        told = sum(power >= TOLD)
        shares = [f"{share:.2f}" for share in power]
        rest = [f"{noise_of_half(columns):.1f}", f"{spread(columns):.2f}", f"{ceiling(columns):.0%}"]
        rows.append([title, str(len(cells)), str(orders), *shares, f"{told} of {len(LINES)}", *rest])
        for noise in NOISE:
            passed = passes(columns, noise, N_COPIES)
            shares = [*passed.mean(axis=0), (passed.sum(axis=1) == 0).mean(), (passed.sum(axis=1) >= 3).mean()]
            noisy.append([title, f"published, noise {noise:g}", *(f"{share:.2f}" for share in shares)])
        shares = [f"{share:.3f}" for share in false_passes(columns).values()]
        noisy.append([title, "of a quality of their own", *shares, "", ""])
    print(f"Share of {N_COPIES} copies that pass a line, with noise of the standard error of each cell:\n")
    print(
        f"{pipes(rows)}\n\nShare of as many that pass with other noise, and of studies that are none:\n\n{pipes(noisy)}"
    )


if __name__ == "__main__":
    main()
