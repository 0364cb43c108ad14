"""The trials that are computed anew after an edit: in the same study, in another one and in a finished sweep.

Every edit is made to a copy of the checkout, by commands as a user types them.
"""

import functools
import hashlib
import os
import re
import shutil
from typing import NamedTuple

import forked
import numpy as np
import pytest

from ufs_bench.runners.code import ROOT, SAME

METHOD = '''
import numpy as np
from ufs_bench.methods.core.base import BaseSelector, Solution
from ufs_bench.methods.spread_part import width

class Spread(BaseSelector):
    """Features of large spread."""

    def __init__(self, n_features_to_select=None, *, power=1):
        super().__init__(n_features_to_select)
        self.power = power

    def _solve(self, X, rng):
        with open("fits.log", "a") as file:
            file.write("x")
        return Solution(+width(X) ** self.power)
'''
YAML = """name: spread
paper_name: Spread
target: methods.spread.Spread
params: {power: 1}
grid: {power: [1, 2]}
citation: nobody
"""
DATA = """name: own
paper_name: Own
citation: nobody
origin: here
terms: none
samples: 40
features: 12
classes: 2
image: null
data_sha256: null
sources:
  - {file: own.npz, format: npz, options: {x: X, y: y}, checksum: "sha256:%s"}
"""
FILES = {
    "methods/spread.py": METHOD,
    "methods/spread_part.py": "def width(X):\n    return X.std(axis=0)\n",
    "conf/method/spread.yaml": YAML,
    "more/method/wide.yaml": YAML.replace("name: spread", "name: wide"),
    "beside/sitecustomize.py": "",
}
OLDER = """import importlib.metadata as m
old = m.version
m.version = lambda name: "0.1" if name == "numpy" else old(name)
"""


def write_data(folder, seed=0):
    """Write a data set of the copy's own."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 20)
    (folder / "data").mkdir(exist_ok=True)
    np.savez(folder / "data/own.npz", X=rng.normal(size=(40, 12)) + y[:, None] * (np.arange(12) < 4), y=y)
    digest = hashlib.sha256((folder / "data/own.npz").read_bytes()).hexdigest()
    (folder / "conf/dataset/own.yaml").write_text(DATA % digest)


EDITS_ITSELF = """
        import os, pathlib, signal
        path = pathlib.Path(__file__)
        if not pathlib.Path("killed").exists():
            pathlib.Path("killed").touch()
            path.write_text(path.read_text().replace("+wid", "-wid"))
            os.kill(os.getpid(), signal.SIGKILL)
