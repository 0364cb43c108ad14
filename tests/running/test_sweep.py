"""The cells of a sweep: those that Hydra would compose one by one, composed once for each method and each data set."""

import math
import random
import time

import forked
import pytest
from frames import load_all, load_results
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from small_data import TRUTH

from ufs_bench.runners.cli.cells import part_of, plan_lines, total_line
from ufs_bench.runners.experiment import sweep
from ufs_bench.runners.experiment.plan import Plan
from ufs_bench.runners.experiment.settings import read_settings
from ufs_bench.runners.experiment.sweep import cells_of_words, with_lists
from ufs_bench.runners.messages import ConfigError
from ufs_bench.runners.store.fits import Store
from ufs_bench.scripts.core.conf import CONF, ROOT, names

SWEEP = ["dataset=digits,umist", "method=mcfs,dgufs,ndfs_released"]
COMPARED = 2  # cells of a sweep that Hydra composes alone


def by_hydra(settings, words):
    """Return the settings of a cell that Hydra composes alone, of words without lists."""
    own = [f"dataset={settings.dataset['name']}", f"method={settings.method_file['name']}"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        sweep.offer_truth(settings.dataset["name"])
        return read_settings(compose("config", [*words, *own]))


# The others are composed as one of these, of other names.
UNLIKE = {"dgufs", "fair_half", "jgufs_quick", "smoke"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in UNLIKE else pytest.mark.slow) for name in names("experiment")]
)
def test_the_cells_of_an_experiment_are_those_of_hydra(name):
    fewer = ["method=mcfs,dgufs", "dataset=glob(truth_p*)"] if name == "ground_truth" else []
    cells = cells_of_words(f"experiment={name}", *fewer)
    assert len({cell.folder for cell in cells}) == len(cells) >= 3
    for cell in random.Random(name).sample(cells, COMPARED):
        assert cell == by_hydra(cell, [f"experiment={name}"])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["study=of_${method.name}_${dataset.name}"],
        ["protocol.sizes=[5,10]", "+protocol.sizes_for={umist:[5]}", "++protocol.budget=9"],
        ["++dataset.citation=other", "++method.params.max_iter=3"],
    ],
)
def test_a_sweep_with_any_override_has_the_cells_of_hydra(words):
    cells = cells_of_words(*SWEEP, *words)
    assert [str(cell) for cell in cells] == [
        f"{method} on {dataset}" for dataset in ("digits", "umist") for method in ("mcfs", "dgufs", "ndfs_released")
    ]
    assert all(cell == by_hydra(cell, words) for cell in cells[::5])


def test_lists_of_methods_and_data_are_options_and_other_lists_are_left_to_hydra():
    assert with_lists(["dataset=umist", "study=a"]) == ["dataset=umist", "study=a"]
    assert with_lists(["-m", "method=mcfs,dgufs", "study=a"]) == ["methods='mcfs,dgufs'", "method=mcfs", "study=a"]
    assert with_lists(["experiment=fair", "method=glob(s*)"]) == ["experiment=fair", "methods='glob(s*)'"]
    assert with_lists(["-m", "protocol=fair,demo"]) == ["-m", "protocol=fair,demo"]
    assert with_lists(["--cfg", "job", "--package", "method"]) == ["--cfg", "job", "--package", "method"]
    assert with_lists(["methods=glob(s*)"]) == ["methods='glob(s*)'"]  # Hydra would find nothing in it
    with pytest.raises(ConfigError, match="experiment=null takes away a part of a run: leave this word out"):
        with_lists(["experiment=null"])
    with pytest.raises(ConfigError, match="protocol=fair,demo has several values, and --cfg takes one"):
        with_lists(["protocol=fair,demo", "--cfg", "job"])


def test_names_that_are_not_there_are_refused_before_any_cell():
    with pytest.raises(HydraException, match="method/nope"):
        cells_of_words("dataset=digits,umist", "method=nope,mcfs")
    with pytest.raises(ConfigError, match=r"dataset=glob\(zz\*\) matches nothing: there is no dataset of such a name"):
        cells_of_words("dataset=glob(zz*)")
    with pytest.raises(ConfigError, match=r"method={'include': .*}: there is no method of this name. python run.py"):
        cells_of_words("dataset=digits", "methods=[glob(m*)]")


def test_lists_that_name_nothing_or_leave_out_what_is_chosen_are_refused():
    with pytest.raises(ConfigError, match=r"methods=\[\] names no method: leave it out, or name one"):
        cells_of_words("dataset=digits", "methods=[]")
    with pytest.raises(ConfigError, match="method=mcfs is not among methods=: leave one of the two out"):
        cells_of_words("dataset=digits", "method=mcfs", "methods=[dgufs]")
    assert len(cells_of_words("dataset=digits", "method=mcfs", "methods=[dgufs,mcfs]")) == 2


