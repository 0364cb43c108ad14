"""Classes and functions of a script: a value that it changes while it runs is another code."""

import json
import os
import subprocess
import sys

from runners.code import ROOT

SCRIPT = """
import json
import numpy as np
from methods.core.plain import plain
from runners.code import ROOT, code_of

SIGN, CONFIG, W = 1, {"sign": 1}, np.ones(3)

def helper(X):
    return SIGN * X

def by_global(X):
    return helper(X)

def by_item(X):
    return CONFIG["sign"] * X

def by_array(X):
    return W * X

class ByAttribute:
    sign = 1
    def fit(self, X):
        self.scores_ = self.sign * X
        return self

def digests():
    return [code_of(plain(one, one.__name__)).digest for one in (by_global, by_item, by_array, ByAttribute)]

first, again = digests(), digests()
SIGN = CONFIG["sign"] = ByAttribute.sign = W[:] = -1
print(json.dumps([first, again, digests()]))
"""


def digests_of_script(words, **given):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, **given)
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_a_value_that_a_script_changes_is_another_code(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    first, again, changed = digests_of_script(["script.py"], cwd=tmp_path)
    assert all(first) and first == again and not set(first) & set(changed)


def test_a_script_without_a_file_is_not_known(tmp_path):
    assert digests_of_script(["-"], cwd=tmp_path, input=SCRIPT) == 3 * [4 * [""]]
