"""A method that ends the process it runs in fails like any other, in a worker and in the process itself."""

import errno
import os
import tempfile

import forked
import numpy as np
import pytest
from fits import rows_of, trials_of
from small_data import TRUTH

from ufs_bench.runners.cli.boundary import words_of
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.messages import CommandEnded, ConfigError, ProcessEnded, exits_as_errors
from ufs_bench.runners.store.fits import FILE
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.data import Data
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.text import writing


@pytest.mark.parametrize("caps", [None, Caps(max_seconds=60)], ids=["here", "worker"])
@pytest.mark.parametrize(
    "what, words",
    [("exit", "sys.exit(None)"), ("exit_with_words", "sys.exit('enough')")],
)
def test_a_fit_that_ends_its_process_fails_in_words_and_the_others_go_on(caps, what, words):
    rows = rows_of(trials_of(what=what), 1, caps=caps)
    assert [row["status"] for row in rows] == ["converged", "failed", "converged", "converged"]
    assert rows[1]["error"] == (
        f"ProcessEnded: the method called {words}, which ends the process: let it raise an error."
    )


def test_a_method_that_ends_the_process_while_it_is_imported_or_checked_is_refused(tmp_path, monkeypatch):
    (tmp_path / "importing.py").write_text("import sys\nsys.exit()\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"'importing.X' cannot be imported: .*the method called sys.exit\(None\)"):
        load_class("importing.X")
    with pytest.raises(ConfigError, match=r"the method called sys.exit\('not this one'\)"):
        trials_of("Checking")


class Odd(BaseException):
    """Is no exception that a method should raise."""


def test_ctrl_c_during_a_fit_ends_the_command_and_what_else_is_no_exception_the_fit():
    for error in (CommandEnded(130), KeyboardInterrupt(), ValueError("as it is")):
        with pytest.raises(type(error)) as caught, exits_as_errors():
            raise error
        assert caught.value is error
    for error, words in ((SystemExit(), "sys.exit(None)"), (Odd(), "the method raised Odd")):
        with pytest.raises(ProcessEnded) as caught, exits_as_errors():
            raise error
        assert words in words_of(caught.value)


def test_a_damaged_cell_is_named_beside_the_table_of_a_sweep_of_other_cells_which_ends_with_an_error(
    tmp_path, run_cells
):
    words = [f"dataset={TRUTH}", "protocol=smoke", "protocol.sizes=[5]", "runner.n_jobs=1", f"results_dir={tmp_path}"]
    run_cells(*words, "method=all_features")
    damaged = tmp_path / "smoke" / TRUTH / "all_features" / FILE
    damaged.write_text(damaged.read_text().replace('"sets"', '"set"'))
    done = forked.run(["run.py", "-m", *words, "method=max_variance,first_index"], ROOT)
    text = done.stdout + done.stderr
    assert done.returncode == 1 and f"not in the table: {damaged}, line " in done.stdout, text
    assert "or remove this line and run the cell again" in done.stdout and "Traceback" not in text, text
    assert "| MaxVar " in done.stdout and "| All Features " not in done.stdout, text


FILLING = """
import errno, os

def full(file):
    if "fits.jsonl" in os.readlink(f"/proc/self/fd/{file}"):
        raise OSError(errno.ENOSPC, "No space left on device")

os.fsync = full  # of the command, which imports this file to look at its functions

def one(X):
    return X.var(axis=0)

def two(X):
    return X.var(axis=0)
"""


def test_a_full_disk_ends_a_sweep_with_one_error(tmp_path):
    (tmp_path / "filling.py").write_text(FILLING)
    given = ["method.target=filling.one,filling.two", f"dataset={TRUTH}", "protocol=smoke", "results_dir=results"]
    done = forked.run([ROOT / "run.py", "-m", *given, "runner.n_jobs=1"], tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and said.count("rror") == 1 and "cell 2" not in said, said
    assert "All earlier trials are safe" in said and "The sweep ends here" in said, said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_disk_that_takes_no_copy_of_the_data_is_named(monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "wb"))  # noqa: SIM115
    with pytest.raises(OSError) as caught, Data(np.zeros((1000, 100)), None).shared():
        pass
    assert words_of(caught.value).startswith(f"{tempfile.gettempdir()}: No space left on device: make room")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_command_whose_lines_cannot_be_printed_says_so_once_and_ends_with_an_error(tmp_path, run_cells):
    """Also one that has nothing left to do, and one whose lines are those of a log."""
    cell = ["method=first_index", f"dataset={TRUTH}", "protocol=smoke", "runner.n_jobs=1"]
    run = ["run.py", *cell, f"results_dir={tmp_path}"]
    run_cells(*run[1:])
    for words in (run, ["-m", "scripts.refit", "what=seeds", "study=smoke", f"results_dir={tmp_path}", "n_jobs=1"]):
        done = forked.run(words, ROOT, stdout="/dev/full")
        wanted = "error: No space left on device: make room, and give the same command again\n"
        assert (done.returncode, done.stderr) == (1, wanted), words


def test_a_full_disk_says_what_to_do_where_no_file_is_known():
    text = "No space left on device: make room, and give the same command again"
    assert words_of(OSError(errno.ENOSPC, "No space left on device")) == text
    text = "File too large: raise the limit on the size of files, and give the same command again"
    assert words_of(OSError(errno.EFBIG, "File too large")) == text


@pytest.mark.parametrize(
    ("number", "wanted"), [("ENOSPC", "Make room"), ("EACCES", "Get the right to write"), ("EISDIR", "Mend that")]
)
def test_a_page_that_cannot_be_written_says_what_to_do_about_its_own_error(number, wanted, tmp_path):
    with pytest.raises(ConfigError, match=f"table.md: {number}. {wanted}"), writing(tmp_path / "table.md"):
        raise OSError(getattr(errno, number), number)
