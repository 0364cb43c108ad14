"""Any options behind a command: it runs, or ends with one clear error, without a traceback, and never hangs."""

import inspect
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import pytest
from frames import PROTOCOL, frames, store

from ufs_bench.datasets import load_dataset
from ufs_bench.runners.store.fits import FILE
from ufs_bench.scripts.cite import main as cite
from ufs_bench.scripts.compare.__main__ import main as compare
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.entry import defaults
from ufs_bench.scripts.features import main as features
from ufs_bench.scripts.ground_truth import main as ground_truth
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.make_figure.__main__ import main as make_figure
from ufs_bench.scripts.make_report import main as make_report
from ufs_bench.scripts.make_table.__main__ import main as make_table
from ufs_bench.scripts.rank.__main__ import main as rank
from ufs_bench.scripts.refit.__main__ import main as refit
from ufs_bench.scripts.ship.__main__ import main as ship
from ufs_bench.scripts.status import main as status

MAIN = {
    "make_table": make_table,
    "make_figure": make_figure,
    "rank": rank,
    "compare": compare,
    "make_report": make_report,
    "cite": cite,
    "features": features,
    "ground_truth": ground_truth,
    "refit": refit,
    "status": status,
}
VALUES = [
    *("nan", "-inf", "-1", "0", "1", "0.5", "1e25", "99999999999999999999", "2024", "true", "null", "''", "'2024'"),
    *("[]", "[k]", "[[1]]", "[null]", "[nan]", "{}", "{a:1}", "{a:[1]}", "{a:{b:nan}}", "x" * 300, "'a\nb'"),
    *("../../x", "/dev/null/x", "/dev/full", "x/y", "'*'", "'.'", "..", "'-x'", "é", "'???'", "${nope}"),
    *("umist", "mcfs", "[mcfs,dgufs]", "[mcfs,mcfs]", "[umist,orl]", "dgufs"),
]
BASE = {
    "acc_vs_size": ["make_figure", "dataset=umist"],
    "acc_vs_seconds": ["make_figure", "figure=acc_vs_seconds", "dataset=[umist,orl]"],
    "surface": ["make_figure", "figure=surface", "dataset=umist", "method=mcfs"],
    "convergence": ["make_figure", "figure=convergence", "dataset=umist"],
    "pixels": ["make_figure", "figure=pixels", "dataset=digits", "methods=[mcfs]"],
    "gains": ["make_figure", "figure=gains"],
    "critical_difference": ["make_figure", "figure=critical_difference"],
    **{name: [name] for name in MAIN if name != "make_figure"},
    "features": ["features", "dataset=umist"],
    "ground_truth": ["ground_truth", "study=truth"],
    # The points of the other methods cannot be fitted again, as their keys are made up.
    "refit": ["refit", "what=seeds", "methods=mcfs"],
}
SECONDS = 30  # no command takes one second on so small a study
POINTS = [
    {
        "dataset": dataset,
        "method": method,
        "params": {"ridge": ridge} if ridge else {},
        "acc": {size: [0.3, 0.3 + size / 1000] for size in ((50,) if dataset == "digits" else PROTOCOL["sizes"])},
        "trace": [3.0, 2.0, 1.5],
        "ranking": list(range(50 if dataset == "digits" else 300)),
        "data_sha": load_dataset("digits").sha if dataset == "digits" else "",
    }
    for dataset in ("umist", "orl", "pie10p", "jaffe", "digits", "of_my_own")
    for method in ("mcfs", "dgufs", "of_my_own", "random_rankings")
    for ridge in ((0, 1) if method == "mcfs" else (0,))
]
TRUTH = {
    "dataset": "truth_wide_d1_s0",
    "method": "mcfs",
    "sizes": [10],
    "ranking": list(range(10)),
    "data_sha": load_dataset("truth_wide_d1_s0").sha,
}


def inputs_of(name):
    """List every value for every option of a command, or for the options of a single figure."""
    command = BASE[name][0]
    options = list(defaults(command))
    if name in FIGURES and name != "acc_vs_size":
        options = [option for option in inspect.signature(FIGURES[name]).parameters if option != "study"]
    files = {"make_table": ["table"], "acc_vs_size": ["figure"]}.get(name, [])
    return [f"{option}={value}" for option in (*files, *options, "of_no_command") for value in VALUES]


