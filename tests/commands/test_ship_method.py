"""A method is handed in with one command."""

import os
import subprocess
import sys
from pathlib import Path

import forked
import pytest
from frames import study_of
from small_data import TRUTH

from ufs_bench.runners.store import reference
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.ship import __main__ as command
from ufs_bench.scripts.ship import hand_in, runs
from ufs_bench.scripts.ship.pack import ship
from ufs_bench.scripts.ship.runs import divided

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_cells):
    """Return a folder with the results of a small study."""
    folder = tmp_path_factory.mktemp("results")
    words = ["method=mcfs,leverage", f"dataset={TRUTH}", "protocol=smoke", "study=tiny", "runner.n_jobs=1"]
    run_cells(*words, f"results_dir={folder}")
    return folder


@pytest.fixture
def answer(results, shipping, monkeypatch, capfd):
    """Return a function that hands in to a small study, and returns the exit status and what is printed."""
    ship(results, "tiny", methods=["mcfs"])
    assert set(reference.files_of("tiny")) == {"mcfs"}
    monkeypatch.setattr(runs, "_run", forked.said)
    monkeypatch.setattr(hand_in, "uncommitted", lambda _: [])
    monkeypatch.setattr(hand_in.findings, "STUDY", "reference/tiny")
    monkeypatch.setattr(hand_in, "estimates", lambda study: None)
    monkeypatch.setattr(hand_in.findings, "tables", lambda study, plan: {"gains": [["Method"], ["A gain"]]})
    monkeypatch.setattr(
        hand_in.findings, "pages", lambda name, plan: {ROOT / "README.md": (ROOT / "README.md").read_text()}
    )

    def answered(*words):
        monkeypatch.setattr(sys, "argv", ["ship", *words, "study=tiny", f"results_dir={results}"])
        status = 0
        try:
            command.main()
        except SystemExit as end:
            status = end.code
        return status, *capfd.readouterr()

    return answered


def test_a_method_is_checked_run_and_packed(answer, results, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(hand_in, "check_method", lambda words: 0)  # which the run below does
        status, out, said = answer("method=max_variance", "runner.n_jobs=1", "plan=true")
    assert status == 0 and f"First the default parameters on the largest data sets, {TRUTH}" in said
    assert f"max_variance on {TRUTH}: 0 of 1 fit to do" in said and "packed" not in out
    assert "max_variance" not in reference.files_of("tiny")
    status, out, said = answer("method=max_variance", "runner.n_jobs=1")
    assert status == 0 and "nothing failed" in out and "1 cell packed" in out
    assert "First the default parameters" not in said  # they are stored
    assert "A gain" in out and "git add results/reference/tiny\n" in out
    packed, own = reference.read("tiny", ["max_variance"]), Study.open(results, "tiny").frame
    assert set(packed["trial"]) == set(own.loc[own["method"] == "max_variance", "trial"])
    assert set(reference.files_of("tiny")) == {"mcfs", "max_variance"}  # not leverage, which was run beside it


def test_what_cannot_be_handed_in_is_refused_before_it_runs(answer, monkeypatch):
    def refusal(method):
        status, _, said = answer(f"method={method}")
        assert status == 1
        return said

    assert "no conf/method/mine.yaml: docs/own_method.md" in refusal("mine")
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


def test_words_about_the_method_are_handed_to_the_run_with_options_first():
    words = ["method.target=a.B", "study=reference/fair", "--config-dir", "own", "+method.params.a=1", "method=b"]
    assert divided(words) == (
        ["--config-dir", "own", "method.target=a.B", "+method.params.a=1"], ["study=reference/fair", "method=b"],
    )  # fmt: skip
    assert divided(["--config-dir=own", "runner.n_jobs=1", "--help"]) == (
        ["--config-dir=own", "runner.n_jobs=1"],
        ["--help"],
    )


def test_a_run_says_all_on_the_standard_error_and_its_exit_status_is_returned(capfd):
    assert runs._run([sys.executable, "-c", "print('said'); raise SystemExit(3)"]) == 3
    assert capfd.readouterr() == ("", "said\n")


def test_a_study_with_controls_alone_is_refused_in_words():
    study = study_of([{"dataset": "umist", "method": "all_features", "acc": {100: [0.5]}}], "alone")
    with pytest.raises(ValueError, match="study=alone has controls only"):
        runs.most_points(study, ["umist"])
