"""`scripts.check_method`: a correct file of a newcomer passes, and each fault is caught by the right line."""

import sys

import numpy as np
import pytest
import yaml

from ufs_bench.scripts.check_method import contract
from ufs_bench.scripts.check_method.__main__ import main
from ufs_bench.scripts.check_method.contract import where_it_rises

HEAD = """
import numpy as np

from ufs_bench.methods.core.base import BaseSelector, Solution


class Mine(BaseSelector):
    def __init__(self, n_features_to_select=None, *, alpha=1.0, n_clusters=2, random_state=None):
        super().__init__(n_features_to_select)
        self.alpha = alpha
        self.n_clusters = n_clusters
        self.random_state = random_state

    def _solve(self, X, rng):
"""
CORRECT = "        return Solution(self.alpha * X.var(axis=0))"
CONFIG = {
    "name": "mine",
    "target": "mine_module.Mine",
    "paper_name": "Mine",
    "citation": "Me 2026",
    "params": {"alpha": 1.0},
    "grid": {"alpha": [0.1, 1.0, 10.0]},
}


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Write a newcomer's two files, check them, and return the exit status and what was printed."""
    monkeypatch.syspath_prepend(tmp_path)

    def run(body=CORRECT, arguments=(), head=HEAD, **config):
        monkeypatch.delitem(sys.modules, "mine_module", raising=False)
        (tmp_path / "mine_module.py").write_text(head + body + "\n")
        (tmp_path / "method").mkdir(exist_ok=True)
        text = yaml.safe_dump({**CONFIG, **config}, sort_keys=False)
        (tmp_path / "method" / "mine.yaml").write_text(text)
        status = main(["method=mine", f"config_dir={tmp_path}", *arguments])
        return status, capsys.readouterr().out

    return run


def failures(output):
    """Return sentence -> reason, for every line that says FAIL."""
    lines = output.splitlines()
    return {
        line.removesuffix("FAIL").strip(): after.strip()
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if line.endswith(" FAIL")
    }


def test_a_correct_file_of_a_newcomer_passes(check):
    status, output = check()
    assert status == 0 and not failures(output)
    groups = ["configuration", "shapes and input", "descent", "equivariance", "errors", "reproducibility"]
    places = [output.index(f"\n{group}\n") for group in groups]
    assert places == sorted(places)
    assert "mine: nothing failed" in output


def test_a_class_or_function_as_it_is_passes_without_what_a_method_of_ours_has(check, tmp_path, monkeypatch, capsys):
    head = "class Mine:\n    def fit(self, X, y=None):\n"
    body = "        self.scores_ = X.var(axis=0)\n        return self"
    config = {"params": {}, "grid": {}}
    status, output = check(body, head=head, **config)
    assert status == 0 and not failures(output)
    assert "taken as it is. Its size is not asked for: one fit for all sizes." in output
    (tmp_path / "mine_module.py").write_text("def spread(X, share=0.5):\n    return X[0] + share\n")
    monkeypatch.delitem(sys.modules, "mine_module", raising=False)
    assert main(["method=mine_module.spread"]) == 1
    output = capsys.readouterr().out
    assert output.startswith("spread: mine_module.spread")
    assert list(failures(output)) == ["permuting the samples keeps the selection"]