def attempt(command, arguments, capsys):
    """Run a command and return how it ends: "accepted", "refused", or its fault; its output stays in `capsys`."""

    def late(*_):
        raise Late

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    capsys.readouterr()
    before, sys.argv = sys.argv, [command, *arguments]
    try:
        MAIN[command]()
    except SystemExit as end:
        if end.code == 1:
            said = capsys.readouterr().err
            sys.stderr.write(said)
            return "refused" if said.startswith("error: ") and "Traceback" not in said else f"unclear: {said[:200]}"
        return "accepted" if end.code in (0, None) else f"status {end.code}"
    except Late:
        return "hangs"
    except Exception:
        return f"traceback: {traceback.format_exc()[-500:]}"
    finally:
        signal.alarm(0)
        sys.argv = before
    return "accepted"


class Late(BaseException):
    """A command took longer than `SECONDS`."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder of results with two studies, to copy."""
    folder = tmp_path_factory.mktemp("results")
    store(frames(POINTS), folder)
    store(frames([TRUTH], study="truth"), folder)
    return folder


@pytest.fixture
def folder(results, tmp_path, monkeypatch):
    """Return a folder with the results, in a working folder so deep that no ".." leads out of the test's own."""
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    shutil.copytree(results, tmp_path / "results")
    return tmp_path


