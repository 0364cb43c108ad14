"""Any command line and any file ends in results or in one clear line, never in a traceback, and never hangs."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import forked
import pytest
from frames import load_all
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from ufs_bench.datasets import load_dataset
from ufs_bench.runners.cli.boundary import boundary, words_of
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.experiment.settings import read_settings
from ufs_bench.runners.messages import ConfigError
from ufs_bench.runners.store.fits import FILE
from ufs_bench.scripts.core.conf import ROOT

BASE = ["method=laplacian_score", "dataset=digits", "protocol=smoke"]
VALUES = [
    "null", "''", "' '", "0", "-1", "1.5", "nan", "inf", "1e25", str(2**70), "true", "no", "abc", "[]", "[1]", "[nan]",
    "[inf]", "[a]", "[null]", "[[1]]", "{}", "{a:1}", "{digits:20}", "2024", "../../x", "/x", "x" * 300, "'a\\nb'", "é",
    "'[k]'", "'*'", "a/b", ".", "..", ".x", "${nothing}", "${oc.env:HOME}",
]  # fmt: skip
KEYS = [
    "study", "results_dir", "data_dir", "missing_data", "dataset", "method", "protocol", "runner",
    *(f"runner.{name}" for name in ("n_jobs", "redo", "reuse", "points")),
    *(f"protocol.{name}" for name in ("name", "sizes", "scaling", "restarts", "seed", "nmi", "max_iter")),
    *(f"+protocol.{name}" for name in ("sizes_for", "grid_values", "coarse", "budget")),
    *(f"method.{name}" for name in ("name", "target", "params", "grid", "params.n_neighbors", "params.affinity")),
    *(f"++method.{name}" for name in ("params.ridge", "grid.n_neighbors", "grid.affinity", "grid.ridge")),
    *(f"dataset.{name}" for name in ("name", "citation", "samples", "features", "classes", "image", "data_sha256")),
    *(f"dataset.{name}" for name in ("sources", "image.height")),
]  # fmt: skip
WHOLE = [f"{key}={value}" for key in KEYS for value in VALUES]


def sampled(table, count):
    """Return a fixed part of a table, spread over all of it."""
    return sorted(table, key=lambda text: hashlib.sha256(text.encode()).digest())[:count]


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits")


def attempt(override, digits, results_dir):
    """Do all that a run does before its first fit; return "accepted", "refused", or the unexpected exception."""
    try:
        config = compose("config", [*BASE, f"results_dir={results_dir}", override])
        settings = read_settings(config)
        if override.startswith("dataset"):
            load_dataset(settings.dataset, download=False)
        expand(settings.study, digits, settings.method, settings.protocol)
    except Exception as error:
        words = words_of(error)
        assert words is None or words.strip()
        return "refused" if words else repr(error)
    return "accepted"


def test_every_override_is_accepted_or_refused_in_words(request, digits, tmp_path):
    OmegaConf.register_new_resolver("root", lambda: str(ROOT), replace=True)
    table = WHOLE if request.config.getoption("--slow") else sampled(WHOLE, 24)
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        found = {override: attempt(override, digits, tmp_path) for override in table}
    counts = {word: list(found.values()).count(word) for word in ("accepted", "refused")}
    print(f"\n{len(table)} overrides: {counts['accepted']} accepted, {counts['refused']} refused")
    assert {override: end for override, end in found.items() if end not in counts} == {}
    assert counts["refused"] > counts["accepted"] > 0


# ---- whole processes


def run(*arguments, results, cwd=ROOT, timeout=200, **environment):
    flags = [word for word in arguments if word.startswith("-")]  # Hydra's flags come first
    given = [word for word in arguments if word not in flags]
    base = [word for word in BASE if not {word.split("=")[0]} & {other.split("=")[0] for other in given}]
    words = [*base, "runner.n_jobs=1", f"results_dir={results}", *given]
    done = forked.run([str(ROOT / "run.py"), *flags, *words], cwd, {**os.environ, **environment}, timeout)
    output = done.stdout + done.stderr
    assert "Traceback" not in output, output
    return done.returncode, output


SPOILT = {
    "a file where the results should be": (lambda root: root.write_text(""), "Not a directory"),
    "a folder where a file should be": (lambda root: (cell(root) / FILE).mkdir(parents=True), FILE),
    "a lock that is a folder": (lambda root: (cell(root) / ".lock").mkdir(parents=True), "lock"),
    "an earlier version's": (lambda root: written(cell(root) / "trials.csv", "a,b\n1,2\n"), "rename or delete it"),
    "a table of noise": (lambda root: written(cell(root) / FILE, "\xff\0\n"), f"{FILE}, line 1"),
    "a log that is a folder": (lambda root: (cell(root) / "run.log").mkdir(parents=True), "run.log"),
}


def cell(root):
    return root / "smoke/digits/laplacian_score"


def written(path, text):
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")


@pytest.mark.parametrize("name", SPOILT)
def test_whatever_lies_in_the_results_is_named_in_one_line(request, tmp_path, name):
    if name not in sampled(list(SPOILT), 3) and not request.config.getoption("--slow"):
        pytest.skip("one of a sample; run with --slow")
    spoil, words = SPOILT[name]
    spoil(tmp_path / "results")
    status, output = run(results=tmp_path / "results")
    assert status == 1 and words in output
    assert len([line for line in output.splitlines() if line.startswith("error: ")]) == 1


def test_a_folder_that_is_gone_is_one_line(tmp_path):
    words = ["sh", "-c", f'cd {tmp_path} && rmdir {tmp_path} && exec "$@"', "sh", sys.executable, str(ROOT / "run.py")]
    done = subprocess.run([*words, *BASE], capture_output=True, text=True, timeout=200)
    assert done.returncode == 1 and "the folder that the command runs in is gone" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("override", sampled(WHOLE, 60))
def test_the_command_itself_accepts_or_refuses(tmp_path, override):
    status, output = run(override, results=tmp_path / "results", cwd=ROOT)
    assert status == 0 or "error: " in output
    assert {path.name for path in tmp_path.iterdir()} <= {"results"}


@pytest.mark.parametrize("room", [pytest.param(0, marks=pytest.mark.slow), 400])
def test_a_disk_that_is_full_is_one_line_and_what_is_stored_is_safe(tmp_path, room):
    """A limit on the size of a file stands for the disk: writing beyond it fails in the same way."""
    run(results=tmp_path)
    before = (cell(tmp_path) / FILE).read_bytes()
    limited = (
        "import resource, signal, sys, runpy; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); sys.argv = sys.argv[1:]; "
        "sys.path.insert(0, '.'); runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    command = ["run.py", *BASE, "runner.n_jobs=1", f"results_dir={tmp_path}", "+method.grid.n_neighbors=[5,6]"]
    bare = {name: value for name, value in os.environ.items() if "COVERAGE" not in name}  # which has files of its own
    done = subprocess.run([sys.executable, "-c", limited, *command], cwd=ROOT, env=bare, capture_output=True, text=True)
    output = done.stdout + done.stderr
    assert done.returncode == 1 and "File too large" in output and "Traceback" not in output, output
    assert (cell(tmp_path) / FILE).read_bytes() == before
    assert len(load_all(tmp_path).trials) == 1


def handles(pid, number):
    """Return True if a process has a handler for a signal, and where the system does not say so."""
    status = Path(f"/proc/{pid}/status")
    caught = re.search(r"SigCgt:\s*(\w+)", status.read_text() if status.exists() else "")
    return caught is None or bool(int(caught[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("number, count, status", [(signal.SIGINT, 1, 130), (signal.SIGTERM, 2, 143)])
def test_a_signal_at_any_moment_ends_the_command_in_words(request, tmp_path, number, count, status):
    # Quickly one in the imports and one in the sweep; of SIGINT in a sweep, test_command_line has the words, too.
    quick = {signal.SIGINT: (0.5,), signal.SIGTERM: (3,)}[number]
    moments = (0.15, 0.4, 0.8, 1.5, 3, 6) if request.config.getoption("--slow") else quick
    for seconds in moments:
        process = subprocess.Popen(
            [sys.executable, "run.py", "-m", "method=mcfs,ndfs", "dataset=mnist500", f"results_dir={tmp_path}"],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        time.sleep(seconds)
        # Python answers for its own start; the command handles SIGTERM, and SIGINT before it.
        while process.poll() is None and not handles(process.pid, signal.SIGTERM):
            time.sleep(0.02)
        for _ in range(count):
            process.send_signal(number)
            time.sleep(0.02)
        output = process.communicate(timeout=60)[0]
        assert "Traceback" not in output, (seconds, output)
        assert process.returncode == status, (seconds, process.returncode, output)


@pytest.mark.parametrize("place", ["finally", "boundary"])
def test_an_error_that_a_signal_causes_on_its_way_does_not_stand_for_it(place):
    """OmegaConf's own copying raises an error where it is cut off."""
    where = {
        "finally": "try: kill()\nfinally: None.gone",
        "boundary": "with boundary():\n    try: kill()\n    finally: open('no such file')",
    }
    script = (
        "import os, signal, time\n"
        "from ufs_bench.runners.cli.boundary import boundary, guard\n"
        f"guard()\ndef kill(): os.kill(os.getpid(), signal.SIGTERM)\n{where[place]}\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout + done.stderr) == (143, "")


def test_a_module_that_cannot_be_taken_apart_does_not_stand_for_the_signal():
    """One whose import was cut off aborts then, which Python calls a fatal error."""
    code = (
        "import atexit, os, signal; from ufs_bench.runners.cli.boundary import guard\n"
        "guard(); atexit.register(print, 'closed')\n"
        "class Torn:\n    def __del__(self, abort=os.abort): abort()\n"
        "torn = Torn(); print('begun'); os.kill(os.getpid(), signal.SIGTERM)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (143, "begun\nclosed\n", "")


def test_threads_and_finalizers_that_are_cut_off_say_nothing():
    """The thread of loky fails now and then when its executor is shut down in the middle of a submission."""
    code = (
        "import os, signal, threading, time; from ufs_bench.runners.cli.boundary import guard\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler); guard('stopped')\n"  # ignored in the background
        "class Left:\n    def __del__(self): raise ValueError\n"
        "threading.Thread(target=lambda: [time.sleep(0.3), {}['x']]).start(); left = Left()\n"
        "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.strip()) == (130, "stopped")


OTHER_PLACES = {
    "a weak reference, as each import has one": "gone = weakref.ref(Left(), kill)",
    "code that drops it": "try: kill()\nexcept BaseException: pass",
    "a line that is printed": "sys.stderr = io.TextIOWrapper(io.BufferedWriter(Killing(os.dup(2), 'w')))\n"
    "print('cut off', file=sys.stderr, flush=True)",
}


@pytest.mark.parametrize("place", OTHER_PLACES)
def test_a_signal_ends_the_command_wherever_it_comes(place):
    code = (
        "import io, os, signal, sys, time, weakref; from ufs_bench.runners.cli import boundary\n"
        "boundary.PATIENCE_S = 0.2\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler); boundary.guard('stopped')\n"
        "def kill(*_): os.kill(os.getpid(), signal.SIGINT)\n"
        "class Left: pass\n"
        "class Killing(io.FileIO): write = kill\n"
        f"{OTHER_PLACES[place]}\ntime.sleep(50)\nprint('went on')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nstopped\n")


IN_THE_WAY = "a file, or a link that leads nowhere, is in the place of a folder: move it, or take another name"


def test_what_is_a_mistake_in_the_code_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError), boundary():
        raise ZeroDivisionError
    assert words_of(ValueError("anything")) is None


@pytest.mark.parametrize(
    "error, status, words",
    [
        (ConfigError("alpha=0 must be above 0."), 1, "error: alpha=0 must be above 0."),
        (PermissionError(13, "Permission denied", "/x/y"), 1, "error: /x/y: Permission denied"),
        (FileExistsError(17, "File exists", "/x/y"), 1, f"error: /x/y: File exists: {IN_THE_WAY}"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_the_boundary_says_one_line_and_has_a_status(capsys, error, status, words):
    with pytest.raises(SystemExit) as caught, boundary():
        raise error
    assert caught.value.code == status
    assert capsys.readouterr().err.strip() == words
