"""Settings that would have no effect, or that no reader takes, are refused in one line."""

import os
import re

import forked
import numpy as np
import pytest
from omegaconf import OmegaConf

from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.protocol import Protocol, same_values
from ufs_bench.runners.cli.boundary import words_of
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.method import Method
from ufs_bench.runners.experiment.settings import read_config, read_runner, shown
from ufs_bench.scripts.core.conf import ROOT

METHOD = (
    "name: {}\ntarget: methods.laplacian_score.LaplacianScore\nparams: {{n_neighbors: 5}}\ngrid: {{n_neighbors: {}}}\n"
)
PROTOCOL = {"name": "p", "sizes": (2,), "scaling": "none", "restarts": 2, "seed": 0, "nmi": "max", "max_iter": 5}


@pytest.fixture(scope="module")
def conf(tmp_path_factory):
    """Return a folder for --config-dir with wrong files."""
    files = {
        "experiment/first": "# @package _global_\ndefaults:\n  - /experiment/second\n",
        "experiment/second": "# @package _global_\ndefaults:\n  - /experiment/first\n",
        "experiment/mistyped": "# @package _global_\nstudie: mine\n",
        "experiment/unpacked": "study: mine\n",
        "cell/digits_mcfs": "# @package _global_\nmissing_data: skip\n",
        "method/secret": METHOD.format("secret", '["${oc.decode:${oc.env:GRID}}"]'),
        "method/pointing": METHOD.format("pointing", '["${data_dir}"]'),  # which conf/ takes from the environment
        "method/listed": "name: listed\ntarget: methods.laplacian_score.LaplacianScore\nparams: []\ngrid: {}\n",
        "method/deep": METHOD.format("deep", "[" * 3000 + "5" + "]" * 3000),
        "method/digits": METHOD.format("digits", f"[{'9' * 5000}]"),
        "method/hexadecimal": METHOD.format("hexadecimal", f"[0x{'f' * 5000}]"),
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
        ("experiment=first", "the defaults of these files name each other: experiment/"),
        ("experiment=mistyped", "'studie' is no part of a configuration; it has: study, "),
        ("experiment=unpacked", "experiment={'study': 'mine'} would have no effect: there is no such file of conf/"),
        ("+stduy=mine", "'stduy' is no part of a configuration"),
        ("cell=nothing", "cell=nothing would have no effect: there is no such file of conf/cell."),
        ("method=secret", "method takes GRID from the environment, by oc.env: its value would be stored in trials.csv"),
        pytest.param(
            "method=pointing", "method takes UFS_DATA_DIR from the environment, by oc.env",
            marks=pytest.mark.slow,
        ),
        ("protocol.sizes=[5,5]", "protocol.sizes=[5, 5] has 5 twice: remove one."),
        pytest.param(
            "+protocol.sizes_for={digits:[3,4,3]}", "protocol.sizes_for.digits=[3, 4, 3] has 3 twice: remove one.",
            marks=pytest.mark.slow,
        ),
        ("study='a b'", "study='a b' must be a name of 1 to 100 letters, digits and"),
        ("study=CON", "study=CON is the name of a device in Windows"),
        pytest.param("study=lpt1.x", "study=lpt1.x is the name of a device in Windows", marks=pytest.mark.slow),
        ("hydra.job_logging.version=7", "hydra.job_logging or hydra.hydra_logging is not as Python's logging.config"),
        pytest.param(
            "hydra.job_logging.root.level=LOUD", "takes it: Unable to configure root logger: Unknown level: 'LOUD'.",
            marks=pytest.mark.slow,
        ),
        ("method=listed", "method.params=[] must be a mapping of names and values."),
        ("~method", "~method leaves a run without a method: leave this word out, or say method=NAME."),
        pytest.param("~runner", "~runner leaves a run without a runner", marks=pytest.mark.slow),
        pytest.param("dataset=null", "dataset=null leaves a run without a dataset", marks=pytest.mark.slow),
        ("method=deep", "values are nested too deep in"),
        ("method=digits", "a whole number has 5000 digits in"),
        pytest.param("method=hexadecimal", "must be a number of at most 64 bits.", marks=pytest.mark.slow),
        (f"+method.grid.n_neighbors=[{'9' * 5000}]", "a whole number has 5000 digits: it must be one of at most"),
        (f"+method.grid.n_neighbors={'[' * 3000}5{']' * 3000}", "values are nested too deep: "),
        ("+method.grid.n_neighbors=[5,3,5.0]", "method.grid.n_neighbors has 5 and 5.0, which are the same value"),
        ("+method.gird={n_neighbors:[3]}", "method has no option gird. Did you mean grid? It has: name, target, "),
        ("+method.grid.random_state=[1]", "method.grid.random_state is set by the runner: give protocol.seed and"),
        ("method=dgufs ++method.grid={}", "++method.grid={} would keep alpha, beta in the grid: take each out, ~"),
        pytest.param(
            "method=dgufs method.grid={alpha:[10.0]}", "would keep beta in the grid: take each out, ~method.grid.beta",
            marks=pytest.mark.slow,
        ),
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
    done = forked.run(["run.py", "--config-dir", str(conf), *given], ROOT, os.environ | {"GRID": "5"})
    output = done.stdout + done.stderr
    lines = [line for line in output.splitlines() if line.startswith("error: ")]
    assert done.returncode == 1 and len(lines) == 1 and said in lines[0] and "Traceback" not in output, output
    assert not list(tmp_path.rglob("trials.csv"))


def test_a_cell_that_has_no_file_of_its_own_and_one_that_is_named_may_be_run(conf, tmp_path):
    for words in ("method=laplacian_score", "method=laplacian_score cell=digits_mcfs"):
        given = ["dataset=digits", "protocol=smoke", "runner.n_jobs=1", "runner.plan=true", f"results_dir={tmp_path}"]
        assert forked.printed(["run.py", "--config-dir", str(conf), *given, *words.split()], ROOT)


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
    with pytest.raises(ConfigError, match="'methods' is no part of a configuration.*Did you mean method?"):
        read_config(OmegaConf.create({"study": "s", "methods": "mcfs"}))


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


def test_a_recursion_of_other_code_keeps_its_traceback():
    def again():
        return again()

    with pytest.raises(RecursionError) as caught:
        again()
    assert words_of(caught.value) is None


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