@pytest.mark.slow  # all 7,257 values take more than an hour: a tenth of them
@pytest.mark.parametrize("name", BASE)
def test_any_value_of_any_option_is_taken_or_refused_in_words(name, folder, capsys):
    (command, *base), inputs = BASE[name], inputs_of(name)
    inputs = random.Random(name).sample(inputs, len(inputs) // 10)
    base += [f"results_dir={folder}/results"] + ([] if command in ("compare", "ground_truth") else ["study=dgufs"])
    base += [f"data_dir={folder}"] if "data_dir" in defaults(command) else []
    assert attempt(command, base, capsys) == "accepted"
    outside = set(folder.iterdir()) | set((folder / "a").rglob("*"))
    counts, wrong = {"accepted": 0, "refused": 0}, []
    for text in inputs:
        others = [word for word in base if word.split("=")[0] != text.split("=")[0]]
        outcome = attempt(command, [*others, text], capsys)
        counts[outcome] = counts.get(outcome, 0) + 1
        if outcome not in ("accepted", "refused"):
            wrong.append((text[:80], outcome))
        # A report and a figure are written to results_dir.
        elif not text.startswith(("output", "results_dir")) and not (name == "ground_truth" and "figure" in text):
            assert set(folder.iterdir()) | set((folder / "a").rglob("*")) == outside, text
        else:
            outside = set(folder.iterdir()) | set((folder / "a").rglob("*"))
    with capsys.disabled():
        print(f"{name}: {len(inputs)} inputs, {counts['accepted']} accepted, {counts['refused']} clear errors")
    assert not wrong, "\n".join(f"{text}\n  {outcome}" for text, outcome in wrong)


@pytest.mark.parametrize(
    "main, words, answer",
    [
        (rank, ["method=mcfs", "clusterer=learned"], "clusterer=learned has no effect with method=mcfs: leave it out"),
        (rank, ["choices=true", "method=mcfs"], "method=mcfs has no effect with choices=true"),
        (refit, ["what=seeds", "restarts=40"], "restarts=40 has no effect with what=seeds"),
        (ship, ["study=dgufs", "fits=5"], "fits=5 has no effect with study=dgufs"),
        (ship, ["method=mcfs", "datasets=umist"], "datasets=['umist'] has no effect with method=mcfs"),
        (ship, ["check=true", "method=mcfs"], "method=mcfs has no effect with check=true"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(main, words, answer, capsys):
    with pytest.raises(SystemExit, match="1"):
        main(words)
    assert answer in capsys.readouterr().err


TARGETS = ["folder", "file/below", "/dev/full", "/proc/nothing/here"]
LONGER = ["make_report", "make_figure"]  # they take seconds, and write as the table does


@pytest.mark.parametrize(
    "command, target",
    [
        *(("make_table", target) for target in TARGETS),
        *(pytest.param(command, target, marks=pytest.mark.slow) for command in LONGER for target in TARGETS),
    ],
)
def test_an_output_that_cannot_be_written_is_named(command, target, folder, capsys):
    (folder / "folder" / "inside").mkdir(parents=True)
    (folder / "file").write_text("")
    if command == "make_figure":  # which writes PATH.png
        (folder / "folder.png").mkdir()
    path = target if target.startswith("/") else folder / target
    if command == "make_figure" and target == "/dev/full":
        pytest.skip("a figure's file has a suffix")
    study = ["study=dgufs", f"results_dir={folder}/results", f"output={path}"]
    assert attempt(command, [*study, *(["dataset=umist"] if command == "make_figure" else [])], capsys) == "refused"
    assert f"cannot write {path}" in capsys.readouterr().err


@pytest.mark.parametrize(("place", "study"), [("file", "dgufs"), ("nowhere", "mine")])
def test_a_folder_of_results_that_is_a_file_or_is_not_there_is_said(folder, capsys, place, study):
    (folder / "file").write_text("")
    assert attempt("cite", [f"study={study}", f"results_dir={folder}/{place}"], capsys) == "refused"
    assert f"'{study}' has no results in {folder}/{place}" in capsys.readouterr().err


@pytest.mark.parametrize("study", ["../../x,dgufs", "../../x", "''", "/x"])
def test_a_sweep_of_figures_makes_no_folder_outside_the_results(study, folder, capsys):
    before = set(folder.parent.iterdir()) | set(folder.iterdir()) | set((folder / "a").rglob("*"))
    words = ["-m", f"study={study}", "dataset=umist,orl", f"results_dir={folder}/results"]
    assert attempt("make_figure", words, capsys) == "refused"
    assert set(folder.parent.iterdir()) | set(folder.iterdir()) | set((folder / "a").rglob("*")) == before


DAMAGED = ["not,a,trial\n1,2,3\n", "", "trial\n", "\x00\xff"]


@pytest.mark.parametrize(
    "text, commands",
    [
        *((text, ["make_table", "cite"]) for text in DAMAGED),
        (DAMAGED[0], ["make_report"]),
        *(pytest.param(text, ["make_report"], marks=pytest.mark.slow) for text in DAMAGED[1:]),
    ],
)
def test_a_damaged_cell_is_named_with_its_file(text, commands, folder, capsys):
    damaged = folder / "results" / "dgufs" / "umist" / "mcfs" / FILE
    damaged.write_text(text, encoding="latin-1")
    for command in commands:
        outcome = attempt(command, ["study=dgufs", f"results_dir={folder}/results"], capsys)
        said = capsys.readouterr().err
        assert outcome == "accepted" or (outcome == "refused" and str(damaged) in said), (command, outcome, said)


def is_guarded(process):
    """Return True once a process handles SIGTERM, which takes a second on a busy machine; where Linux says so."""
    path = Path(f"/proc/{process.pid}/status")
    caught = int(re.search(r"SigCgt:\s*(\w+)", path.read_text())[1], 16) if path.exists() else -1
    return caught >> signal.SIGTERM - 1 & 1


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_any_moment_ends_a_command_without_a_traceback(request, number, status, folder):
    quick = {signal.SIGINT: (0.2,), signal.SIGTERM: (1.4,)}[number]  # in the imports, and in the work
    moments = (0.1, 0.2, 0.6, 1.4, 3.0) if request.config.getoption("--slow") else quick
    words = [sys.executable, "-m", "scripts.make_report", "study=dgufs", f"results_dir={folder}/results"]
    for seconds in moments:
        process = subprocess.Popen(
            words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # which a shell in the background ignores
        )  # fmt: skip
        while process.poll() is None and not is_guarded(process):
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(number)
        process.send_signal(number)
        err = process.communicate(timeout=60)[1]
        assert "Traceback" not in err, (seconds, err)
        assert process.returncode in (status, 0), (seconds, process.returncode, err)  # 0: it had ended


def test_a_reader_that_goes_away_ends_a_command_quietly(folder):
    words = f"{sys.executable} -m scripts.make_table study=dgufs results_dir={folder}/results | head -c 1"
    done = subprocess.run(words, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("#", "")
