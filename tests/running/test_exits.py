"""A method that ends the process it runs in fails like any other, in a worker and in the process itself."""

import itertools
import os
import textwrap
import time
from types import SimpleNamespace

import numpy as np
import pytest

from metrics.protocol import Protocol
from runners import processes
from runners.boundary import CommandEnded, ProcessEnded, exits_as_errors, words_of
from runners.method import ConfigError, load_class
from runners.pool import run_all
from runners.tasks import Data
from runners.trial import expand

PROTOCOL = Protocol(name="test", sizes=(2, 3), scaling="none", restarts=3, seed=0, nmi="geometric", max_iter=20)
DATA = SimpleNamespace(
    name="blobs", X=np.random.default_rng(0).normal(size=(30, 6)), y=np.arange(30) % 3, n_classes=3, sha="ab12"
)
EXITING = """
import os
import sys
from methods.core.base import BaseSelector, Solution

class Exiting(BaseSelector):
    def __init__(self, n_features_to_select=None, *, gain=1.0, how=""):
        self.n_features_to_select, self.gain, self.how = n_features_to_select, gain, how

    def _solve(self, X, rng):
        if self.gain == 2 and self.how.startswith("forks"):
            copy = os.fork()
            if copy:
                os.waitpid(copy, 0)
            elif self.how == "forks, and the copy raises":
                raise ValueError("in the copy")
            elif self.how == "forks, and the copy exits":
                sys.exit(0)
        elif self.gain == 2:
            eval(self.how)
        return Solution(self.gain * X.var(axis=0))

class Checking(Exiting):
    def check_parameters(self, X):
        sys.exit("not this one")
"""


@pytest.fixture(scope="module")
def exiting(tmp_path_factory):
    """Return the dotted name of a selector that ends its process where gain is 2."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "exiting.py").write_text(textwrap.dedent(EXITING))
    (folder / "importing.py").write_text("import sys\nsys.exit()\n")
    processes.close()  # workers that other tests have started do not know the new folder
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        yield "exiting.Exiting"
    processes.close()


def trials_of(target, how=""):
    method = {"name": "exiting", "target": target, "params": {"gain": 1.0, "how": how}}
    return expand("s", DATA, method | {"grid": {"gain": [1.0, 2.0, 3.0]}}, PROTOCOL)


def run(trials, n_jobs):
    outcomes = list(itertools.chain.from_iterable(run_all(trials, Data(DATA.X, DATA.y), n_jobs)))
    rows = {outcome.trial["trial"]: outcome.trial for outcome in outcomes}
    assert len(outcomes) == len(rows) == 3
    return [rows[trial.key] for trial in trials]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "how, words",
    [
        ("sys.exit()", "sys.exit(None)"),
        ("sys.exit('enough')", "sys.exit('enough')"),
        ("os._exit(3)", "os._exit(3)"),
    ],
)
def test_a_fit_that_ends_its_process_fails_in_words_and_the_others_go_on(exiting, n_jobs, how, words):
    leave = os._exit
    rows = run(trials_of(exiting, how), n_jobs)
    assert [row["status"] for row in rows] == ["converged", "failed", "converged"]
    assert rows[1]["error"] == (
        f"ProcessEnded: the method called {words}, which ends the process: let it raise an error."
    )
    assert os._exit is leave


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("how", ["forks, and the copy raises", "forks, and the copy exits", "forks, and it returns"])
def test_a_copy_of_the_process_that_a_fit_forks_runs_no_trial_and_stores_nothing(exiting, tmp_path, how):
    ran = tmp_path / "ran"
    for outcomes in run_all(trials_of(exiting, how), Data(DATA.X, DATA.y), 1):
        with open(ran, "a") as file:
            file.write(f"{os.getpid()} {[outcome.trial['status'] for outcome in outcomes]}\n" if outcomes else "")
    time.sleep(0.1)
    lines = ran.read_text().splitlines()
    assert {line.split()[0] for line in lines} == {str(os.getpid())}
    assert sum(line.count("converged") for line in lines) == 3


def test_a_method_that_ends_the_process_while_it_is_imported_or_checked_is_refused(exiting):
    with pytest.raises(ConfigError, match=r"'importing.X' cannot be imported: .*the method called sys.exit\(None\)"):
        load_class("importing.X")
    with pytest.raises(ConfigError, match=r"the method called sys.exit\('not this one'\)"):
        trials_of("exiting.Checking")


def test_ctrl_c_during_a_fit_ends_the_command():
    with pytest.raises(CommandEnded), exits_as_errors():
        raise CommandEnded(130)
    with pytest.raises(KeyboardInterrupt), exits_as_errors():
        raise KeyboardInterrupt
    with pytest.raises(ProcessEnded) as caught, exits_as_errors():
        raise SystemExit
    assert "sys.exit(None)" in words_of(caught.value)
