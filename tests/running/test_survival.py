"""Stored results survive when a run is killed or disturbed; refits, too."""

import json

import pytest
from fits import config
from frames import load_all

from ufs_bench.runners.errors import StoreError
from ufs_bench.runners.experiment.cell import Cell
from ufs_bench.runners.store.fits import Store
from ufs_bench.scripts.core import refits


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


def test_a_damaged_file_of_repeated_fits_is_named(tmp_path):
    path = tmp_path / "stability.csv"
    line = "k,d,m,none,0,5,converged,"
    path.write_text(",".join(refits.COLUMNS[refits.STABILITY]) + f'\n{line}"[1, 2]",ab\n')
    assert json.loads(refits.read(path)["features"].iloc[0]) == [1, 2]
    for text in (f"k,d\n{line}\n", path.read_text().replace(",5,", ",five,"), "\0", ""):
        path.write_text(text)
        with pytest.raises(StoreError, match="stability.csv is damaged .*restore it, or remove it"):
            refits.read(path)
    assert refits.read(tmp_path / "none/stability.csv").empty
