"""The first look at a cell: its scores, what its paper prints, and what a fit that learned nothing selects."""

import numpy as np
import pandas as pd
from fits import config

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.experiment.result import _paper_line, collapsed_line
from ufs_bench.runners.experiment.sweep import cells_of_words

RSR = {"name": "rsr", "target": "methods.rsr.RSR", "params": {"lambda_": 1.0}, "grid": {"lambda_": [1.0, 1e9]}}


def printed(caplog, settings):
    with caplog.at_level("INFO"):
        Cell(settings).run()
    return [line.strip() for line in caplog.messages]


def test_the_default_parameters_come_first_and_short_runs_say_nothing_of_overhead(tmp_path, caplog):
    lines = printed(caplog, config(tmp_path))
    first = next(place for place, line in enumerate(lines) if line.startswith("default parameters: ACC "))
    assert lines[first + 1].startswith("best of the grid, chosen with the labels: ACC ")
    assert not [line for line in lines if "overhead" in line]


def test_the_number_of_the_paper_stands_below_ours_under_its_protocol_alone():
    words = "method=mcfs", "dataset=pie10p"
    lines = [_paper_line(*cells_of_words(*words, more)) for more in ("protocol=dgufs", "protocol=fair")]
    assert "prints, best of its grid: ACC 44.3 ± 3.2 (50 features), NMI 54.3 ± 3.4 (50 features)" in lines[0]
    assert lines[1] == _paper_line(*cells_of_words(*words, "protocol=dgufs", "protocol.restarts=3")) == ""
    (learned,) = cells_of_words("method=dgufs", "dataset=pie10p", "protocol=dgufs")
    assert "labels that the method learns: ACC 51.9" in _paper_line(learned)


def test_a_collapsed_fit_says_what_is_selected_and_has_no_scores(tmp_path, caplog):
    lines = printed(caplog, config(tmp_path, method=RSR | {"grid": {"lambda_": [1e9]}, "params": {"lambda_": 1e9}}))
    assert "learned nothing in 1 of 1 fits; the ranking is the order of the columns (docs/methods/rsr.md)" in lines
    assert not [line for line in lines if "ACC" in line]


def test_scores_are_those_of_the_fits_that_learned_something(tmp_path, caplog):
    lines = printed(caplog, config(tmp_path, method=RSR | {"params": {"lambda_": 1e9}}))
    (collapsed,) = [line for line in lines if line.startswith("learned nothing")]
    assert collapsed.startswith("learned nothing in 1 of 2 fits, the default parameters among them; ")
    assert not [line for line in lines if line.startswith("default parameters")]
    assert [line for line in lines if line.startswith("best of the grid")]


def test_dgufs_names_its_control_and_its_repair():
    (settings,) = cells_of_words("method=dgufs", "dataset=mnist500", "protocol=dgufs")
    X = np.random.default_rng(0).normal(size=(20, 8)) * np.array([3, 1, 4, 2, 8, 5, 7, 6])
    row = {"status": "collapsed", "ranking": "[1, 3, 0]", "sizes": "[1, 3]", "is_default": True}
    line = collapsed_line(settings, pd.DataFrame([row]), X)
    assert "the ranking is that of min_norm (docs/methods/dgufs.md); our repair is method=dgufs_normalized" in line
    other = collapsed_line(settings, pd.DataFrame([row | {"ranking": "[4, 6, 7]"}]), X)
    assert other == "learned nothing in 1 of 1 fits (docs/methods/dgufs.md); our repair is method=dgufs_normalized"
    assert collapsed_line(settings, pd.DataFrame([row | {"status": "converged"}]), X) == ""
