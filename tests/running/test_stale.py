"""No score is stale: whatever a method of a user rests on is edited, and it is run anew."""

import csv
import json
import os
import subprocess
import sys
from typing import NamedTuple

import forked
import numpy as np
import pytest

from methods import LaplacianScore
from runners.code import ROOT, code_of, code_of_evaluation

CLASS = """
class {name}:
    def fit(self, X):
        with open("fits.log", "a") as file:
            file.write("{name} ")
        self.scores_ = {sign} * X.std(axis=0)
        return self
"""


class Case(NamedTuple):
    """A method, in files below or beside the folder of the command; an edit replaces 1 by -1 in one of them."""

    what: str
    edited: str  # the file, or the variable of the environment
    head: str  # the beginning of the method's module
    sign: str = "sign()"
    files: tuple = ()  # (path, text) pairs
    body: str = CLASS


SIGN = "def sign():\n    return 1\n"
NAMELESS = (
    "from importlib import util\nspec = util.spec_from_file_location('nameless', 'named{}.py')\n"
    "module = util.module_from_spec(spec)\nspec.loader.exec_module(module)\nsign = module.sign"
)
CASES = {
    "Nothing": Case("nothing", "", SIGN),
    "Second": Case("a helper in a second folder of PYTHONPATH", "../second/helper2.py", "from helper2 import sign",
                   files=(("../second/helper2.py", SIGN),)),
    "Base": Case("a base class in a second folder", "../second/base2.py", "from base2 import Part", "self.sign()",
                 (("../second/base2.py", "class Part:\n    def sign(self):\n        return 1\n"),),
                 CLASS.replace("{name}:", "{name}(Part):")),
    "Inserted": Case("a helper found by sys.path.insert", "../third/helper3.py",
                     "import sys\nsys.path.insert(0, '../third')\nfrom helper3 import sign",
                     files=(("../third/helper3.py", SIGN),)),
    "InsertedLate": Case("a helper found by sys.path.insert in the fit", "../fourth/helper4.py",
                         "import sys\ndef sign():\n    sys.path.insert(0, '../fourth')\n    import helper4\n"
                         "    return helper4.sign()", files=(("../fourth/helper4.py", SIGN),)),
    "Named": Case("import_module of a name", "named1.py",
                  "import importlib\nsign = importlib.import_module('named1').sign",
                  files=(("named1.py", SIGN),)),
    "Computed": Case("import_module of a name that is computed", "named2.py",
                     "import importlib\nsign = importlib.import_module('named' + str(2)).sign",
                     files=(("named2.py", SIGN),)),
    "ComputedTwice": Case("a module that such a module imports", "named4.py",
                          "import importlib\nsign = importlib.import_module('named' + str(3)).sign",
                          files=(("named3.py", "from named4 import sign\n"), ("named4.py", SIGN))),
    "Executed": Case("exec of the text of a file", "text5.txt", "exec(open('text5.txt').read())",
                     files=(("text5.txt", SIGN),)),
    "Effect": Case("a package that imports a module for what that does", "package6/effect.py",
                   "import package6.table\nfrom package6.table import sign",
                   files=(("package6/__init__.py", "from package6 import effect\n"),
                          ("package6/table.py", "value = 0\ndef sign():\n    return value\n"),
                          ("package6/effect.py", "import package6.table\npackage6.table.value = 1\n"))),
    "Array": Case("an array that the fit reads", "array7.npy", "import numpy as np", "np.load('array7.npy')"),
    "Json": Case("a JSON file that is read at the import", "table8.json",
                 "import json\nvalue = json.load(open('table8.json'))", "value", (("table8.json", "1"),)),
    "Kept": Case("a file that a helper reads once and keeps", "kept9.txt", "from kept9 import sign",
                 files=(("kept9.txt", "1"),
                        ("kept9.py", "import functools\n@functools.cache\ndef sign():\n"
                                     "    return int(open('kept9.txt').read())\n"))),
    "KeptToo": Case("the same file, of a second method", "kept9.txt", "from kept9 import sign"),
    "Environment": Case("a variable of the environment", "SIGN10", "import os\ndef sign():\n"
                        "    return int(os.environ['SIGN10'])"),
    "Folder": Case("a module of a folder without an initialiser", "folder12/part.py",
                   "from folder12 import part\nsign = part.sign", files=(("folder12/part.py", SIGN),)),
    "FolderToo": Case("the same module, of a second method", "folder12/part.py",
                      "from folder12 import part\nsign = part.sign"),
    "ComputedToo": Case("import_module of the same computed name, by a second method", "named2.py",
                        "import importlib\nsign = importlib.import_module('named' + str(2)).sign"),
    "Unpickled": Case("a module that an object of pickle names, and another method has loaded", "named1.py",
                      "import pickle\nsign = pickle.loads(b'cnamed1\\nsign\\n.')"),
    "Nameless": Case("what a module without a name imports", "named14.py", NAMELESS.format(13),
                     files=(("named13.py", "from named14 import sign\n"), ("named14.py", SIGN))),
    "NamelessReads": Case("what a module without a name reads", "read16.txt", NAMELESS.format(15),
                          files=(("named15.py", "value = int(open('read16.txt').read())\n"
                                                "def sign():\n    return value"), ("read16.txt", "1"))),
    "Emptied": Case("what a text imports that is executed without names", "named18.py",
                    "names = {}\nexec(open('text17.txt').read(), names)\nsign = names['sign']",
                    files=(("text17.txt", "from named18 import sign\n"), ("named18.py", SIGN))),
    "Path": Case("what a file imports that runpy runs", "named20.py",
                 "import runpy\nsign = runpy.run_path('named19.py')['sign']",
                 files=(("named19.py", "from named20 import sign\n"), ("named20.py", SIGN))),
    "Thread": Case("a file that a thread reads at the import", "read21.txt",
                   "from concurrent.futures import ThreadPoolExecutor\nfrom pathlib import Path\n"
                   "with ThreadPoolExecutor(1) as pool:\n"
                   "    value = int(pool.submit(Path('read21.txt').read_text).result())",
                   "value", (("read21.txt", "1"),)),
    "Decorated": Case("an annotation that a decorator looks at", "named22.py", "from named22 import Made", "Made.x",
                      (("named22.py", "def made(cls):\n    cls.x = cls.__annotations__['x']\n    return cls\n"
                                      "@made\nclass Made:\n    x: 1\n"),)),
    "Expanded": Case("a variable of the environment in a path", "SIGN23",
                     "import os\nvalue = int(os.path.expandvars('${SIGN23}'))", "value"),
    "Getenv": Case("a variable of the environment by getenv at the import", "SIGN11",
                   "import os\nvalue = int(os.getenv('SIGN11'))", "value"),
}  # fmt: skip
LIKE_OTHERS = "Base Inserted Computed ComputedToo Array Json Nameless Emptied Path Expanded Getenv".split()  # slow
VARIABLES = [case.edited for case in CASES.values() if case.edited.startswith("SIGN")]


