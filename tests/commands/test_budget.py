"""Hours of whole experiments, from the fits that are stored."""

import runpy
import sys

import numpy as np
import pytest
from frames import frames, store

from runners.experiment.sweep import cells_of_words
from runners.store import reference
from scripts import budget as hours


def test_a_budget_counts_what_is_stored_and_estimates_the_rest(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reference, "SHIPPED", tmp_path / "none")
    trials = [
        {"method": "laplacian_score", "dataset": "umist", "params": {"n_neighbors": 5, "width": 1.0}, "fit_s": 36.0},
        {"method": "mcfs", "dataset": "orl", "params": {}, "fit_s": 7.2},
    ]
    store(frames([{"acc": {50: [0.5]}, **trial} for trial in trials], study="s"), tmp_path)
    cells = hours.budget("dgufs", tmp_path, all_data=True)[0].set_index(["method", "dataset"])
    own = cells.loc[("laplacian_score", "umist")]
    assert own["fits"] >= 1 and own["hours"] == pytest.approx(own["fits"] * 36.5 / 3600)  # half a second of evaluation
    other = cells.loc[("mcfs", "umist")]
    factor = (575 * 644 / (400 * 1024)) ** 1.5
    assert other["measured"] == 0 and other["hours"] == pytest.approx(other["fits"] * 7.7 * factor / 3600)
    assert np.isnan(cells.loc[("dgufs", "umist"), "hours"])
    monkeypatch.setattr(sys, "argv", ["budget", "dgufs", "--all-data", "--results-dir", str(tmp_path)])
    hours.main()
    assert "cells are of unknown time" in capsys.readouterr().out
    capped = hours.budget("dgufs", tmp_path, all_data=True, max_seconds=6.0)[0].set_index(["method", "dataset"])
    assert capped.loc[("laplacian_score", "umist"), "hours"] == pytest.approx(own["fits"] * 6 / 3600)
    assert capped.loc[("laplacian_score", "umist"), "ended"] == 1
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--max-seconds", "6"])
    hours.main()
    assert "; 100.0% of them end at 6 s" in capsys.readouterr().out


def test_a_budget_of_a_fresh_clone_counts_the_shipped_fits(tmp_path):
    cells = hours.budget("dgufs", tmp_path, all_data=True, max_seconds=60.0)[0]
    known = cells["method"].isin(cells.loc[cells["measured"] > 0, "method"])
    assert cells.loc[known, "hours"].notna().all() and known.sum() > 40
    own = cells.set_index(["method", "dataset"]).loc[("mcfs", "umist")]
    assert own["measured"] > 0 and own["ended"] == 0


def test_a_budget_leaves_out_data_sets_that_are_not_here(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(hours, "at_hand", lambda name, _: name == "umist")
    cells, absent, _ = hours.budget("dgufs", tmp_path)
    assert set(cells["dataset"]) == {"umist"}
    assert "pie10p" in absent and "umist" not in absent
    monkeypatch.setattr(hours, "at_hand", lambda *_: False)
    monkeypatch.setattr(sys, "argv", ["budget", "dgufs", "--results-dir", str(tmp_path)])
    with pytest.raises(SystemExit, match="None of the data sets .*--all-data"):
        hours.main()


def test_a_budget_names_the_cells_whose_method_refuses_the_data_set(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(hours, "at_hand", lambda name, _: name in {"pie10p", "digits"})
    words = ["experiment=fair", "method=spca_psd,max_variance", f"results_dir={tmp_path}"]
    monkeypatch.setattr(hours, "cells_of_experiment", lambda *_: cells_of_words(*words))
    cells, _, refused = hours.budget("fair", tmp_path)
    assert refused == ["spca_psd on pie10p"] and len(cells) == 3
    monkeypatch.setattr(sys, "argv", ["budget", "fair", "--results-dir", str(tmp_path)])
    hours.main()
    assert "left out, as the method refuses the data set: spca_psd on pie10p" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["budget", "claims"])
def test_a_command_that_was_a_benchmark_says_where_it_is_now(name):
    with pytest.raises(SystemExit, match=f"python -m scripts.{name}"):
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
