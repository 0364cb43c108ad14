"""The digest of the code that a number rests on: edits that change it, and edits that do not."""

import importlib
import os
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

from ufs_bench import methods
from ufs_bench.runners import code, place
from ufs_bench.runners.code import code_of, code_of_evaluation
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.place import git_sha
from ufs_bench.runners.store.identity import Identity, versions

FILES = {
    "own/__init__.py": "from own.spread import Spread\nfrom own.other import Other\n",
    "own/spread.py": '''
        """Features of large spread."""
        import numpy as np
        from own.core import width
        from own.core.sides import *

        class Spread:
            """A selector."""

            def check_parameters(self, X):
                """Nothing to check."""

            def fit(self, X):
                from own.late import late
                # the sign is what a test changes
                return +width(X) * late(side)
        ''',
    "own/other.py": "class Other:\n    check_parameters = None\n",
    "own/late.py": "def late(x):\n    return x\n",
    "own/core/__init__.py": "from .width import width\nfrom .unused import nothing\n",
    "own/core/width.py": "import colorsys\n\ndef width(X):\n    return X.std(axis=0)\n",
    "own/core/sides.py": "side = 1\n",
    "own/core/unused.py": "nothing = 0\n",
}


def forget(beginning):
    """Forget modules whose names begin so, as a new process would."""
    for name in [name for name in sys.modules if name.startswith(beginning)]:
        del sys.modules[name]
    for cached in (code._file, code._is_package, code._is_installed):
        cached.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def git_is_asked():
    """Let git be asked again; a process asks it once, and has no public door to forget what it said."""
    place._checkout.cache_clear()
    yield
    place._checkout.cache_clear()


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function that computes the class's code, with some files changed, as a new process would."""
    count = iter(range(100))

    def digest(name="own.Spread", **changes):
        folder = tmp_path / str(next(count))
        for path, text in FILES.items():
            own = folder / path
            own.parent.mkdir(parents=True, exist_ok=True)
            text = textwrap.dedent(text)
            for old, new in changes.get(path.replace("/", "_").replace(".py", ""), {}).items():
                assert old in text
                text = text.replace(old, new)
            own.write_text(text)
        monkeypatch.syspath_prepend(folder)
        forget("own")
        return code_of(load_class(name))

    yield digest
    forget("own")


def test_comments_docstrings_and_layout_are_no_code(digest):
    words = {"# the sign is what a test changes": "# another comment", "Nothing to check.": "Really nothing."}
    assert digest().digest == digest(own_spread=words | {"import numpy as np": "\n\nimport numpy as np\n"}).digest


@pytest.mark.parametrize(
    "change",
    [
        {"own_spread": {"+width": "-width"}},
        {"own_core_width": {"axis=0": "axis=1"}},  # behind an initialiser that hands its name on
        {"own_core_sides": {"1": "2"}},  # behind a star
        {"own_late": {"return x": "return -x"}},  # imported only when the method runs
        {"own_other": {"None": "print"}},  # imported by the initialiser of its package, which may act on others
    ],
)
def test_a_change_in_what_the_class_reaches_is_another_code(digest, change):
    assert digest().digest != digest(**change).digest


def test_an_edit_after_the_import_is_not_known_and_said(digest):
    before = digest()
    (path,) = (file for file, _ in before.files if file.name == "late.py")
    path.write_text("def late(x):\n    return -x\n")
    found = code_of(load_class("own.Spread"))
    assert found.digest == "" and f"{path} was edited after it had been imported" in found.unknown


def test_a_compiled_file_of_the_same_size_and_second_is_not_taken_for_the_source(tmp_path):
    program = "from ufs_bench.runners.experiment.method import load_class; print(load_class('mine.rank').wrapped(1))"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(code.ROOT)])
    said = []
    for sign in "+-":
        (tmp_path / "helper.py").write_text(f"def rank(X):\n    return {sign}X\n")
        (tmp_path / "mine.py").write_text("from helper import rank\n")
        os.utime(tmp_path / "helper.py", (1, 1))
        if sign == "+":
            subprocess.run([sys.executable, "-c", "import mine"], cwd=tmp_path, env=environment, check=True)
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True)
        said.append(done.stdout.split()[-1])
    assert said == [b"1", b"-1"]


def test_every_method_rests_on_its_own_modules_and_on_no_other_method():
    for name in methods.__all__:
        files = code_of(getattr(methods, name)).files
        own = {file.parent.name if file.parent.name != "methods" else file.stem for file, _ in files}
        (first,) = own - {"core", "datasets", "baselines"} or {"baselines"}
        assert 6 <= len(files) <= 26 and first in getattr(methods, name).__module__


@pytest.mark.parametrize("package", ["ufs_bench", "ufs_bench.methods"])
def test_a_class_of_the_suite_that_a_method_imports_by_its_short_name_counts(digest, package):
    change = {"class Other": f"from {package} import NDFS\nclass Other"}
    found = digest(own_other=change).files
    assert "ndfs" in {part for file, _ in found for part in file.with_suffix("").parts}


def test_what_evaluates_is_scaling_and_metrics_and_no_study():
    names = {file.name for file, _ in code_of_evaluation().files}
    assert {"scaling.py", "kmeans.py", "elkan.py", "clustering.py", "label_free.py"} <= names
    assert not {"summary.py", "ranks.py", "protocol.py"} & names


def test_a_class_in_no_file_has_no_digest_and_is_the_same_as_nothing():
    space = {"__name__": "no_such_module"}
    exec("class Cell:\n    check_parameters = None\n", space)
    assert code_of(space["Cell"]).digest == ""
    nowhere = Identity("", "e", "v")
    assert nowhere.difference(nowhere) and not nowhere.same_fit(nowhere)


def test_a_commit_is_not_clean_for_a_class_that_it_does_not_have(digest, git_is_asked, monkeypatch):
    answers = {"rev-parse": "5" * 40}
    monkeypatch.setattr("subprocess.run", lambda words, **_: SimpleNamespace(stdout=answers.get(words[1], "")))
    digest()
    assert git_sha() == "5" * 40
    assert git_sha(code_of(load_class("own.Spread"))) == "5" * 40 + "-dirty"


def test_a_git_that_does_not_answer_leaves_the_commit_unknown(git_is_asked, monkeypatch):
    def hang(*arguments, timeout, **options):
        raise subprocess.TimeoutExpired(arguments, timeout)

    monkeypatch.setattr("subprocess.run", hang)
    assert git_sha() == "unknown"


def test_versions_name_what_else_a_method_imports_but_not_the_cores():
    found = versions(("yaml", "numpy"))
    assert found["yaml"] and "cores" not in found["machine"]
    assert "yaml" not in versions()


def test_git_is_asked_without_a_lock_that_a_killed_process_would_leave(monkeypatch, tmp_path):
    who = ["-c", "user.name=a", "-c", "user.email=b"]
    (tmp_path / "a.txt").write_text("one")
    for words in (["init", "-q"], ["add", "a.txt"], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    os.utime(tmp_path / "a.txt", (1, 1))  # git looks at the file anew, and would write what it found
    index = tmp_path / ".git/index"
    before = index.read_bytes()
    monkeypatch.setattr(place, "SUITE", tmp_path)
    assert place._checkout.__wrapped__()[1] == {"a.txt"} and index.read_bytes() == before
