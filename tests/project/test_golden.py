"""The golden files hold: `golden.py` beside this file says how they were written."""

import os
import subprocess
import sys

import golden
import pytest

from ufs_bench.runners import code


def environment():
    return os.environ | {"PYTHONPATH": str(golden.ROOT)}


def held(name):
    return golden.numbers((golden.HERE / f"{name}.csv").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", golden.SPECS)
def test_a_table_of_a_paper_has_the_cells_it_had(name):
    assert golden.numbers(golden.table(name)) == held(name)


def test_the_numbers_of_pages_are_what_they_were(plan, studies, comparison):
    assert golden.numbers(golden.gains(plan)) == held("gains")
    assert golden.numbers(golden.verdicts(studies, comparison)) == held("verdicts")
    assert golden.numbers(golden.keys()) == held("keys")


def test_the_code_of_shipped_results_is_what_the_list_says():
    done = subprocess.run([sys.executable, golden.__file__, "lines"], env=environment(), capture_output=True, text=True)
    now, said = done.stdout, "numbers the same: golden.py code; else remove the lines, and ship anew"
    assert now == code.SAME.read_text(encoding="utf-8"), said


def check_fits(step, folder):
    """Fit in a process of its own, as the arithmetic of the tests is not that of a run."""
    words = [sys.executable, golden.__file__, "check", str(step)]
    data = {"UFS_DATA_DIR": folder or str(golden.ROOT / "data")}
    done = subprocess.run(words, env=environment() | data, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert done.stdout.endswith("were fitted again\n")


def test_every_25th_fit_gives_the_bytes_it_gave(request):
    check_fits(25, request.config.getoption("--data-dir"))


@pytest.mark.slow
def test_all_fits_give_the_bytes_they_gave(request):
    check_fits(1, request.config.getoption("--data-dir"))
