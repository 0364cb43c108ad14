"""A method is handed in with one command after its run."""

import os
import subprocess
from pathlib import Path

import pytest
from small_data import TRUTH

from ufs_bench.runners.store import reference
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.ship import hand_in
from ufs_bench.scripts.ship.__main__ import main
from ufs_bench.scripts.ship.pack import ship

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_cells):
    """Return a folder with the results of a small study."""
    folder = tmp_path_factory.mktemp("results")
    words = [f"dataset={TRUTH}", "protocol=smoke", "study=tiny", "runner.n_jobs=1", f"results_dir={folder}"]
    run_cells("method=mcfs,leverage,max_variance", *words)
    return folder


@pytest.fixture
def answer(results, shipping, monkeypatch, capfd):
    """Return a function that hands in to a small study, and returns the exit status and what is printed."""
    ship(results, "tiny", methods=["mcfs"])
    assert set(reference.files_of("tiny")) == {"mcfs"}
    monkeypatch.setattr(hand_in, "uncommitted", lambda _: [])
    monkeypatch.setattr(hand_in.findings, "STUDY", "reference/tiny")
    monkeypatch.setattr(hand_in, "estimates", lambda study: None)
    monkeypatch.setattr(hand_in.findings, "tables", lambda study, plan: {"gains": [["Method"], ["A gain"]]})
    monkeypatch.setattr(
        hand_in.findings, "pages", lambda name, plan: {ROOT / "README.md": (ROOT / "README.md").read_text()}
    )
    found, opened = Study.open(results, "tiny"), Study.open

    def committed(folder, name, data_dir=None):
        if name != "tiny":
            return opened(folder, name, data_dir)
        found.trials["git_sha"] = "a" * 40
        return found

    monkeypatch.setattr(hand_in.Study, "open", committed)

    def answered(*words):
        status = 0
        try:
            main([*words, "study=tiny", f"results_dir={results}"])
        except SystemExit as end:
            status = end.code
        return status, *capfd.readouterr()

    return answered


def test_a_method_is_checked_and_packed(answer, results):
    status, out, _ = answer("method=max_variance")
    assert status == 0 and "nothing failed" in out and "1 cell packed" in out
    assert "A gain" in out and "git add results/reference/tiny\n" in out
    packed, own = reference.read("tiny", ["max_variance"]), Study.open(results, "tiny").frame
    assert set(packed["trial"]) == set(own.loc[own["method"] == "max_variance", "trial"])
    assert set(reference.files_of("tiny")) == {"mcfs", "max_variance"}  # not leverage, which was run, too


def test_what_cannot_be_handed_in_is_refused(answer, monkeypatch):
    def refusal(method):
        status, _, said = answer(f"method={method}")
        assert status == 1
        return said

    assert "no conf/method/mine.yaml: docs/own_method.md" in refusal("mine")
    assert "no fits of min_variance in" in refusal("min_variance")
    monkeypatch.setattr(hand_in, "uncommitted", lambda _: ["methods/mine.py"])
    assert "Commit first: git add methods/mine.py && git commit" in refusal("max_variance")
    monkeypatch.setattr(hand_in, "uncommitted", lambda _: [])
    monkeypatch.setattr(hand_in, "check_method", lambda words: 1)
    assert "max_variance must keep the contract" in refusal("max_variance")


def test_code_that_is_not_committed_is_named_and_results_are_not(tmp_path, monkeypatch):
    def git(*words):
        who = {f"GIT_{kind}_{what}": "a" for kind in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True, env=os.environ | who)

    monkeypatch.setattr(hand_in, "ROOT", tmp_path)
    for name in ("README.md", "run.py", "results/a.csv", "methods/a.py", "conf/method/a.yaml", "conf/dataset/b.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    git("init")
    git("add", "run.py", "README.md", "results")
    assert hand_in.uncommitted("a") == ["run.py", "conf/method/a.yaml", "methods/a.py"]
    git("add", "methods", "conf/method")
    git("commit", "-m", "x")
    assert hand_in.uncommitted("a") == []
    for name in ("README.md", "results/a.csv"):  # which the command itself writes
        (tmp_path / name).write_text("2\n")
    assert hand_in.uncommitted("a") == []
    (tmp_path / "run.py").write_text("2\n")
    assert hand_in.uncommitted("a") == ["run.py"]
    monkeypatch.setattr(hand_in, "ROOT", tmp_path / "results")
    (tmp_path / ".git").rename(tmp_path / "git")
    with pytest.raises(ValueError, match="must be a clone made by git"):
        hand_in.uncommitted("a")