# The cells of a sweep of run.py, one after the other, without Hydra, which takes longer than all else they do.
CELLS = """
import json, os, sys
from runners import arithmetic
if __name__ == "__main__":
    arithmetic.start()
    sys.path.append(os.getcwd())
    from runners.experiment.cell import Cell
    from runners.experiment.settings import read_config
    names, runner = json.loads(sys.argv[1])
    for name in names:
        Cell(read_config({
            "study": "s", "results_dir": "results", "data_dir": os.getcwd(),
            "runner": {"n_jobs": 1, "redo": False, "cache": True, "points": "grid"} | runner,
            "protocol": {"name": "p", "sizes": [3], "scaling": "none", "restarts": 1, "seed": 0, "nmi": "max",
                         "max_iter": 5},
            "method": {"name": name, "target": f"method_{name}.{name}", "params": {}, "grid": {}},
            "dataset": {"name": "own", "sources": [{"file": "own.npz", "format": "npz", "options": {"y": "y"}}]},
        })).run()
"""


def run(folder, cases, sign, **runner):
    """Run methods; return name -> the stored ranking, and the names of those that were fitted."""
    own = {
        "PYTHONPATH": os.pathsep.join([str(folder), str(folder.parent / "second"), str(ROOT)]),
        **dict.fromkeys(VARIABLES, str(sign)),
    }
    (folder / "fits.log").write_text("")
    script = folder.parent / "cells.py"
    script.write_text(CELLS)
    forked.printed([script, json.dumps([list(cases), runner])], folder, os.environ | own)
    rankings = {}
    for name in cases:
        (path,) = folder.glob(f"results/*/*/{name}/trials.csv")
        (row,) = csv.DictReader(path.open())
        rankings[name] = json.loads(row["ranking"])
    return rankings, (folder / "fits.log").read_text().split()


