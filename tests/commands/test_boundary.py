"""Whatever is typed behind a command: it runs, or it ends with one clear error; no traceback, nothing that hangs."""

import contextlib
import inspect
import io
import random
import signal
import sys
import traceback

import pytest
from frames import PROTOCOL, frames, store

from datasets import load_dataset
from scripts.audit.__main__ import main as audit
from scripts.cite import main as cite
from scripts.compare.__main__ import main as compare
from scripts.core.options import OPTIONS
from scripts.core.tables import KINDS
from scripts.make_figure import FIGURES
from scripts.make_figure.__main__ import main as make_figure
from scripts.make_report.__main__ import main as make_report
from scripts.make_table.__main__ import main as make_table
from scripts.ranks.__main__ import main as ranks

MAIN = {
    "make_table": make_table,
    "make_figure": make_figure,
    "ranks": ranks,
    "audit": audit,
    "compare": compare,
    "make_report": make_report,
    "cite": cite,
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
    "critical_difference": ["make_figure", "figure=critical_difference"],
    **{name: [name] for name in MAIN if name != "make_figure"},
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
    for method in ("mcfs", "dgufs", "of_my_own")
    for ridge in (0, 1)
]


def inputs_of(name):
    """Every value for every option of a command, or for those that a figure has of its own."""
    command = BASE[name][0]
    options = list(OPTIONS[command])
    if name in FIGURES and name != "acc_vs_size":
        options = [option for option in inspect.signature(FIGURES[name]).parameters if option != "study"]
    options += [f"table.{key}" for key in KINDS] if name == "make_table" else []
    files = {"make_table": ["table"], "acc_vs_size": ["figure"]}.get(name, [])
    words = [*files, *(f"++{option}" for option in (*options, "of_no_command"))]
    return [f"{word}={value}" for word in words for value in VALUES]


def attempt(command, arguments):
    """How a command ends: "accepted", "refused", or what is wrong with it."""
    out, err = io.StringIO(), io.StringIO()

    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    before, sys.argv = sys.argv, [command, *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            MAIN[command]()
        return "accepted"
    except SystemExit as end:
        text = err.getvalue() or str(end.code)
        if end.code in (0, None):
            return "accepted"
        if "TimeoutError" in text:
            return "hangs"
        return "refused" if text.startswith("error: ") and "Traceback" not in text else f"unclear: {text[:200]}"
    except TimeoutError:
        return "hangs"
    except BaseException:
        return f"traceback: {traceback.format_exc()[-500:]}"
    finally:
        signal.alarm(0)
        sys.argv = before


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A study, and a working folder so deep that no ".." leads out of the test's own."""
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    store(frames(POINTS), tmp_path / "results")
    return tmp_path


@pytest.mark.parametrize("name", BASE)
def test_any_value_of_any_option_is_taken_or_refused_in_words(name, folder, request):
    (command, *base), inputs = BASE[name], inputs_of(name)
    if not request.config.getoption("--slow"):
        inputs = random.Random(name).sample(inputs, 4)
    base += [f"results_dir={folder}/results"] + ([] if command == "compare" else ["study=dgufs"])
    base += [f"data_dir={folder}"] if "data_dir" in OPTIONS[command] else []
    assert attempt(command, base) == "accepted"
    outside = set(folder.iterdir()) | set((folder / "a").rglob("*"))
    counts, wrong = {"accepted": 0, "refused": 0}, []
    for text in inputs:
        outcome = attempt(command, [*base, text])
        counts[outcome] = counts.get(outcome, 0) + 1
        if outcome not in ("accepted", "refused"):
            wrong.append((text[:80], outcome))
        elif "output" not in text:
            assert set(folder.iterdir()) | set((folder / "a").rglob("*")) == outside, text
        else:
            outside = set(folder.iterdir()) | set((folder / "a").rglob("*"))
    print(f"{name}: {len(inputs)} inputs, {counts['accepted']} accepted, {counts['refused']} clear errors")
    assert not wrong, "\n".join(f"{text}\n  {outcome}" for text, outcome in wrong)
