"""`.ci/hand_in` verifies results with the code that is there, and refuses a branch that changes other code."""

import shutil
import subprocess

import pytest

from ufs_bench.scripts.core.conf import ROOT

RESULTS, METHOD = "results/reference/fair/mine.parquet", "methods/mine.py"
SHIPPED = "results/reference/fair/mcfs.parquet"


@pytest.fixture
def hand_in(tmp_path):
    """Return a function that commits files on a branch, and returns what the script says of it from main."""

    def git(*words):
        own = ["git", "-c", "user.name=a", "-c", "user.email=b", *words]
        subprocess.run(own, cwd=tmp_path, check=True, capture_output=True)

    def put(place, text):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)

    for place in (
        "methods/__init__.py",
        "methods/core/base.py",
        "scripts/ship.py",
        "results/reference/fair/mcfs.parquet",
    ):
        put(place, "main")
    put(
        ".venv/bin/python",
        '#!/bin/sh\necho "verified with $(cat scripts/ship.py): $*"; ls methods results/reference/fair\n',
    )
    (tmp_path / ".venv/bin/python").chmod(0o755)
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")

    def said(*places, gone=()):
        git("switch", "-qc", "mine")
        for place in places:
            put(place, "mine")
        for place in gone:
            (tmp_path / place).unlink()
        git("add", "-A")
        git("commit", "-qm", "mine")
        git("switch", "-q", "main")
        done = subprocess.run(["bash", ".ci/hand_in", "mine", "fits=1"], cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout

    return said


def test_a_method_with_its_results_is_verified_by_the_code_of_main(hand_in):
    status, said = hand_in(RESULTS, METHOD, "methods/__init__.py", "conf/method/mine.yaml", "docs/methods/mine.md")
    assert status == 0 and "verified with main: -m scripts.ship check=true base=HEAD fits=1" in said
    assert "mine.py" in said and "mine.parquet" in said


@pytest.mark.parametrize("place", ["scripts/ship.py", "methods/core/base.py", "metrics/new.py", ".ci/hand_in"])
def test_results_with_a_change_of_other_code_are_refused(hand_in, place):
    status, said = hand_in(RESULTS, METHOD, place)
    assert status == 1 and place in said and METHOD not in said and "verified" not in said


def test_shipped_results_that_are_removed_are_refused(hand_in):
    status, said = hand_in(RESULTS, gone=[SHIPPED])
    assert status == 1 and f"D {SHIPPED}" in said


def test_a_branch_without_results_needs_nothing(hand_in):
    assert hand_in("scripts/ship.py") == (0, "No results are handed in.\n")
