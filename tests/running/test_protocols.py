"""The papers' protocols and experiments: their sizes and grids, and data sets that are not on this machine."""

import json
from dataclasses import replace
from types import SimpleNamespace

import forked
import numpy as np
import pytest
import yaml
from fits import PROTOCOL, made_up
from frames import frames, load_all, store
from hydra import compose, initialize_config_dir

from ufs_bench.datasets import scale
from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.experiment.grid import expand, first_points
from ufs_bench.runners.experiment.settings import read_protocol
from ufs_bench.runners.messages import ConfigError, StoreError
from ufs_bench.runners.store.fits import check_study
from ufs_bench.runners.workers.caps import Caps
from ufs_bench.runners.workers.data import Data
from ufs_bench.runners.workers.pool import run_all
from ufs_bench.scripts.core.conf import CONF, ROOT, names

PAPERS = ("dgufs", "rufs", "jgufs", "ufsol", "kmeans_ufs")
METHOD = {
    "name": "rufs",
    "target": "methods.rufs.RUFS",
    "params": {"nu": 10.0, "alpha": 1.0, "beta": 1.0},
    "grid": {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 1e4], "beta": [0.2, 0.6, 1.0]},
}


@pytest.fixture
def dataset():
    return made_up()


def points(trials):
    return [(trial.params["alpha"], trial.params["beta"]) for trial in trials]


def protocol_of(name):
    return read_protocol(yaml.safe_load((CONF / "protocol" / f"{name}.yaml").read_text()))


def test_a_data_set_with_sizes_of_its_own_keeps_to_them(dataset):
    own = replace(PROTOCOL, sizes_for={"blobs": [5, 4], "other": [1]})
    assert expand("s", dataset, METHOD, own)[0].sizes == (4, 5)
    assert expand("s", dataset, METHOD, replace(PROTOCOL, sizes_for={"other": [1]}))[0].sizes == (2, 3)


def test_grid_values_replace_the_values_of_every_parameter_in_the_grid_and_of_no_other(dataset):
    trials = expand("s", dataset, METHOD, replace(PROTOCOL, grid_values=(0.5, 1.0)))
    assert points(trials) == [(0.5, 0.5), (0.5, 1.0), (1.0, 0.5), (1.0, 1.0)]
    assert [trial.is_default for trial in trials] == [False, False, False, True]
    assert {trial.params["nu"] for trial in trials} == {10.0}
    assert len(expand("s", dataset, {**METHOD, "grid": {}}, replace(PROTOCOL, grid_values=(0.5, 1.0)))) == 1


def test_grid_values_that_a_method_refuses_are_an_error_that_names_them(dataset):
    with pytest.raises(ConfigError, match="protocol.grid_values.*alpha=-1"):
        expand("s", dataset, METHOD, replace(PROTOCOL, grid_values=(-1.0,)))


def test_a_coarse_grid_moves_each_parameter_alone_from_the_default(dataset):
    trials = expand("s", dataset, METHOD, replace(PROTOCOL, coarse=True))
    assert points(trials) == [(1.0, 1.0), (0.1, 1.0), (1000.0, 1.0), (1.0, 0.2)]
    assert [trial.is_default for trial in trials] == [True, False, False, False]


