"""Settings that would have no effect, or that no reader takes, are refused in one line."""

import re

import forked
import numpy as np
import pytest
from omegaconf import OmegaConf

from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.protocol import Protocol, same_values
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.method import Method
from ufs_bench.runners.experiment.settings import read_runner, read_settings, shown
from ufs_bench.scripts.core.conf import ROOT

METHOD = (
    "name: {}\ntarget: methods.laplacian_score.LaplacianScore\nparams: {{n_neighbors: 5}}\ngrid: {{n_neighbors: {}}}\n"
)
PROTOCOL = {"name": "p", "sizes": (2,), "scaling": "none", "restarts": 2, "seed": 0, "nmi": "max", "max_iter": 5}


@pytest.fixture(scope="module")
def conf(tmp_path_factory):
    """Return a folder for --config-dir with wrong files."""
    files = {
        "experiment/mistyped": "# @package _global_\nstudie: mine\n",
        "method/listed": "name: listed\ntarget: methods.laplacian_score.LaplacianScore\nparams: []\ngrid: {}\n",
    }
    folder = tmp_path_factory.mktemp("conf")
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "words, said",
    [
        ("experiment=mistyped", "'studie' is no part of a configuration; it has: study, "),
        ("+stduy=mine", "'stduy' is no part of a configuration"),
        ("protocol.sizes=[5,5]", "protocol.sizes=[5, 5] has 5 twice: remove one."),
        pytest.param(
            "+protocol.sizes_for={digits:[3,4,3]}", "protocol.sizes_for.digits=[3, 4, 3] has 3 twice: remove one.",
            marks=pytest.mark.slow,
        ),
        ("study='a b'", "study='a b' must be a name of 1 to 100 letters, digits and"),
        ("method=listed", "method.params=[] must be a mapping of parameters"),
        ("~method", "~method leaves out a part that every run has: leave this word out."),
        ("~datasets", "~datasets leaves out a part that every run has"),
        pytest.param("dataset=null", "dataset=None: there is no dataset of this name", marks=pytest.mark.slow),
        ("+method.grid.n_neighbors=[5,3,5.0]", "method.grid.n_neighbors has 5 and 5.0, which are the same value"),
        ("+method.gird={n_neighbors:[3]}", "method has no option gird. Did you mean grid? It has: name, target, "),
        ("+method.grid.random_state=[1]", "method.grid.random_state is set by the runner: give protocol.seed and"),
        ("+protocol.sizes_for={digit:[3]}", "digit is no file of conf/dataset. Did you mean digits?"),
        pytest.param(
            "+protocol.sizes_for={mcfs:[3]}", "protocol.sizes_for.mcfs would have no effect: mcfs is no file of conf/",
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_what_would_have_no_effect_or_cannot_be_read_is_refused_in_one_line(conf, tmp_path, words, said):
    given = [
        "dataset=digits",
        "protocol=smoke",
        "runner.n_jobs=1",
        f"results_dir={tmp_path}",
        *re.split(r" (?=\+*method)", words),
    ]
    given += [] if words.startswith("method=") else ["method=laplacian_score"]
    done = forked.run(["run.py", "--config-dir", str(conf), *given], ROOT)
    output = done.stdout + done.stderr
    lines = [line for line in output.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and len(lines) == 1 and said in lines[0] and "Traceback" not in output, output
    assert not list(tmp_path.rglob("trials.csv"))


@pytest.mark.parametrize("values", [[1, 2, 1.0], [0.0, -0.0], [0.1, 1e-1], ["heat", "heat"], [[1], [1.0]]])
def test_a_value_that_is_there_twice_is_found(values):
    assert same_values(values) == (values[0], values[-1])
    assert same_values([True, 1, 0, False, "1", 2.0]) is None


@pytest.mark.parametrize("values", [[5, 5.0], [0.0, -0.0]])
def test_the_same_value_twice_is_refused_in_a_grid(values):
    content = {"name": "m", "target": "methods.laplacian_score.LaplacianScore", "params": {}}
    pair = f"{values[0]} and {values[1]}"
    with pytest.raises(ConfigError, match=f"method.grid.n_neighbors has {pair}, which are the same value: remove one."):
        Method.read({**content, "grid": {"n_neighbors": values}})


def test_the_same_value_twice_is_refused_in_a_protocol():
    with pytest.raises(ValueError, match="protocol.grid_values has 1 and 1.0, which are the same value: remove one."):
        Protocol(**PROTOCOL, grid_values=(1, 0.1, 1.0))
    assert Protocol(**PROTOCOL, grid_values=(1, 0.1)).grid_values == (1, 0.1)


def test_a_key_that_is_no_part_is_refused_wherever_a_configuration_is_read():
    with pytest.raises(ConfigError, match="'metod' is no part of a configuration.*Did you mean method?"):
        read_settings(OmegaConf.create({"study": "s", "metod": "mcfs"}))


@pytest.mark.parametrize(
    "given, words",
    [
        ({"max_seconds": 0}, "runner.max_seconds=0 must be a number of CPU seconds above 0"),
        ({"max_seconds": "1h"}, "runner.max_seconds='1h' must be a number of CPU seconds above 0"),
        ({"max_memory": True}, "runner.max_memory=true must be a number of GB above 0"),
        ({"retry": ["timeouts"]}, "must be a list of failed, timeout, out_of_memory"),
        ({"retry": "timeout,failed"}, "must be a list of failed, timeout, out_of_memory"),
    ],
)
def test_options_of_the_runner_that_cannot_be_meant_are_refused(given, words):
    with pytest.raises(ConfigError, match=words):
        read_runner({"n_jobs": 1, "redo": False, "cache": True, "points": "grid"} | given)


def test_a_number_of_any_length_can_be_shown():
    assert shown(10**5000).startswith("0x") and len(shown(-(10**5000))) <= 80 and shown(2**70) == str(2**70)


@pytest.mark.parametrize(
    "features, words",
    [
        ([0, 2, 2], r"features has 2 2 times, and may have it once: remove the others"),
        ([0, -1], r"features has -1, which must be in \[0, n_features=4\)"),
        ([1, 4], r"features has 4, which must be in \[0, n_features=4\): count the columns of X from 0"),
        ([0.0, 1.0], "type float64 must be a list of one or more whole numbers"),
        ([True, False, True, True], "type bool must be a list"),
        ([], r"shape \(0,\)"),
        ([[0, 1]], r"shape \(1, 2\)"),
        (2, r"shape \(\)"),
    ],
)
def test_features_that_are_no_set_of_columns_are_refused(features, words):
    X, y = np.random.default_rng(0).normal(size=(12, 4)), np.arange(12) % 3
    with pytest.raises(ValueError, match=words):
        evaluate(features, X, y, Protocol(**PROTOCOL))
    scores = [evaluate(right, X, y, Protocol(**PROTOCOL))[0] for right in ([3, 0], np.array([0, 3], dtype=np.uint8))]
    np.testing.assert_array_equal(*scores)
