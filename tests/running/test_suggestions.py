"""A word that is nearly right is answered with the right one."""

import subprocess
import sys
from pathlib import Path

import pytest

from ufs_bench.runners.cli.help import GROUPS, refused
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.kinds import check_fields, one_of
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.words import did_you_mean

ROOT = Path(__file__).resolve().parents[2]


def test_names_without_their_options_are_answered_with_them():
    assert refused(["mcfs", "mnist500"], GROUPS).endswith("Did you mean method=mcfs dataset=mnist500?")
    assert refused(["mcsf", "mnist500"], GROUPS).endswith("Did you mean mcfs?")
    assert refused(["mcfs"]) == "mcfs: options have the form NAME=VALUE."
    for words in (["-m", "method=mcfs,rufs"], ["--config-dir", "here", "~method.grid.alpha"], ["-sc", "install=bash"]):
        assert refused(words) is None


def test_capital_letters_do_not_hide_a_name():
    assert did_you_mean("MCFS", ["mcfs", "rufs"]) == " Did you mean mcfs?"


def test_a_target_that_is_mistyped_is_answered_with_the_module_or_class(tmp_path, monkeypatch):
    (tmp_path / "mysel.py").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"No module named 'mysle' Did you mean mysel\?"):
        load_class("mysle.Spread")
    with pytest.raises(ConfigError, match=r"Did you mean MCFS\?"):
        load_class("methods.mcfs.MCSF")


def test_a_value_that_is_nearly_one_of_the_options_is_answered_with_it():
    kind = {"paper": one_of("rufs", "dgufs")}
    with pytest.raises(ConfigError, match=r"paper=dgfus must be one of rufs, dgufs\. Did you mean dgufs\?"):
        check_fields("compare", {"paper": "dgfus"}, kind)


def test_several_values_without_m_are_answered_with_m():
    done = subprocess.run([sys.executable, "run.py", "method=mcfs,dgufs"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (
        1, "error: method=mcfs,dgufs has several values: add -m for a sweep over them."
    )  # fmt: skip