@pytest.fixture(scope="module")
def runs(tmp_path_factory, request):
    """Run methods on workers, edit all, run them again here; return both, and the features by their spread."""
    slow = request.config.getoption("--slow")
    cases = {name: case for name, case in CASES.items() if slow or name not in LIKE_OTHERS}
    folder = tmp_path_factory.mktemp("stale") / "here"
    for name, case in cases.items():
        text = case.head + "\n" + case.body.format(name=name, sign=case.sign)
        for path, content in ((f"method_{name}.py", text), *case.files):
            (folder / path).parent.mkdir(exist_ok=True, parents=True)
            (folder / path).write_text(content)
    np.save(folder / "array7.npy", np.array(1))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) * [1, 2, 3, 4, 5, 6]
    np.savez(folder / "own.npz", X=X, y=np.repeat([0, 1], 15))
    before = run(folder, cases, 1, max_seconds=60)
    for path in {case.edited for case in cases.values()} - {"", *VARIABLES}:
        if path.endswith(".npy"):
            np.save(folder / path, np.array(-1))
            continue
        text = (folder / path).read_text()
        assert "1" in text
        (folder / path).write_text(text.replace("1", "-1"))
        stamp = (folder / path).stat().st_mtime + 60  # compiled code is told from its source by second and size
        os.utime(folder / path, (stamp, stamp))
    return before, run(folder, cases, -1), np.argsort(X.std(axis=0)).tolist()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=case.what, marks=[pytest.mark.slow] if name in LIKE_OTHERS else [])
        for name, case in CASES.items()
    ],
)
def test_an_edit_of_what_a_method_rests_on_runs_it_anew(runs, name):
    (before, _), (after, fitted), rising = runs
    falling = rising[::-1]
    assert before[name] == falling[:3] and after[name] == (falling if name == "Nothing" else rising)[:3]
    assert (name in fitted) == (name != "Nothing")


def said_of(folder, names, words):
    """Return what a new process knows of the code of `spread` in some modules, after some words."""
    words += "; from runners.experiment.method import load_class; from runners.code import code_of; "
    words += f"print(*(code_of(load_class(f'{{name}}.spread')) for name in {names}), sep='\\n')"
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return forked.printed(["-c", words], folder, environment).splitlines()


def test_what_a_module_read_or_was_before_an_edit_is_not_known_and_said(tmp_path):
    """Before anybody listened; and in a notebook, where the old code ran, and the file was taken for it."""
    (tmp_path / "early.py").write_text("value = int(open('by.txt').read())\ndef spread(X):\n    return value * X[0]\n")
    for name in ("plain", "edited"):
        (tmp_path / f"{name}.py").write_text("def spread(X):\n    return X[0]\n")
    (tmp_path / "by.txt").write_text("1")
    words = "import early, plain, edited; import runners.code, time; time.sleep(0.1); "
    words += "open('edited.py', 'a').write('# more')"
    early, plain, edited = said_of(tmp_path, ["early", "plain", "edited"], words)
    assert "digest=''" in early and "early was imported before this suite" in early
    assert "digest=''" not in plain and "unknown=''" in plain
    assert "digest=''" in edited and "edited was edited after it had been imported" in edited


@pytest.mark.slow  # of a module that was imported before runners.code, the test above has it
def test_a_module_that_was_edited_after_its_import_is_not_known_and_said(tmp_path):
    (tmp_path / "early.py").write_text("def spread(X):\n    return X[0]\n")
    (said,) = said_of(tmp_path, ["early"], "import runners.code, early; open('early.py', 'a').write('# more')")
    assert "digest=''" in said and "early was edited after it had been imported" in said


def test_a_function_from_before_its_module_was_loaded_again_is_not_known_and_said(tmp_path):
    (tmp_path / "part.py").write_text("def sign():\n    return 1\n")
    cell = "class Cell:\n    check_parameters = None\n    def fit(self, X):\n        return sign()\n"
    lines = [
        "import importlib, linecache, runners.code as c, part",
        "from part import sign",
        f"cell = {cell!r}",
        "linecache.cache['<cell>'] = len(cell), None, cell.splitlines(True), '<cell>'",
        "exec(compile(cell, '<cell>', 'exec'))",
        "print(c.code_of(Cell).unknown)",
        "open('part.py', 'a').write('# more')",
        "importlib.reload(part)",
        "print(c.code_of(Cell).unknown)",
        "from part import sign",
        "print(c.code_of(Cell).unknown)",
    ]
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    said = forked.printed(["-c", "\n".join(lines)], tmp_path, environment)
    assert said.split("\n") == ["", "sign is not what part has under this name now", "", ""]


def test_what_python_runs_at_its_start_is_part_of_the_code(tmp_path):
    """An empty file changes nothing, and is none of the code."""
    (tmp_path / "sitecustomize.py").write_text("import math\n")
    (tmp_path / "usercustomize.py").write_text("")  # Python itself imports it where there is a folder of the user's own
    words = "import usercustomize; from methods import LaplacianScore as cls; from runners.code.modules import *; "
    words += "from runners.code import code_of, code_of_evaluation as e; "
    command = [sys.executable, "-c", words + "print(code_of(cls).digest, e().digest, *customized())"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    *digests, file = done.stdout.split()
    assert file == "sitecustomize"
    assert len({code_of(LaplacianScore).digest, code_of_evaluation().digest, *digests}) == 4
