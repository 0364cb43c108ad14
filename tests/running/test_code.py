"""The digest of the code that a number rests on: edits that change it, and edits that do not."""

import importlib
import linecache
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

import methods
from runners import provenance
from runners.code import code_of, code_of_evaluation, note_modules
from runners.method import load_class
from runners.provenance import Identity, git_sha, versions

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


def forget(monkeypatch, beginning):
    """Forget modules whose names begin so, as a new process would; there is no public door to it within one."""
    for name in [name for name in sys.modules if name.startswith(beginning)]:
        monkeypatch.delitem(sys.modules, name)
    code = sys.modules["runners.code"]
    kept = {name: text for name, text in code._sources.items() if not name.startswith(beginning)}
    monkeypatch.setattr(code, "_sources", kept)
    monkeypatch.setattr(code, "_seen", set())
    importlib.invalidate_caches()


@pytest.fixture
def git_is_asked():
    """Let git be asked again; a process asks it once, and has no public door to forget what it said."""
    provenance._checkout.cache_clear()
    yield
    provenance._checkout.cache_clear()


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function that computes the class's digest, with some files changed, as a new process would."""
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
        forget(monkeypatch, "own")
        return code_of(load_class(name))

    return digest


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
    ],
)
def test_a_change_in_what_the_class_reaches_is_another_code(digest, change):
    assert digest().digest != digest(**change).digest


@pytest.mark.parametrize("change", [{"own_other": {"None": "print"}}, {"own_core_unused": {"0": "1"}}])
def test_a_change_in_what_it_does_not_reach_is_none(digest, change):
    assert digest().digest == digest(**change).digest


def test_the_files_that_count_are_those_that_are_reached(digest):
    names = {file.name for file, _ in digest().files}
    assert names == {"spread.py", "width.py", "sides.py", "late.py", "scaling.py"}


def test_a_file_counts_as_it_was_when_it_was_imported(digest, tmp_path):
    before = digest()
    cls = load_class("own.Spread")
    (path,) = (file for file, _ in before.files if file.name == "spread.py")
    path.write_text("this is not even Python (")
    code_of.cache_clear()
    note_modules(cls)
    assert code_of(cls) == before


def test_every_method_rests_on_its_own_modules_and_on_no_other_method():
    for name in methods.__all__:
        files = code_of(getattr(methods, name)).files
        own = {file.parent.name if file.parent.name != "methods" else file.stem for file, _ in files}
        (first,) = own - {"core", "datasets", "baselines"} or {"baselines"}
        assert 6 <= len(files) <= 26 and first in getattr(methods, name).__module__


def test_what_evaluates_is_scaling_and_metrics_and_no_study():
    names = {file.name for file, _ in code_of_evaluation().files}
    assert {"scaling.py", "kmeans.py", "elkan.py", "clustering.py", "label_free.py"} <= names
    assert not {"summary.py", "ranks.py", "protocol.py"} & names


def test_a_class_without_a_file_is_told_by_its_source_and_without_one_by_nothing():
    def made(sign, named):
        text = f"class Cell:\n    check_parameters = None\n    def fit(self, X):\n        return {sign}X\n"
        name = f"<cell {sign}>" if named else "<nothing>"
        if named:
            linecache.cache[name] = len(text), None, text.splitlines(True), name
        space = {"__name__": "no_such_module"}
        exec(compile(text, name, "exec"), space)
        return code_of(space["Cell"]).digest

    assert made("+", True) == made("+", True) != made("-", True)
    assert made("+", False) == ""
    nowhere = Identity("", "e", "v")
    assert nowhere.difference(nowhere) and not nowhere.same_fit(nowhere)


def test_a_commit_is_not_clean_for_a_class_that_it_does_not_have(digest, git_is_asked, monkeypatch):
    answers = {"rev-parse": "5" * 40}
    monkeypatch.setattr("subprocess.run", lambda words, **_: SimpleNamespace(stdout=answers.get(words[1], "")))
    digest()
    assert git_sha() == "5" * 40
    assert git_sha(load_class("own.Spread")) == "5" * 40 + "-dirty"


def test_a_git_that_does_not_answer_leaves_the_commit_unknown(git_is_asked, monkeypatch):
    def hang(*arguments, timeout, **options):
        raise subprocess.TimeoutExpired(arguments, timeout)

    monkeypatch.setattr("subprocess.run", hang)
    assert git_sha() == "unknown"


def test_versions_name_what_else_a_method_imports_but_not_the_cores():
    found = versions(("yaml", "numpy"))
    assert found["yaml"] and "cores" not in found["machine"]
    assert "yaml" not in versions()