@pytest.mark.parametrize("values", [[1.0], [3.0], [3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
def test_a_coarse_grid_holds_the_default_and_at_most_two_values_of_the_list(dataset, values):
    trials = expand("s", dataset, {**METHOD, "grid": {"alpha": values}}, replace(PROTOCOL, coarse=True))
    found = [alpha for alpha, _ in points(trials)]
    assert found[0] == 1.0 and set(found[1:]) <= set(values) and len(found) <= 3


def test_a_trial_is_the_same_one_whichever_protocol_asks_for_its_numbers_and_else_another(dataset):
    def keys(**change):
        return {trial.key for trial in expand("s", dataset, METHOD, replace(PROTOCOL, **change))}

    same = {"sizes_for": {"other": [1]}}, {"scaling_for": {"other": "minmax"}}, {"scaling_for": {"rufs": "none"}}
    for change in (*same, {"starts": "random", "replicates": 1, "clusters": "classes"}):
        assert keys(**change) == keys()
    assert keys(coarse=True) < keys()
    of_kmeans = {"starts": "kmeans++"}, {"replicates": 2}, {"clusters": "twice"}
    for change in ({"sizes_for": {"blobs": [2]}}, {"scaling_for": {"rufs": "minmax"}}, *of_kmeans):
        assert not keys() & keys(**change)


def test_a_method_that_is_fitted_on_a_scaling_of_its_own_is_scored_on_that_of_the_protocol(dataset):
    own = replace(PROTOCOL, scaling="minmax", scaling_for={"max_variance": "none", "other": "zscore"})
    method = {"name": "max_variance", "target": "methods.baselines.MaxVariance", "params": {}, "grid": {}}
    dataset.X = np.random.default_rng(0).uniform(size=(30, 6)) * 10.0 ** np.arange(6)
    asked = {}
    for protocol in (own, replace(own, scaling_for={})):
        trials = expand("s", dataset, method, protocol)
        for n_jobs in (1, 2):
            data = Data.scaled(dataset, protocol, "max_variance")
            caps = Caps(max_seconds=600) if n_jobs == 2 else None  # so that it runs in another process
            ((outcome,),) = [ended for ended in run_all(trials, data, n_jobs, caps=caps) if ended]
            asked.setdefault(outcome.trial["trial"], []).append(outcome)
    ours, plain = asked.values()
    assert [json.loads(one.trial["ranking"]) for one in ours] == [[5, 4, 3]] * 2  # the largest of the raw variances
    assert json.loads(plain[0].trial["ranking"]) != [5, 4, 3]
    expected = evaluate(np.array([4, 5]), scale(dataset.X, "minmax"), dataset.y, own)[0][0]
    for outcome in ours:
        assert outcome.trial["sets"][0]["acc"] == expected.tolist()


def test_what_a_protocol_leaves_out_is_not_stored_so_that_older_studies_stay_open(tmp_path):
    assert set(PROTOCOL.stored()) == {"name", "sizes", "scaling", "restarts", "seed", "nmi", "max_iter"}
    fit = {"dataset": "d", "method": "m", "acc": {50: [0.2]}}
    store(frames([fit], study="s", protocol=PROTOCOL.stored()), tmp_path)
    with pytest.raises(StoreError, match="coarse: stored None, asked True"):
        check_study(tmp_path / "s/e/m", SimpleNamespace(name="e", sha=""), replace(PROTOCOL, coarse=True))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_its_protocol(paper):
    protocol = protocol_of(paper)
    assert protocol.name == paper and not protocol.coarse
    assert protocol.sizes == (50, 100, 150, 200, 250, 300)
    assert protocol.restarts == (10 if paper == "jgufs" else 20)
    assert protocol.scaling == {"kmeans_ufs": "zscore", "dgufs": "unit_features"}.get(paper, "minmax")
    assert protocol.starts == ("kmeans++" if paper == "kmeans_ufs" else "random") and protocol.replicates == 1
    assert dict(protocol.sizes_for) == ({"usps": (50, 80, 110, 140, 170, 200)} if paper == "ufsol" else {})
    assert paper != "jgufs" or protocol.grid_values == (1e-3, 1e-2, 1e-1, 1, 10, 100, 1e3)


def composed(experiment):
    """Return the sweep of an experiment, and the configuration of one of its cells."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        overrides = [f"experiment={experiment}", "method=mcfs", "dataset=umist"]
        config = compose("config", overrides, return_hydra_config=True)
    return {"dataset": config.datasets, "method": config.methods}, config


@pytest.mark.parametrize("paper", PAPERS)
def test_an_experiment_runs_every_published_cell_and_the_quick_one_a_part_of_its_grid(paper):
    published = np.array([line.split(",")[:5] for line in (ROOT / "results/published.csv").read_text().splitlines()])
    published = published[published[:, 0] == paper]
    sweep, config = composed(paper)
    assert set(sweep["dataset"]) == set(published[:, 2])
    assert set(sweep["method"]) >= set(published[:, 3])
    assert all(set(chosen) <= set(names(group)) for group, chosen in sweep.items())
    assert (config.study, config.protocol.name) == (paper, paper)
    assert config.missing_data == "skip"
    quick, coarse = composed(f"{paper}_quick")
    assert set(quick["method"]) == set(sweep["method"]) and set(quick["dataset"]) <= set(sweep["dataset"])
    assert coarse.study == f"{paper}_quick" and coarse.protocol.coarse
    assert dict(coarse.protocol, coarse=False) == dict(config.protocol, coarse=False)


def run(folder, *arguments, sweep=()):
    """Run a sweep in which `umist` is not available: data folder and cache are empty, and addresses lead nowhere."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    spec = yaml.safe_load((CONF / "dataset" / "umist.yaml").read_text())
    spec["sources"][0]["urls"] = ["http://127.0.0.1:9/umist.mat"]
    (folder / "conf/dataset").mkdir(parents=True, exist_ok=True)
    (folder / "conf/dataset/nowhere.yaml").write_text(yaml.safe_dump({**spec, "name": "nowhere"}))
    command = ["run.py", *sweep, "--config-dir", str(folder / "conf"), "protocol=smoke"]
    settings = [f"data_dir={empty}", f"results_dir={folder}/results", "runner.n_jobs=1"]
    return forked.run([*command, *settings, *arguments], ROOT)


def test_a_sweep_skips_what_is_not_at_hand_tries_it_once_and_does_not_fail(tmp_path):
    cells = ["dataset=nowhere,digits", "method=max_variance,first_index"]
    done = run(tmp_path, *cells, "missing_data=skip", sweep=["-m"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("skipped: nowhere is not on this machine and could not be downloaded") == 2
    assert done.stdout.endswith("2 of 4 cells\n")
    trials = load_all(tmp_path / "results").trials
    assert trials[["dataset", "method"]].to_numpy().tolist() == [["digits", "first_index"], ["digits", "max_variance"]]
    assert json.loads(trials["protocol"].iloc[0])["name"] == "smoke"


@pytest.mark.parametrize("arguments", [["dataset=nowhere"], ["dataset=nowhere", "missing_data=skip"]])
def test_a_run_in_which_nothing_can_be_had_fails(tmp_path, arguments):
    done = run(tmp_path, "method=max_variance", *arguments)
    assert done.returncode == 1
    assert "nowhere is not on this machine" in done.stdout and "Traceback" not in done.stderr


def test_a_budget_bounds_every_grid_and_keeps_the_default(dataset):
    method = {**METHOD, "grid": {"alpha": [0.5, 1.0, 2.0], "beta": [0.1, 1.0, 10.0]}}
    whole = {trial.key for trial in expand("s", dataset, method, PROTOCOL)}
    for budget in (1, 4, 9, 99):
        trials = expand("s", dataset, method, replace(PROTOCOL, budget=budget))
        assert len(trials) == min(budget, 9)
        assert {trial.key for trial in trials} <= whole
        assert sum(trial.is_default for trial in trials) == 1


def test_a_number_of_points_takes_the_default_and_others_which_a_larger_number_keeps(dataset):
    trials = expand("s", dataset, METHOD, PROTOCOL)
    before = []
    for number in (1, 2, 5, 20, 21, 99):
        some = first_points(trials, number)
        assert len(some) == min(number, 21) and any(trial.is_default for trial in some)
        assert some == [trial for trial in trials if trial in some] and all(trial in some for trial in before)
        before = some
    grid = {"alpha": [0.1, 1.0], "beta": [0.1, 0.9]}
    method = METHOD | {"name": "dgufs", "target": "methods.dgufs.DGUFS", "params": {}, "grid": grid}
    sized = expand("s", dataset, method, PROTOCOL)
    assert len(first_points(sized, 3)) == 3 * len({trial.sizes for trial in sized}) > 3


def test_a_budget_adds_the_default_that_the_common_values_leave_out(dataset):
    trials = expand("s", dataset, METHOD, replace(PROTOCOL, budget=9, grid_values=(0.25, 0.75)))
    assert sum(trial.is_default for trial in trials) == 1
    assert {trial.params["alpha"] for trial in trials if not trial.is_default} == {0.25, 0.75}


def test_under_a_budget_a_parameter_that_refuses_a_common_value_keeps_its_own(dataset):
    trials = expand("s", dataset, METHOD, replace(PROTOCOL, budget=99, grid_values=(-1.0, 0.5)))
    assert {trial.params["alpha"] for trial in trials} == {*METHOD["grid"]["alpha"], METHOD["params"]["alpha"]}


@pytest.mark.parametrize("change", [{}, {"coarse": True}, {"grid_values": (0.5, 2.0)}, {"seeds": 5}])
def test_what_only_repeats_a_method_is_run_in_full_whatever_the_protocol_searches(dataset, change):
    method = yaml.safe_load((CONF / "method" / "random_rankings.yaml").read_text())
    trials = expand("s", dataset, method, replace(PROTOCOL, **change))
    assert [trial.params["draw"] for trial in trials] == list(range(100))
    assert first_points(trials, 3) == trials[:3] and first_points(trials, 200) == trials


@pytest.mark.parametrize("paper", PAPERS)
def test_the_controls_of_a_paper_belong_to_its_study(paper):
    (sweep, config), (controls, own) = composed(paper), composed(f"{paper}_controls")
    graph = ["spectral_labels"] if paper == "dgufs" else []  # beside the learned labels that it prints
    expected = ["all_features", "max_variance", "random_rankings", *graph]
    assert controls == {"dataset": sweep["dataset"], "method": expected}
    assert (own.study, own.protocol, own.missing_data) == (config.study, config.protocol, config.missing_data)


def test_fair_gives_every_method_the_same_values_sizes_and_budget():
    protocol = protocol_of("fair")
    assert protocol.budget == 25 and len(protocol.grid_values) == 5
    assert protocol.restarts == 100 and protocol.seeds == 5
    _, config = composed("fair")
    assert config.missing_data == "skip" and config.study == "fair"


def test_a_protocol_comes_back_from_what_is_stored_of_it():
    others = (
        replace(PROTOCOL, coarse=True),
        replace(PROTOCOL, starts="kmeans++", replicates=3),
        replace(PROTOCOL, seeds=2),
    )
    for protocol in (PROTOCOL, protocol_of("ufsol"), protocol_of("fair"), *others):
        assert Protocol.from_json(json.dumps(protocol.stored())) == protocol


def test_a_method_with_a_random_part_has_a_trial_for_every_seed(dataset):
    plain, seeded = replace(PROTOCOL, seed=7), replace(PROTOCOL, seed=7, seeds=3)
    method = METHOD | {"name": "socfs", "target": "methods.socfs.SOCFS", "params": {}, "grid": {"lambda_": [0.1, 1.0]}}
    once, trials = (expand("s", dataset, method, protocol) for protocol in (plain, seeded))
    assert [trial.nth_seed for trial in trials] == [0, 0, 1, 1, 2, 2]
    assert [trial.selector().random_state for trial in trials] == [7, 7, 8, 8, 9, 9]
    assert [trial.key for trial in trials[:2]] == [trial.key for trial in once]
    assert len({trial.key for trial in trials}) == 6
    assert {trial.protocol.seed for trial in trials} == {7}  # that of K-means
    assert len(first_points(trials, 1)) == 3
    for fixed in (
        method | {"seedless": True},
        method | {"name": "max_variance", "target": "methods.baselines.MaxVariance", "grid": {}},
    ):
        first, second = (expand("s", dataset, fixed, protocol) for protocol in (plain, seeded))
        assert [trial.key for trial in first] == [trial.key for trial in second]
    with pytest.raises(ConfigError, match=r"seedless=1 must be true or false\."):
        expand("s", dataset, method | {"seedless": 1}, plain)
