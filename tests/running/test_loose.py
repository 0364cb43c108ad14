"""Classes that are in no file, as those of a notebook: whatever changes what they compute changes their digest."""

import itertools
import linecache
import sys
import textwrap
import types

import numpy as np
import pytest

import ufs_bench
from runners.code import code_of

SELECTOR = """
class Cell:
    check_parameters = None
    def fit(self, X):
        return {body}
"""
# What is edited -> the text of a cell, in which 1 becomes 0.
OF_VALUES = {
    "a decorator with functools.wraps": """
        import functools
        def twice(function):
            @functools.wraps(function)
            def wrapper(*given):
                return 1 * function(*given)
            return wrapper
        class Cell:
            check_parameters = None
            @twice
            def fit(self, X):
                return X
        """,
    "what such a decorator wraps": """
        import functools
        def outer(function):
            @functools.wraps(function)
            def wrapper(*given):
                return function(*given)
            return wrapper
        @outer
        def helper(X):
            return 1 * X
        class Cell:
            check_parameters = None
            def fit(self, X):
                return helper(X)
        """,
    "a list of the class": "class Cell:\n    check_parameters = None\n    weights = [2, 1]\n",
    "an array of the class": "import numpy\nclass Cell:\n    check_parameters = None\n    w = numpy.array([2, 1])\n",
    "a set of the class": "class Cell:\n    check_parameters = None\n    chosen = {2, 1}\n",
    "a mapping of lists": "class Cell:\n    check_parameters = None\n    chosen = {'a': [2, 1]}\n",
    "a method in a list": "from pathlib import Path\nclass Cell:\n    check_parameters = None\n"
    "    of = [(Path.exists, Path.is_file)[1]]\n",
    "a cached_property": """
        import functools
        class Cell:
            check_parameters = None
            @functools.cached_property
            def width(self):
                return 1
        """,
    "a partialmethod": """
        import functools
        class Cell:
            check_parameters = None
            def scaled(self, X, by):
                return by * X
            fit = functools.partialmethod(scaled, by=1)
        """,
    "a partial": """
        import functools, operator
        by = functools.partial(operator.mul, 1)
        class Cell:
            check_parameters = None
            def fit(self, X):
                return by(X)
        """,
    "a function's attribute": """
        def helper(X):
            return helper.by * X
        helper.by = 1
        class Cell:
            check_parameters = None
            def fit(self, X):
                return helper(X)
        """,
    "what globals() gives": """
        by = 1
        class Cell:
            check_parameters = None
            def fit(self, X):
                return globals()["by"] * X
        """,
    "a metaclass": """
        class Meta(type):
            def __new__(cls, *given):
                made = super().__new__(cls, *given)
                made.by = 1
                return made
        class Cell(metaclass=Meta):
            check_parameters = None
        """,
    "a method of a metaclass": """
        class Meta(type):
            def by(cls):
                return 1
        class Cell(metaclass=Meta):
            check_parameters = None
        """,
    "a default argument": """
        value = 1
        class Cell:
            check_parameters = None
            def fit(self, X, by=value):
                return by * X
        """,
    "a compiled helper": """
        import numba
        @numba.njit
        def helper(X):
            return 1 * X
        class Cell:
            check_parameters = None
            def fit(self, X):
                return helper(X)
        """,
    "a cached helper": """
        import functools
        @functools.cache
        def helper():
            return 1
        class Cell:
            check_parameters = None
            def fit(self, X):
                return helper() * X
        """,
    "one of two functions of a line": """
        pair = [lambda X: X, lambda X: -X]
        helper = pair[1]
        del pair
        class Cell:
            check_parameters = None
            def fit(self, X):
                return helper(X)
        """,
    "a base class": """
        class Base:
            def by(self):
                return 1
        class Cell(Base):
            check_parameters = None
        """,
    "a closure": """
        def made(by):
            class Cell:
                check_parameters = None
                def fit(self, X):
                    return by * X
            return Cell
        Cell = made(1)
        """,
    "a variable of the environment": """
        import os
        class Cell:
            check_parameters = None
            def fit(self, X):
                return X * float(os.environ.get("UNSET", 1))
        """,
    "a method of a mapping": "by = {2: 1}.get\n" + SELECTOR.format(body="by(2) * X"),
    "a method of a generator": """
        import numpy as np
        draw = np.random.default_rng(1).normal
        class Cell:
            check_parameters = None
            def fit(self, X):
                return draw() * X
        """,
    "a function of numpy.frompyfunc": """
        import numpy as np
        by = np.frompyfunc(lambda x: 1 * x, 1, 1)
        class Cell:
            check_parameters = None
            def fit(self, X):
                return by(X)
        """,
    "an array around it": """
        import numpy as np
        weights = np.arange(3) + 1
        class Cell:
            check_parameters = None
            def fit(self, X):
                return X * weights
        """,
}  # fmt: skip
UNKNOWN = {
    "what globals() gives": "fit calls globals",
    "a method of a generator": "what an object of Generator holds is not known",
    "a function of numpy.frompyfunc": "what an object of ufunc holds is not known",
    "an object": "what an object of Scaler holds is not known",
    "a text that is executed": "fit calls exec",
    "no source": "could not get source code",
}
number = itertools.count()


