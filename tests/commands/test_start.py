"""Tables and figures import nothing that they do not use before they read anything."""

import subprocess
import sys

import pytest

from ufs_bench.scripts.core.conf import ROOT

HEAVY = "scipy sklearn numba joblib ufs_bench.datasets ufs_bench.methods"
UNUSED = {"make_table": f"{HEAVY} matplotlib PIL", "make_figure": HEAVY}


@pytest.mark.parametrize("command", UNUSED)
def test_a_command_starts_without_what_it_does_not_use(command):
    program = (
        f"import sys, ufs_bench.scripts.{command}.__main__; print(*sorted(set(sys.argv[1:]) & sys.modules.keys()))"
    )
    words = [sys.executable, "-c", program, *UNUSED[command].split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_mistyped_command_is_answered_with_the_one_that_it_is_like():
    words = [sys.executable, "-m", "scripts.make_tabel"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "error: there is no command make_tabel. Did you mean make_table?\n"
