"""A word that no configuration has is answered in one line, and help fits a terminal."""

import forked
import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from ufs_bench.runners.cli.help import COLUMNS, narrow, refused
from ufs_bench.runners.overrides import read_back
from ufs_bench.scripts.core.conf import ROOT


@pytest.mark.parametrize(
    "command, words, said",
    [
        ("run.py", "method=mcsf", "method=mcsf: there is no method of this name. Did you mean mcfs?"),
        ("run.py", "-m dataset=umits,orl", "dataset=umits: there is no dataset of this name. Did you mean umist?"),
        ("run.py", "dataset=umist -m method=mcsf", "there is no method of this name. Did you mean mcfs?"),
        ("run.py", "method=socfs method.params.max_itr=9", "is no option of method.params. Did you mean max_iter?"),
        ("run.py", "method=socfs method.params.max_iter=9", "write ++method.params.max_iter=... to add it"),
        ("run.py", "metod=mcfs", "metod is no option. Did you mean method?"),
        ("run.py", "+metod=mcfs", "'metod' is no part of a configuration"),
        ("run.py", "lable=x", "lable is no option. Did you mean label?"),
        ("run.py", "label=x", "label= is about data=FILE, a table of your own: name its file, too"),
        ("run.py", "--shell-completion", "--shell-completion takes one of install=bash"),
        ("run.py", "--experimental-rerun x", "--experimental-rerun is not taken: give the words of the run again"),
        ("run.py", "runner.n_job=2", "runner.n_job is no option of runner. Did you mean n_jobs?"),
        ("run.py", "protocol.clusters=half", "write ++protocol.clusters=... to add it"),
        ("run.py", "--study h4", "options have no dashes here: write study=h4"),
        ("-m scripts.make_report", "--study h4", "options have no dashes here: write study=h4"),
        ("-m scripts.make_report", "selecton=stability", "has no option selecton. Did you mean selection?"),
    ],
)
def test_a_mistyped_word_is_answered_in_one_line_that_names_the_nearest(command, words, said, tmp_path):
    arguments = [*command.split(), *words.split()]
    arguments[0] = str(ROOT / "run.py") if command == "run.py" else arguments[0]
    done = forked.run([*arguments, f"results_dir={tmp_path}"], ROOT)
    answer = done.stdout + done.stderr
    assert done.returncode == 1
    assert said in answer and len(answer.splitlines()) == 1


def test_hydras_own_options_pass_and_others_are_named_with_their_value():
    assert refused("-m --multirun --cfg job --config-dir my --help study=a a.b='--c'".split()) is None
    assert "write study=h4" in refused(["--study=h4"])
    assert "write results_dir=x" in refused(["study=a", "--results-dir", "x"])
    assert "write quiet=..." in refused(["--quiet", "study=a"])


@pytest.mark.parametrize("name", ["nan", "true", "null", "inf", "mine"])
def test_a_name_that_hydra_reads_as_something_else_is_put_in_quotes(name):
    assert OverridesParser.create().parse_override(f"dataset={read_back(name)}").value() == name


def test_two_values_of_an_option_are_refused_and_the_same_one_twice_passes():
    assert refused(["method=mcfs", "a=1", "method=udfs"]) == (
        "method=mcfs and method=udfs give method two values: leave one out."
    )
    assert "+a=1 and ++a=2 give a two values" in refused(["+a=1", "++a=2"])
    assert refused(["method=mcfs", "method=mcfs", "method.params.a=1", "~method.params.b"]) is None


def test_help_fits_its_columns():
    done = forked.run([str(ROOT / "run.py"), "--help"], ROOT)
    assert done.returncode == 0 and "Exit status" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= COLUMNS


def test_a_long_line_of_help_keeps_its_words():
    line = "  python run.py " + "a=b " * 15 + "     " + "what it does, " * 8
    assert narrow(line).split() == line.split() and len(narrow(line).splitlines()) == 2
    assert narrow("short   line") == "short   line"