@pytest.fixture
def cell(monkeypatch):
    """Return a function that runs a text as a notebook does, and returns its names."""
    monkeypatch.setitem(sys.modules, "a_notebook", types.ModuleType("a_notebook"))

    def run(text):
        text, name = textwrap.dedent(text).lstrip(), f"<cell {next(number)}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        space = {"__name__": "a_notebook"}
        exec(compile(text, name, "exec"), space)
        return space

    return run


@pytest.mark.parametrize("what", OF_VALUES)
def test_an_edit_of_a_cell_is_another_code(cell, what):
    text = OF_VALUES[what]
    first, again, edited = (code_of(cell(one)["Cell"]) for one in (text, text, text.replace("1", "0")))
    assert first.digest == again.digest
    assert (first.digest != edited.digest) == (what not in UNKNOWN)
    assert UNKNOWN.get(what, "") in first.unknown and bool(first.digest) == (what not in UNKNOWN)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("an object", "class Scaler:\n    by = 1\nscaler = Scaler()\n" + SELECTOR.format(body="scaler.by * X")),
        ("a text that is executed", SELECTOR.format(body="exec('X')")),
    ],
)
def test_what_is_not_known_is_said(cell, what, text):
    code = code_of(cell(text)["Cell"])
    assert code.digest == "" and UNKNOWN[what] in code.unknown


def test_a_helper_that_is_defined_anew_is_seen_though_the_class_is_the_same(cell):
    space = cell("def helper(X):\n    return X\n" + SELECTOR.format(body="helper(X)"))
    before = code_of(space["Cell"])
    space["helper"] = cell("def helper(X):\n    return -X\n")["helper"]
    assert code_of(space["Cell"]).digest not in ("", before.digest)


@pytest.fixture
def fitted(cell, tmp_path, monkeypatch):
    """Return functions that define the cell's `spread`, and that run it and return its stored ranking."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(30, 6)) * np.arange(1, 7), np.repeat([0, 1], 15)
    monkeypatch.chdir(tmp_path)

    def define(text):
        vars(sys.modules["a_notebook"]).update(cell(text))

    def ranking():
        few = ["protocol.sizes=[3]", "protocol.restarts=2"]
        study = ufs_bench.run([sys.modules["a_notebook"].spread], {"own": data}, overrides=few)
        (features,) = study.frame["features"]
        return features.tolist()

    return define, ranking


def test_a_fit_of_an_edited_cell_has_the_scores_of_the_edited_cell(fitted):
    """The helper is edited and the class is not; and a file that the fit reads."""
    define, ranking = fitted
    np.save("by.npy", 1.0)
    text = """
        import numpy as np
        def by():
            return 1 * np.load("by.npy")
        def spread(X):
            return by() * X.std(axis=0)
        """
    define(text)
    first = ranking()
    assert ranking() == first
    define(text.replace("1 *", "-1 *"))
    second = ranking()
    assert second != first
    np.save("by.npy", -1.0)
    assert ranking() == first


def test_what_is_not_known_is_computed_anew_at_every_run_and_a_line_says_so(fitted, capsys):
    define, ranking = fitted
    define("class Scaler:\n    by = 1\nscaler = Scaler()\ndef spread(X):\n    return scaler.by * X.std(axis=0)\n")
    first, said = ranking(), "(what an object of Scaler holds is not known): its trials are run anew at every run"
    assert said in capsys.readouterr().out
    sys.modules["a_notebook"].scaler.by = -1
    assert ranking() != first
    assert said in capsys.readouterr().out
