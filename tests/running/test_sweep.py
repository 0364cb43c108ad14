"""A sweep is composed exactly as Hydra composes each job, and most jobs without Hydra."""

import random

import forked
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import OmegaConf

from ufs_bench.runners.cli import cells
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment import settings
from ufs_bench.runners.experiment.method import Method
from ufs_bench.runners.experiment.sweep import Composer, jobs_of, offer_truth
from ufs_bench.scripts.core.conf import CONF, ROOT, names

COMPARED = 2  # jobs of a sweep; to compose one by Hydra takes longer than all of a sweep without it
SWEEP = ["dataset=digits,umist", "method=mcfs,dgufs,ndfs_released"]


def composed(words, folder=CONF, name="config", most=COMPARED):
    """Return how many jobs of a sweep Hydra had to compose, and how many there are.

    Each is held against Hydra's own; of more than `most`, a sample is.
    """
    offer_truth()
    with initialize_config_dir(str(folder), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        config = loader.load_configuration(name, words, run_mode=RunMode.MULTIRUN)
        composer, by_hydra, load = Composer(config), [], loader.load_sweep_config
        make = composer._by_hydra
        composer._by_hydra = lambda *given: by_hydra.append(given) or make(*given)
        jobs = jobs_of(config.hydra)
        made = [composer.job(job) for job in jobs]
        count = len(by_hydra)
        pairs = list(zip(jobs, made, strict=True))
        for job, (part, choices) in random.Random(words[0]).sample(pairs, min(most, len(pairs))):
            whole = load(config, job)
            own = OmegaConf.masked_copy(whole, [key for key in whole if key != "hydra"])
            assert list(part) == list(own) and choices == OmegaConf.to_container(whole.hydra.runtime.choices), job
            resolved = isinstance(part, dict)
            part = part if resolved else OmegaConf.to_container(part)
            assert part == OmegaConf.to_container(own, resolve=resolved), job
    return count, len(jobs)


# The others are composed as one of these, of other names; a sweep of all data sets and methods has thousands of jobs.
UNLIKE = {
    "dgufs", "fair_half", "jgufs_quick", "smoke",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in UNLIKE else pytest.mark.slow) for name in names("experiment")]
)
def test_an_experiment_is_composed_once_and_its_cells_are_those_of_hydra(request, name):
    most = 60 if request.config.getoption("--slow") else COMPARED
    # Its 50,000 jobs take half a minute.
    fewer = ["method=mcfs,dgufs", "dataset=glob(truth_p*)"] if name == "ground_truth" else []
    count, n_jobs = composed([f"experiment={name}", *fewer], most=most)
    assert count == 1 and n_jobs >= 3


@pytest.mark.parametrize(
    "words, count",
    [
        ([], 1),
        pytest.param(["study=mine", "protocol=fair", "runner.points=default"], 1, marks=pytest.mark.slow),
        (["protocol.sizes=[5,10]", "+protocol.sizes_for={umist:[5]}", "~protocol.nmi", "++protocol.budget=9"], 1),
        pytest.param(["data_dir=${oc.env:HOME}", "results_dir=${oc.env:HOME,/tmp}/x"], 1, marks=pytest.mark.slow),
        (["runner.n_jobs=1,2", "protocol=smoke,demo"], 4),
        pytest.param(["study=${protocol.name}_x"], 1, marks=pytest.mark.slow),
        # Whatever says something about a method in general, or depends on it, is composed for each of them.
        (["method.params.n_clusters=3"], None),
        (["++method.params.max_iter=3"], 3),
        pytest.param(["+method.params={max_iter:4}"], 3, marks=pytest.mark.slow),
        pytest.param(["~method.paper_name"], 3, marks=pytest.mark.slow),
        (["++dataset.name=other"], 2),
        (["study=of_${method.name}"], 6),
        pytest.param(["study='${dataset.name}'"], 6, marks=pytest.mark.slow),
        pytest.param(["data_dir=${oc.env:NO_SUCH_VARIABLE}"], 6, marks=pytest.mark.slow),
        pytest.param(["data_dir=${hydra:job.num}"], 6, marks=pytest.mark.slow),
        pytest.param(["hydra.searchpath=[file:///no/such/folder]"], 6, marks=pytest.mark.slow),
        (["method@other=mcfs"], None),
        (["+dataset@other=umist"], 2),
    ],
)
@pytest.mark.filterwarnings("ignore:provider=hydra.searchpath")
def test_a_sweep_with_any_override_is_composed_as_hydra_does(words, count):
    if count is None:
        with pytest.raises(HydraException):
            composed([*SWEEP, *words])
        return
    found, n_jobs = composed([*SWEEP, *words])
    assert found == count and n_jobs in (6, 24)


@pytest.fixture
def conf(tmp_path):
    """Make a conf/ of small files, to which a test adds its own."""

    def write(name, text):
        path = tmp_path / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write(
        "config",
        "defaults: [_self_, dataset: a, method: m, optional cell: '${dataset}_${method}', experiment: null]\nx: 1",
    )
    for dataset in "ab":
        write(f"dataset/{dataset}", f"name: {dataset}\nsize: 3")
    for method in "mn":
        write(f"method/{method}", f"name: {method}\nparams: {{k: 5, list: [1, {{a: 2}}]}}")
    write.folder = tmp_path / "conf"
    return write


OWN = ["dataset=a,b", "method=m,n"]


