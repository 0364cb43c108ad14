"""CPU seconds of whole commands, at most; twice what they took on a loaded machine of 2026."""

import os
import resource
import subprocess
import sys

import pytest

from ufs_bench.scripts.core.conf import ROOT

BUDGETS = {
    "run.py method=mcfs dataset=digits protocol=smoke results_dir={folder}": 7,
    "-m scripts.make_table table=dgufs_table3 study=reference/dgufs": 3,
    "-m scripts.make_figure figure=acc_vs_size study=reference/fair dataset=umist output={folder}/figure": 6,
    "-m scripts.make_figure figure=gains study=reference/fair methods=[mcfs] selection=largest_size partial=true "
    "output={folder}/figure": 9,
    "-m scripts.findings check=true": 36,
}


def seconds(words, environment):
    """Return the CPU seconds of a command and of all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.slow
@pytest.mark.parametrize("command", BUDGETS)
def test_a_command_takes_no_more_seconds_than_its_budget(command, tmp_path):
    words = command.format(folder=tmp_path).split()
    seconds(words, os.environ)  # compiles, and fills the caches of the system
    assert seconds(words, os.environ) <= BUDGETS[command]
