"""Stored results survive when a run is killed or disturbed."""

import pytest
from fits import config
from frames import load_all

from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.store.fits import Store


def stop_after(monkeypatch, count):
    """Let a run end as by Ctrl-C once it has stored `count` times."""
    original, calls = Store.append, []

    def append(self, lines):
        if lines:
            if len(calls) == count:
                raise KeyboardInterrupt
            calls.append(1)
        original(self, lines)

    monkeypatch.setattr(Store, "append", append)


def test_a_redo_that_is_cut_off_loses_nothing(tmp_path, monkeypatch):
    Cell(config(tmp_path)).run()
    cell = tmp_path / "s/digits/laplacian_score"
    before, started = (cell / "scores.csv").read_text(), set(load_all(tmp_path).trials["fit_s"])
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        stop_after(patch, 1)
        Cell(config(tmp_path, redo=True)).run()
    assert sorted((cell / "scores.csv").read_text().splitlines()) == sorted(before.splitlines())
    assert len(load_all(tmp_path).trials) == 4
    Cell(config(tmp_path, redo=True)).run()
    assert not started & set(load_all(tmp_path).trials["fit_s"])
    assert sorted((cell / "scores.csv").read_text().splitlines()) == sorted(before.splitlines())