def test_files_of_any_conf_are_put_in_the_place_of_each_other(conf):
    assert composed(OWN, conf.folder) == (1, 4)


@pytest.mark.parametrize(
    "name, text, count",
    [
        ("cell/b_n", "# @package _global_\nmethod: {params: {k: 7}}\nx: 2", 2),
        ("cell/a_m", "# @package _global_\nmethod: {params: {k: 7}}\nx: 2", 2),
        ("method/n", "# @package _global_\nx: 3\nmethod: {name: n}", 2),
        pytest.param("method/n", "defaults: [m, _self_]\nname: n", 2, marks=pytest.mark.slow),
        pytest.param("method/n", "name: n\nparams: ${dataset.size}", 3, marks=pytest.mark.slow),
        ("method/m", "name: m\nparams: {k: '${dataset.size}'}", 3),
        ("method/n", "", 1),
        pytest.param("dataset/b", "name: b\nmore: {x: '${x}', y: '${.x}'}", 3, marks=pytest.mark.slow),
        pytest.param("experiment/e", "# @package _global_\nmethod: {params: {k: 9}}", 4, marks=pytest.mark.slow),
        pytest.param(
            "experiment/e", "# @package _global_\ndataset: {size: 9}\nmethod: {name: m}", 4, marks=pytest.mark.slow
        ),
        ("experiment/e", "# @package _global_\ndefaults: [{override /method: n}, _self_]\nx: ${dataset.size}", 4),
        ("cell/m", "k: 3", 1),
    ],
)
def test_what_the_files_have_to_do_with_each_other_is_left_to_hydra(conf, name, text, count):
    conf("cell/m", "more: 1")
    conf("cell/n", "more: 2")
    conf(name, text)
    words = [*OWN, "experiment=e"] if name.startswith("experiment") else OWN
    assert composed(words, conf.folder) == (count, 4)


@pytest.mark.slow  # the files of conf/ are tried above
def test_another_main_file_and_what_is_chosen_over_the_defaults_list_are_as_hydra_has_them(conf):
    conf("cell/c", "# @package _global_\nmethod: {params: {k: 7}}")
    conf("cell/b_n", "# @package _global_\nx: 5")
    conf("main", "defaults: [dataset: a, method@way: m, cell: null, _self_]\nx: ${way.name}\ny: {dataset: 3}")
    assert composed(OWN[:1], conf.folder, "main") == (1, 2)
    for cell in ("c", "b_n", "none_such"):
        composed([*OWN, f"cell={cell}"], conf.folder)


def test_a_file_that_is_not_there_is_refused_before_any_cell(tmp_path):
    with pytest.raises(HydraException, match="method/nope"):
        composed(["dataset=digits,umist", "method=mcfs,nope"])


def test_a_sweep_over_an_interval_is_refused():
    with pytest.raises(ConfigError, match=r"method.params.k=interval\(1,2\) has no list of values to go through"):
        composed(["method=mcfs", "method.params.k=interval(1,2)"])


def test_each_part_of_the_configuration_of_a_cell_is_checked_once(monkeypatch, tmp_path):
    checked = []
    for name in ("read_names", "read_runner", "read_protocol"):
        whole = getattr(settings, name)
        monkeypatch.setattr(settings, name, lambda *given, n=name, whole=whole: checked.append(n) or whole(*given))
    monkeypatch.setattr(cells, "read_names", settings.read_names)
    read = Method.read
    monkeypatch.setattr(Method, "read", lambda content: checked.append("method") or read(content))
    words = ["dataset=digits", "method=max_variance", "protocol=smoke", "runner.plan=true", f"results_dir={tmp_path}"]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = OmegaConf.to_container(compose("config", words), resolve=True)
        choices = {"dataset": "digits", "method": "max_variance", "protocol": "smoke"}
        cells.run_cell(cells.Asked(config, choices, words, cells.read_names(config)), 2)
    assert sorted(checked) == ["method", "read_names", "read_protocol", "read_runner"]


def test_a_plan_counts_what_a_folder_of_ones_own_files_asks_for(tmp_path):
    for path, text in {
        "method/own": "{name: own, target: methods.MCFS, params: {}, grid: {n_neighbors: [3, 4]}}",
        "cell/mnist500_own": "# @package _global_\nmethod: {grid: {n_neighbors: [3, 4, 5]}}\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / f"{path}.yaml").write_text(text)
    words = ["dataset=digits,mnist500", "method=max_variance,own", "protocol=smoke", f"results_dir={tmp_path}/none"]
    command = ["run.py", "--config-dir", str(tmp_path), "-m", *words, "runner.plan=true"]
    lines = forked.printed(command, ROOT).splitlines()
    assert lines[0] == "a plan of 4 cells:"
    assert [line.partition(",")[0].split(": ")[-1] for line in lines[1:5]] == [
        "1 of 1 fit to do", "2 of 2 fits to do", "1 of 1 fit to do", "3 of 3 fits to do"
    ]  # fmt: skip
    assert not (tmp_path / "none").exists()


def test_a_sweep_with_a_wrong_word_leaves_nothing_behind(tmp_path):
    words = ["-m", "study=own", "method=mcfs", "dataset=digits,digts", f"results_dir={tmp_path / 'results'}"]
    done = forked.run(["run.py", *words], ROOT)
    assert done.returncode == 1 and "dataset=digts: there is no dataset of this name" in done.stderr
    assert list(tmp_path.iterdir()) == []