"""


PLACES = ("the same study", "another study", "a finished sweep")


class Edit(NamedTuple):
    """An edit, with the numbers of fits that it repeats and of selections that are only scored again."""

    what: str
    fits: int
    scores: int = 0
    change: object = None  # (file, old, new), or a function of the copy's folder
    words: tuple = ()
    environment: tuple = ()
    of_stored: bool = False  # True where stored trials no longer count
    base: tuple = ("method=spread",)
    fast: tuple = ()  # the places that are tried without --slow


ASKED = [
    *("dataset=own", "protocol=demo", "protocol.sizes=[3]", "protocol.restarts=2"),
    *("results_dir=results", "runner.n_jobs=1"),
]
WIDE = ("--config-dir", "more", "method=wide")
TYPED = ("method=spread", "method.grid.power=[1,2,3]")
IMPORT = "import numpy", "import math\nimport numpy"
EDITS = [
    Edit("nothing", 0),
    Edit("the method: its sign", 2, change=("methods/spread.py", "+width", "-width"), of_stored=True, fast=PLACES[2:]),
    Edit("the method: a comment", 0, change=("methods/spread.py", "import numpy", "# words\nimport numpy")),
    Edit("a module of the method", 2, change=("methods/spread_part.py", "X.std", "-X.std"), of_stored=True),
    Edit("a shared module of methods/", 2, change=("methods/core/base.py", *IMPORT), of_stored=True),
    Edit("another method", 0, change=("methods/jelsr.py", *IMPORT)),
    Edit("scaling", 2, change=("datasets/scaling.py", *IMPORT), of_stored=True),
    Edit("evaluation", 0, 2, change=("metrics/clustering.py", *IMPORT), of_stored=True, fast=PLACES[:1]),
    Edit("the runner", 0, change=("runners/progress.py", "import logging", "import math\nimport logging")),
    Edit("a file of conf/: a value more", 1, change=("conf/method/spread.yaml", "[1, 2]", "[1, 2, 3]")),
    Edit("a file of --config-dir: a value more", 1, change=("more/method/wide.yaml", "2]", "2, 3]"), base=WIDE),
    Edit("typed: a value more", 1, words=TYPED),
    Edit("the data", 2, change=lambda folder: write_data(folder, 1)),
    Edit("the kernel of BLAS", 2, environment=(("OPENBLAS_CORETYPE", "Prescott"),), of_stored=True, fast=PLACES[:1]),
    Edit("the version of a package", 2, change=("beside/sitecustomize.py", "", OLDER), of_stored=True),
    Edit("runner.redo in conf/", 2, change=("conf/runner/local.yaml", "redo: false", "redo: true"), of_stored=True),
]
CASES = [
    pytest.param(edit, place, id=f"{edit.what}, {place}", marks=[] if place in edit.fast else pytest.mark.slow)
    for edit in EDITS
    for place in PLACES
]


class Copy:
    """A copy of the checkout, in which edits are made and commands typed."""

    def __init__(self, folder, of=None):
        self.folder = folder
        if of is not None:
            shutil.copytree(of.folder, folder, dirs_exist_ok=True)
            return
        for name in ("conf", "datasets", "methods", "metrics", "runners", "ufs_bench"):
            shutil.copytree(ROOT / name, folder / name)  # with the compiled code
        (folder / SAME.relative_to(ROOT)).parent.mkdir(parents=True)
        for name in ("run.py", SAME.relative_to(ROOT)):
            shutil.copy(ROOT / name, folder / name)
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        write_data(folder)

    def edit(self, change):
        """Edit a file as a person does, a minute later: compiled code is told from its source by second and size."""
        if callable(change):
            change(self.folder)
        elif change is not None:
            path, old, new = change
            text = (self.folder / path).read_text()
            assert old in text
            modified = (self.folder / path).stat().st_mtime
            (self.folder / path).write_text(text.replace(old, new, 1) if old else new + text)
            os.utime(self.folder / path, (modified + 60, modified + 60))

    def run(self, *words, **environment):
        """Run a command; return what it prints, and how many fits it did."""
        own = {"PYTHONPATH": str(self.folder / "beside"), "UFS_DATA_DIR": str(self.folder / "data")}
        (self.folder / "fits.log").write_text("")
        text = forked.printed(["run.py", *words, *ASKED], self.folder, os.environ | own | environment)
        return text, len((self.folder / "fits.log").read_text())


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return a function that gives a copy of the checkout in which a command has done its two fits."""

    @functools.cache
    def after(base):
        copy = Copy(tmp_path_factory.mktemp("ran"))
        assert copy.run(*base)[1] == 2
        return copy

    return after


@pytest.mark.parametrize(("edit", "where"), CASES)
def test_what_an_edit_asks_for_is_done_again_and_nothing_else(tmp_path, ran, edit, where):
    sweep = ["-m"] if where == "a finished sweep" else []
    copy = Copy(tmp_path, of=None if sweep else ran(edit.base))
    if sweep:  # which is told from an unfinished one by its folder, too
        assert copy.run(*sweep, *edit.base)[1] == 2
    copy.edit(edit.change)
    study = ["study=b"] if where == "another study" else []
    text, fits = copy.run(*sweep, *(edit.base if not edit.words else edit.words), *study, **dict(edit.environment))
    scored = sum(int(count) for count in re.findall(r"(\d+) stored selections? to score again", text))
    if where == "another study":  # the other study has no selections of its own to score
        assert (fits, scored) == (edit.fits + edit.scores, 0)
    else:
        assert (fits, scored) == (edit.fits, edit.scores)
        assert ("kept until the new ones are stored" in text) == edit.of_stored


def test_an_edited_method_has_the_scores_of_the_edited_method(tmp_path):
    copy = Copy(tmp_path)
    before, _ = copy.run("method=spread", "study=a")
    copy.edit(("methods/spread.py", "+width", "-width"))
    plan, fits = copy.run("method=spread", "study=a", "runner.plan=true")
    assert fits == 0 and "2 of 2 fits to do, of them 2 stored trials to fit again" in plan
    after, other = copy.run("method=spread", "study=a")[0], copy.run("method=spread", "study=b")[0]
    fresh, _ = copy.run("method=spread", "study=c", "runner.reuse=none")
    best = [re.search(r"default parameters.*", text)[0] for text in (before, after, other, fresh)]
    assert best[0] != best[1] == best[2] == best[3]


def test_a_worker_with_other_code_than_the_command_ends_the_cell_with_a_line(tmp_path):
    """The first fit edits its method and kills its worker: the next worker has another method than the command."""
    copy = Copy(tmp_path)
    copy.edit(("methods/spread.py", "        with open", EDITS_ITSELF + "        with open"))
    with pytest.raises(AssertionError, match="was edited after this command had begun"):
        copy.run("method=spread", "runner.max_seconds=60")
    rows = (tmp_path / "results/demo/own/spread/trials.csv").read_text().splitlines()
    assert len(rows) == 1
    _, fits = copy.run("method=spread")
    assert fits == 2
