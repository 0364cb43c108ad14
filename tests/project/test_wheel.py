"""The command of an installed suite; `.ci/wheel` builds the wheel, and uses it in an empty environment."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from ufs_bench import command
from ufs_bench.runners import place

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
