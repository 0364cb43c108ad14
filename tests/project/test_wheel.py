"""The command of an installed suite; `.ci/wheel` builds the wheel, and uses it in an empty environment."""

import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import ufs_bench_command
from runners import place

ROOT = Path(__file__).resolve().parents[2]
SUITE = str(ROOT / "run.py")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [SUITE, "--help"]),
        (["mcfs"], [SUITE, "mcfs"]),
        (["method=mcfs", "data=my.csv"], [SUITE, "method=mcfs", "data=my.csv"]),
        (["make_table", "study=my"], ["-P", "-m", "scripts.make_table", "study=my"]),
        (["cite", "study=my"], ["-P", "-m", "scripts.cite", "study=my"]),
        (["core"], [SUITE, "core"]),
        (["-m", "method=mcfs,rufs"], [SUITE, "-m", "method=mcfs,rufs"]),
    ],
)
def test_a_command_line_is_that_of_run_py_or_of_a_script(words, expected):
    assert ufs_bench_command.words_of(words) == expected


def test_a_command_that_is_none_is_answered_with_the_nearest_and_the_version_is_ours(monkeypatch, capsys):
    with pytest.raises(SystemExit, match="there is no command make_tabel. Did you mean make_table?"):
        ufs_bench_command.words_of(["make_tabel", "study=my"])
    monkeypatch.setattr(sys, "argv", ["ufs-bench", "--version"])
    ufs_bench_command.main()
    assert capsys.readouterr().out == f"ufs-bench {version('ufs-bench')}\n"


def test_our_packages_come_first_in_the_process_of_a_script_and_in_no_other(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(os, "execve", lambda program, words, environment: started.append((words, environment)))
    monkeypatch.setattr(sys, "argv", ["ufs-bench", "cite", "study=my"])
    monkeypatch.setenv("PYTHONPATH", "theirs")
    monkeypatch.chdir(tmp_path)
    ufs_bench_command.main()
    (words, environment) = started[0]
    assert words[1:4] == ["-P", "-m", "scripts.cite"]
    assert environment["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "theirs", str(tmp_path)]
    assert os.environ["PYTHONPATH"] == "theirs"


def test_results_go_to_the_checkout_or_where_there_is_none_to_the_current_folder(monkeypatch, tmp_path):
    assert place.home() == ROOT
    monkeypatch.setattr(place, "SUITE", tmp_path / "ufs_bench_suite")
    monkeypatch.chdir(tmp_path)
    assert place.home() == tmp_path
