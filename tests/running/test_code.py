"""The digest of the code that a number rests on: edits that change it, and edits that do not."""

import importlib
import linecache
import os
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

import methods
from runners.code import code_of, code_of_evaluation, modules, note_modules
from runners.code.syntax import read
from runners.experiment.method import load_class
from runners.store import checkout
from runners.store.checkout import git_sha
from runners.store.identity import Identity, versions

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
    for name in [name for name in modules.sources if name.startswith(beginning)]:
        monkeypatch.delitem(modules.sources, name)
    monkeypatch.setattr(modules, "_seen", set())
    importlib.invalidate_caches()


@pytest.fixture
def git_is_asked():
    """Let git be asked again; a process asks it once, and has no public door to forget what it said."""
    checkout._checkout.cache_clear()
    yield
    checkout._checkout.cache_clear()


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function that computes the class's digest, with some files changed, as a new process would.

    With `checkout=True` the files are as those of the checkout, whose initialisers are known to do nothing else.
    """
    count = iter(range(100))

    def digest(name="own.Spread", checkout=False, **changes):
        folder = tmp_path / str(next(count))
        monkeypatch.setattr(modules, "_roots", [modules.ROOT, *([folder] if checkout else [])])
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
    assert digest(checkout=True).digest == digest(checkout=True, **change).digest


@pytest.mark.parametrize("change", [{"own_other": {"None": "print"}}, {"own_core_unused": {"0": "1"}}])
def test_all_that_an_initialiser_of_a_user_imports_counts_as_it_may_act_on_others(digest, change):
    assert digest().digest != digest(**change).digest


def test_the_files_that_count_are_those_that_are_reached(digest):
    names = {file.name for file, _ in digest(checkout=True).files}
    assert names == {"spread.py", "width.py", "sides.py", "late.py", "scaling.py"}


def test_a_file_counts_as_it_was_when_it_was_imported(digest, tmp_path):
    before = digest()
    cls = load_class("own.Spread")
    (path,) = (file for file, _ in before.files if file.name == "spread.py")
    path.write_text("this is not even Python (")
    note_modules(cls)
    assert code_of(cls) == before


def test_the_words_of_an_error_are_no_code_of_any_method():
    text = (modules.ROOT / "methods/core/checks.py").read_text()
    edited = text.replace('"a whole number"', '"an integer"').replace("must be one of", "has to be one of")
    assert edited.count("an integer") == 1 and edited.count("has to be") == 1
    assert read(edited.encode()).digest == read(text.encode()).digest
    assert read(text.replace("value < low", "value <= low").encode()).digest != read(text.encode()).digest


SAME = {
    "an annotation": ("def f(x: int) -> int:\n    y: int = 0", "def f(x: float) -> list:\n    y: str = 0"),
    "a type of a record": (
        "class A(NamedTuple):\n    x: int\n    y: int = 1",
        "class A(NamedTuple):\n    x: str\n    y: str = 1",
    ),
    "a message": ("def f(x):\n    raise E(f'{x} is small')", "def f(x):\n    raise E(f'small: {x!r}')"),
    "a warning": ("def f(x):\n    warnings.warn('a' + str(x))", "def f(x):\n    warnings.warn('b')"),
    "a name that a message alone uses": (
        "def f(x):\n    what = 'a' if x else 'b'\n    words = f'{what} {x}'\n    raise ValueError(words)",
        "def f(x):\n    raise ValueError(f'c {x}')",
    ),
    "what an assertion says": ("assert x, 'a'", "assert x, 'b'"),
    "what is shown": ("class A:\n    x = 1\n    def __repr__(self):\n        return 'a'", "class A:\n    x = 1"),
}  # fmt: skip
OTHER = {
    "a name of a record": ("class A:\n    x: int\n    y: int", "class A:\n    y: int\n    x: int"),
    "a field that is none": ("class A:\n    x: int = 1", "class A:\n    x: ClassVar[int] = 1"),
    "a type that a base converts to": ("class A(Model):\n    x: int", "class A(Model):\n    x: str"),
    "a type that decides which function is called": (
        "@f.register\ndef g(x: int):\n    return 1",
        "@f.register\ndef g(x: str):\n    return 1",
    ),
    "a default": ("class A:\n    x: int = 1", "class A:\n    x: int = 2"),
    "what an error holds": ("def f(x):\n    raise Found(x)", "def f(x):\n    raise Found(-x)"),
    "what it holds under a name": ("def f(x):\n    y = x\n    raise E(y)", "def f(x):\n    y = -x\n    raise E(y)"),
    "the kind of an error": ("def f(x):\n    raise KeyError('a')", "def f(x):\n    raise ValueError('a')"),
    "a binding in a message": ("def f(x):\n    raise E(f'{(y := x)}')", "def f(x):\n    raise E(f'{(y := -x)}')"),
    "a call in a warning": ("def f(x):\n    warn(f'{x.pop()}')\n    return x", "def f(x):\n    warn('')\n    return x"),
    "a name that a message and a number use": (
        "def f(x):\n    y = 1\n    if x:\n        raise E(f'{y}')\n    return y",
        "def f(x):\n    y = 2\n    if x:\n        raise E(f'{y}')\n    return y",
    ),
    "a change in place of what a message uses": (
        "def f(x):\n    y = x\n    y += 1\n    warn(f'{y}')\n    return x",
        "def f(x):\n    y = x\n    y += 2\n    warn(f'{y}')\n    return x",
    ),
    "a call for a message": (
        "def f(x):\n    y = x.pop()\n    warn(f'{y}')\n    return x",
        "def f(x):\n    y = x[0]\n    warn(f'{y}')\n    return x",
    ),
    "a text that is given back": ("def f(x):\n    return 'a'", "def f(x):\n    return 'b'"),
    "a name of a class beside a message": (
        "def f(x):\n    class A:\n        y = 1\n    warn(f'{y}')\n    return A.y",
        "def f(x):\n    class A:\n        y = 2\n    warn(f'{y}')\n    return A.y",
    ),
    "a local variable's name": ("def f(x):\n    y = x\n    return y", "def f(x):\n    z = x\n    return z"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "same"), [
    *(pytest.param(*pair, True, id=what) for what, pair in SAME.items()),
    *(pytest.param(*pair, False, id=what) for what, pair in OTHER.items()),
])  # fmt: skip
def test_what_can_change_a_number_is_code_and_nothing_else(old, new, same):
    assert (read(old.encode()).digest == read(new.encode()).digest) == same


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


@pytest.mark.parametrize(
    "line", ["from os import environ as E", "from os import getenv as g", "import os; os.environb[b'A']"]
)
def test_variables_under_a_name_that_is_not_looked_for_are_any(line):
    assert read(line.encode()).environment == (None,)
    assert read(b"from os import environ; environ['A']").environment == ("A",)


def test_git_is_asked_without_a_lock_that_a_killed_process_would_leave(monkeypatch, tmp_path):
    who = ["-c", "user.name=a", "-c", "user.email=b"]
    (tmp_path / "a.txt").write_text("one")
    for words in (["init", "-q"], ["add", "a.txt"], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    os.utime(tmp_path / "a.txt", (1, 1))  # git looks at the file anew, and would write what it found
    index = tmp_path / ".git/index"
    before = index.read_bytes()
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    assert checkout._checkout.__wrapped__()[1] == {"a.txt"} and index.read_bytes() == before
