"""The command of an installed suite; `.ci/wheel` builds the wheel, and uses it in an empty environment."""

import os
import runpy
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
import setuptools

from ufs_bench import command, run
from ufs_bench.runners import place
from ufs_bench.runners.experiment.settings import RUNNER
from ufs_bench.runners.messages import ConfigError, StoreError
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.parquet import read_frame

ROOT = Path(__file__).resolve().parents[2]
SUITE = str(ROOT / "run.py")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["-P", SUITE, "--help"]),
        (["mcfs"], ["-P", SUITE, "mcfs"]),
        (["method=mcfs", "data=my.csv"], ["-P", SUITE, "method=mcfs", "data=my.csv"]),
        (["make_table", "study=my"], ["-P", "-m", "ufs_bench.scripts.make_table", "study=my"]),
        (["cite", "study=my"], ["-P", "-m", "ufs_bench.scripts.cite", "study=my"]),
        (["core"], ["-P", SUITE, "core"]),
        (["-m", "method=mcfs,rufs"], ["-P", SUITE, "-m", "method=mcfs,rufs"]),
    ],
)
def test_a_command_line_is_that_of_run_py_or_of_a_script(words, expected):
    assert command.words_of(words) == expected


def test_a_command_that_is_none_is_answered_with_the_nearest_and_the_version_is_ours(monkeypatch, capsys):
    with pytest.raises(SystemExit, match="there is no command make_tabel. Did you mean make_table?"):
        command.words_of(["make_tabel", "study=my"])
    monkeypatch.setattr(sys, "argv", ["ufs-bench", "--version"])
    command.main()
    assert capsys.readouterr().out == f"ufs-bench {version('ufs-bench')}\n"


def test_the_command_becomes_a_process_of_the_installed_package(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, words: started.append(words))
    monkeypatch.setattr(sys, "argv", ["ufs-bench", "cite", "study=my"])
    command.main()
    assert started[0][1:] == ["-P", "-m", "ufs_bench.scripts.cite", "study=my"]


def test_results_go_to_the_checkout_or_where_there_is_none_to_the_current_folder(monkeypatch, tmp_path):
    assert place.home() == ROOT
    monkeypatch.setattr(place, "SUITE", tmp_path / "ufs_bench")
    monkeypatch.chdir(tmp_path)
    assert place.home() == tmp_path


def test_a_wheel_has_the_shipped_results_without_lists_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    monkeypatch.chdir(ROOT)
    copy, source = runpy.run_path("setup.py")["_copy"], Path("results/reference/dgufs/ndfs.parquet")
    target = Path(copy(str(source), str(tmp_path / "ndfs.parquet")))
    pd.testing.assert_frame_equal(read_frame([target]), read_frame([source]))
    assert target.stat().st_size < source.stat().st_size / 2
    with pytest.raises(StoreError, match="a wheel has .* without features, .*: take a checkout of the repository"):
        read_frame([target], lists=True)


def test_nothing_shipped_is_taken_in_a_wheel(monkeypatch, tmp_path):
    assert reference.studies_with("mcfs", lists=True) == reference.studies_with("mcfs")
    assert RUNNER["reuse"].holds("shipped")
    monkeypatch.setattr(place, "SUITE", tmp_path)
    assert reference.studies_with("mcfs", lists=True) == [] and "dgufs" in reference.studies_with("mcfs")
    assert RUNNER["reuse"].holds("own") and not RUNNER["reuse"].holds("shipped")
    with pytest.raises(ConfigError, match="reuse=shipped must be none, own, or in a checkout of the repository"):
        run(["mcfs"], ["digits"], "smoke", results_dir=tmp_path, reuse="shipped")
