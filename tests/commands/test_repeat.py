"""The command that runs a stored point again gives what is stored."""

import json
import shlex

import forked
import pytest
from command_line import ROOT
from small_data import TRUTH

from ufs_bench.runners.store.folder import load_results
from ufs_bench.scripts.core.command_lines import repeat


@pytest.mark.parametrize(
    "protocol",
    [
        pytest.param(["protocol=smoke"], marks=pytest.mark.slow),
        ["protocol=fair", "protocol.sizes=[5]", "protocol.restarts=2"],
    ],
)
def test_the_command_repeats_the_fit_to_the_last_digit(protocol, tmp_path, run_cells):
    settings = [f"dataset={TRUTH}", "method=socfs", "method.grid.lambda_=[0.01,1.0]", "method.params.max_iter=2"]
    words = [*protocol, *[f"+{word}" if "max_iter" in word else word for word in settings], "study=one"]
    run_cells(*words, f"results_dir={tmp_path}", "runner.n_jobs=1")
    first = load_results(tmp_path, "one")
    row = first.trials[~first.trials["is_default"]].to_dict("records")[0]
    words = shlex.split(repeat(row))
    assert words[0] == "python"
    forked.printed([*words[1:], f"results_dir={tmp_path}", "runner.n_jobs=1"], ROOT)
    again = load_results(tmp_path, f"repeat_{json.loads(row['protocol'])['name']}")
    assert row["trial"] in set(again.trials["trial"]) and len(again.trials) <= 2  # under a budget the default as well
    columns = ["n_selected", "clusterer", "restart", "acc", "nmi"]
    pair = [frame[frame["trial"] == row["trial"]][columns].to_numpy() for frame in (first.scores, again.scores)]
    assert (pair[0] == pair[1]).all() or (pair[0][:, :5] == pair[1][:, :5]).all()