RETURNED = [
    ("Solution(X.var(axis=1))", "small data can be fitted", "gave scores of shape (24,)"),
    ("Solution(X.var(axis=0) * [np.nan] + 0)", "small data can be fitted", "0 finite"),
    ("X.var(axis=0)", "small data can be fitted", "it must return Solution(scores=...)"),
    ("Solution(np.abs(X[0]))", "permuting the samples keeps the selection",
     "only 3 of the 4 selected features are the same"),
    ("Solution(1 / X.var(axis=0))", "constant and duplicate features leave", "RuntimeWarning: divide by zero"),
]  # fmt: skip
DONE = [
    ("        raise RuntimeError('out of\\nluck')", "small data can be fitted", "RuntimeError: out of luck"),
    ("        X -= X[0]\n" + CORRECT, "small data can be fitted", "ValueError: output array is read-only"),
    (CORRECT + "\n\n    def fit(self, X, y=None):\n        return super().fit(np.nan_to_num(X), y)",
     "missing values", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    "body, sentence, reason", [(f"        return {text}", *words) for text, *words in RETURNED] + DONE
)
def test_a_fault_is_caught_by_the_right_line_without_a_traceback(check, body, sentence, reason):
    status, output = check(body)
    assert status == 1
    assert "Traceback" not in output
    found = failures(output)
    assert [words for line, words in found.items() if line.startswith(sentence) and reason in words], found


@pytest.mark.parametrize(
    "config, sentence, reason",
    [
        ({"extra": 1}, "configuration has the keys", "extra"),
        ({"name": "other"}, "configuration has the keys", "name is 'other', the file is mine.yaml"),
        ({"target": "mine_module.Mein"}, "target is a class", "ConfigError: method.target='mine_module.Mein'"),
        ({"target": "no_such.Mine"}, "target is a class", "No module named 'no_such'"),
        ({"target": "sklearn.svm.SVC"}, "target is a class", "sklearn.svm.SVC"),
        ({"params": {"alhpa": 1.0}}, "run py takes", "method.params.alhpa is not a parameter of Mine; it takes: alpha"),
        ({"params": {"random_state": 3}}, "run py takes", "method.params.random_state is set by the runner"),
        ({"grid": {"alpha": [1.0, 1]}}, "run py takes", "method.grid.alpha has 1.0 and 1, which are the same value"),
        ({"grid": {"alpha": [1.0, "a"]}}, "run py takes", "method.grid.alpha='a' must be a number"),
        ({"grid": {"alpha": [1.0, float("inf")]}}, "run py takes", "method.grid.alpha=inf must be finite"),
        ({"grid": {"alpha": [5.0]}}, "default is a point", "params.alpha is 1.0, not in grid.alpha: [5.0]"),
    ],
)
def test_a_wrong_configuration_is_caught_by_the_right_line(check, config, sentence, reason):
    status, output = check(**config)
    assert status == 1 and "Traceback" not in output
    (line,) = [line for line in failures(output) if line.startswith(sentence)]
    said = failures(output)[line]
    assert reason in said or (said == "as above" and reason in output)  # a class that cannot be had is said once
    assert "were not tried" in output


def test_a_parameter_that_is_not_keyword_only_is_caught(check):
    _, output = check(head=HEAD.replace("*, alpha", "alpha"))
    assert failures(output)["size comes first and everything else is keyword only"].startswith("alpha, n_clusters")


def test_a_parameter_without_a_value_is_caught_as_run_py_does(check):
    _, output = check(head=HEAD.replace("alpha=1.0", "alpha"), params={}, grid={})
    assert "lacks alpha, for which Mine has no default" in failures(output)["run py takes the configuration"]


def test_verbose_adds_the_traceback(check):
    _, output = check("        raise RuntimeError('luck')", ("tracebacks=true",))
    assert "      | Traceback" in output and "RuntimeError: luck" in output


def test_known_exceptions_are_shown_with_their_reason_and_do_not_fail(capsys):
    assert main(["method=first_index"]) == 0
    output = capsys.readouterr().out
    assert "known\n      selects by position" in output
    assert "1 known not to hold" in output


def test_an_exception_that_holds_after_all_fails(check, monkeypatch):
    monkeypatch.setitem(contract.EXCEPTIONS, ("mine", "objective_never_rises"), "it is an ADMM")
    status, output = check()
    assert status == 1
    assert failures(output) == {"objective never rises": "holds, but EXCEPTIONS says: it is an ADMM"}


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["method=rufz"], "Did you mean rufs"),
        (["method=rufs", "config_dir=/nowhere"], "config_dir=/nowhere must be a folder"),
    ],
)
def test_an_unknown_name_is_a_clear_error(capsys, arguments, words):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 1
    assert words in capsys.readouterr().err


def test_a_rise_is_more_than_rounding():
    assert where_it_rises(np.array([3.0, 2.0, 2.0 + 1e-11, 1.0])) == ""
    assert where_it_rises(np.array([3.0, 2.0, 2.5, 1.0])) == "it rises from 2 to 2.5 in sweep 2 of 3"
    assert where_it_rises(np.array([])) == ""
