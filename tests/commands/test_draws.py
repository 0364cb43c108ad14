"""Random rankings in tables and figures: the mean of their draws, or the best by the labels."""

import numpy as np
import pytest
from frames import frames, study_of
from matplotlib.text import Text

from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.summary import select, summarise
from ufs_bench.runners.experiment.result import _score_lines
from ufs_bench.runners.store.tidy import tidy
from ufs_bench.scripts.core.controls import with_mean_of_draws
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.make_table import study_table
from ufs_bench.scripts.make_table.formats import to_latex, to_markdown


def test_random_rankings_have_the_mean_of_their_draws_or_the_best_by_the_labels():
    rows = [
        {"dataset": "umist", "method": "random_rankings", "params": {"draw": draw}, "is_default": not draw,
         "acc": {50: [0.1, 0.1], 100: acc}}
        for draw, acc in enumerate(([0.2, 0.4], [0.5, 0.5], [0.4, 0.4]))
    ]  # fmt: skip
    rows += [{"dataset": "umist", "method": "mcfs", "acc": {50: [0.1, 0.1], 100: [0.45, 0.45]}}]
    study = study_of(rows)
    mean, best = (study_table(study, name) for name in ("default_params", "best_over_grid"))
    row = ("random_rankings", "kmeans")
    assert mean.rows[row] == "Random (mean of 3)" and best.rows[row] == "Random (best of 3)"
    assert mean.cell(row, "umist")["mean"] == pytest.approx(40) and best.cell(row, "umist")["mean"] == pytest.approx(50)
    assert best.cell(row, "umist")["rank"] == 0 and best.cell(("mcfs", "kmeans"), "umist")["rank"] == 0
    rule = to_markdown(best).splitlines()[3]
    assert [list(table.rows)[-1] for table in (mean, best)] == [row, row] and best.line == 1
    assert to_markdown(best).splitlines()[5] == rule
    assert to_latex(best).count(r"\midrule") == 2
    assert mean.cell(row, "umist")["std"] == pytest.approx(np.sqrt(20**2 / 2 / 3 + 10**2))
    assert mean.cell(row, "umist")["rank"] == 2 and any("mean over their draws" in note for note in mean.below("full"))
    assert mean.cell(("mcfs", "kmeans"), "umist")["mean"] == pytest.approx(45)
    points = select(study.summary, "acc", "default_params", per_size=True)
    points = with_mean_of_draws(points, study, "acc", "default_params", per_size=True)
    np.testing.assert_allclose(points.loc[points["method"] == "random_rankings", "mean"], [10, 40])
    figure = FIGURES["acc_vs_size"](study, "umist", selection="default_params")
    assert "Random (mean)" in [text.get_text() for text in figure.findobj(Text)]


def test_after_a_run_random_rankings_have_the_mean_of_their_draws():
    accs = ([0.2, 0.4], [0.5, 0.7])
    rows = [
        {"dataset": "umist", "method": "random_rankings", "params": {"draw": n}, "is_default": not n, "acc": {100: acc}}
        for n, acc in enumerate(accs)
    ]
    lines = list(_score_lines(percent(summarise(tidy(frames(rows))))))
    assert lines[0].startswith("mean of 2 draws: ACC 45.0 (100 features)")
    assert lines[1].startswith("best of the grid, chosen with the labels: ACC 60.0 ± 14.1 (100 features)")