def test_a_sweep_over_nothing_is_no_success():
    done = forked.run(["run.py", "-m", "protocol=glob(zz*)"], ROOT)
    assert done.returncode == 1 and "nothing was run: a list of values is empty" in done.stderr


def test_a_file_of_conf_dataset_that_fills_more_than_its_part_is_refused(tmp_path):
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset/wide.yaml").write_text("# @package _global_\nstudy: mine\n")
    with pytest.raises(ConfigError, match="conf/dataset/wide.yaml must fill the part dataset, and no other"):
        cells_of_words("dataset=digits,wide", f"hydra.searchpath=[file://{tmp_path}]")


def test_a_plan_counts_what_a_folder_of_ones_own_files_asks_for(tmp_path):
    (tmp_path / "method").mkdir()
    (tmp_path / "method/own.yaml").write_text(
        "{name: own, target: methods.MCFS, params: {}, grid: {n_neighbors: [3, 4]}}"
    )
    words = ["dataset=digits,mnist500", "method=max_variance,own", "protocol=smoke", f"results_dir={tmp_path}/none"]
    command = ["run.py", "--config-dir", str(tmp_path), "-m", *words, "runner.plan=true"]
    lines = forked.printed(command, ROOT).splitlines()
    assert lines[0] == "a plan of 4 cells:" and lines[5].startswith("in all 6 fits in 4 cells")
    assert [line.partition(",")[0].split(": ")[-1] for line in lines[1:5]] == [
        "1 of 1 fit to do", "2 of 2 fits to do", "1 of 1 fit to do", "2 of 2 fits to do"
    ]  # fmt: skip
    assert not (tmp_path / "none").exists()


def test_a_plan_of_many_cells_shows_those_that_take_longest():
    plans = [Plan(f"m on d{k}", 2, 2 * (k > 0), 0, math.nan if k == 7 else float(k), "s", 1) for k in range(40)]
    lines = plan_lines(plans)
    assert [line.partition(":")[0] for line in lines[:3]] == ["m on d7", "m on d39", "m on d38"]
    assert lines[30] == "and 9 other cells with fits to do; dataset=NAME shows its cells"
    assert lines[31:] == [total_line(plans)]
    assert plan_lines(plans[:1]) == [plans[0].line()] and len(plan_lines(plans[:30])) == 31


def test_a_sweep_over_another_option_is_gone_through_by_hydra(tmp_path):
    words = ["method=max_variance,min_norm", f"dataset={TRUTH}", "protocol=smoke,demo", "runner.n_jobs=1"]
    forked.printed(["run.py", "-m", *words, f"results_dir={tmp_path}"], ROOT)
    assert [len(load_results(tmp_path, study).trials) for study in ("demo", "smoke")] == [2, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo", "smoke"]


CELLS = list(range(35))
QUICK = ["-m", "method=max_variance,min_norm", f"dataset={TRUTH}", "protocol=smoke", "study=s", "runner.n_jobs=1"]


@pytest.mark.parametrize("n_parts", [1, 2, 3, 50])
def test_the_parts_of_a_sweep_hold_every_cell_once_in_order(n_parts):
    parts = [part_of(f"{part}/{n_parts}", CELLS) for part in range(1, n_parts + 1)]
    assert sorted(cell for part in parts for cell in part) == CELLS
    assert all(part == sorted(part) for part in parts)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b", 2, "1/0", ""])
def test_a_shard_that_is_none_is_refused(shard):
    with pytest.raises(ConfigError, match="must be K/N with 1 <= K <= N"):
        part_of(shard, CELLS)


def test_a_part_of_a_sweep_runs_its_own_cells_and_counts_them(tmp_path):
    for part in (1, 2):
        words = ["run.py", *QUICK, f"shard={part}/2", f"results_dir={tmp_path}"]
        assert f"shard {part}/2: " in forked.printed(words, ROOT)
    assert sorted(load_all(tmp_path).trials["method"]) == ["max_variance", "min_norm"]


def test_a_shard_of_a_single_cell_is_refused(tmp_path):
    done = forked.run(["run.py", "method=mcfs", f"dataset={TRUTH}", "shard=1/2", f"results_dir={tmp_path}"], ROOT)
    assert done.returncode == 1 and "shard= is a part of a sweep" in done.stderr


def test_a_cell_that_another_process_holds_is_put_aside_and_taken_at_the_end(tmp_path):
    with Store(tmp_path / "s" / TRUTH / "max_variance"):
        started = forked.start(["run.py", *QUICK, f"results_dir={tmp_path}"], ROOT, tmp_path)
        while "waiting for it to end" not in started.said and started.returncode is None:
            time.sleep(0.05)
    status, output = started.wait()
    assert status == 0, output
    first, later = map(output.index, (f"max_variance on {TRUTH}: another run holds it", f"min_norm on {TRUTH} ("))
    assert first < later < output.index("waiting for it to end")
    assert sorted(load_all(tmp_path).trials["method"]) == ["max_variance", "min_norm"]
