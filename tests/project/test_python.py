"""`ufs_bench`, the suite from Python, and its page."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline

from ufs_bench import (
    as_dataset,
    compare,
    evaluate,
    open_study,
    run,
)
from ufs_bench.datasets import DataError
from ufs_bench.methods import MCFS
from ufs_bench.metrics.measures import DECIMALS
from ufs_bench.runners import progress
from ufs_bench.runners.messages import ConfigError, StoreError
from ufs_bench.runners.store.row import stored_nmi
from ufs_bench.scripts.check_method.contract import blobs

X, Y = blobs(60, 12), np.arange(60) % 3
SMALL = ["protocol.sizes=[2,4]", "protocol.restarts=3", "runner.n_jobs=1"]


class Power(BaseEstimator):
    """Ranks features by a power of their spread."""

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y=None):
        assert y is None
        self.scores_ = X.std(axis=0) ** self.power
        return self


class Asks(BaseEstimator):
    """Ranks features with the help of another estimator."""

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, X):
        """Fit nothing."""


def mean(X):
    return X.mean(axis=0)


def test_a_ranking_has_the_scores_that_the_method_with_this_ranking_has(tmp_path):
    study = run([VarianceThreshold()], {"mine": (X, Y)}, "smoke", results_dir=tmp_path, overrides=SMALL[:1])
    best = study.frame["features"].iloc[-1].tolist()
    scores = evaluate(best, (X, Y), "smoke", sizes=[2, 4])
    assert scores["n_selected"].unique().tolist() == [2, 4] and scores["replication"].notna().all()
    keys = ["n_selected", "restart", "acc", "nmi"]
    stored = scores[keys].assign(nmi=stored_nmi(scores["nmi"]))
    pd.testing.assert_frame_equal(study.scores[keys], stored, check_dtype=False, rtol=0, atol=5.1e-8)
    silhouettes = scores.groupby("n_selected")["silhouette"].mean()
    np.testing.assert_array_equal(study.frame["silhouette"], silhouettes.round(DECIMALS))
    unlabelled = evaluate(best, as_dataset(X, clusters=3), "smoke", sizes=[4])
    assert unlabelled["acc"].isna().all()
    np.testing.assert_array_equal(unlabelled["silhouette"], scores.loc[scores["n_selected"] == 4, "silhouette"])


@pytest.mark.parametrize("call", ["mkdir", "open"])  # a folder that cannot be made, and a lock in one that is there
def test_a_folder_without_the_right_to_write_is_refused_with_what_to_do(call, tmp_path, monkeypatch):
    original = getattr(os, call)

    def refusing(path, *words, **more):
        if str(path).startswith(str(tmp_path)):
            raise PermissionError(13, "Permission denied", str(path))
        return original(path, *words, **more)

    monkeypatch.setattr(os, call, refusing)
    if call == "open":
        (tmp_path / "s").mkdir()
    with pytest.raises(StoreError, match=f"cannot write {tmp_path}/s.*: Permission denied.*get the right to write"):
        run(["max_variance"], {"mine": (X, Y)}, "smoke", "s", tmp_path, overrides=SMALL)


def test_calls_from_several_threads_wait_for_each_other(tmp_path):
    def study(name):
        return run(["max_variance"], {"mine": (X, Y)}, "smoke", name, tmp_path, overrides=SMALL, verbose=False)

    with ThreadPoolExecutor(3) as pool:
        assert [len(one.trials) for one in pool.map(study, "abc")] == [1, 1, 1]


def test_data_that_stand_alone_are_taken_or_refused_as_one(tmp_path):
    both = [run(["max_variance"], one, "smoke", "s", tmp_path, overrides=SMALL)
            for one in ((X.tolist(), Y.tolist()), (pd.DataFrame(X), Y))]  # fmt: skip
    assert [len(study.trials) for study in both] == [1, 1]
    with pytest.raises(ConfigError, match="data of type DataFrame must be a name of conf/dataset, a Dataset, or"):
        run(["max_variance"], pd.DataFrame(X), "smoke", "s", tmp_path)


def test_objects_are_run_with_their_parameters_stored_and_not_run_again(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress.log, "disabled", True)  # as after a command of Hydra in the same process
    methods = {"cubic": Power(power=np.float64(3.0)), "laplacian": MCFS(n_neighbors=3)}
    data = {"mine": (X, Y), "other": (X[:40], Y[:40])}

    def again(**more):
        return run(methods | more, data, "smoke", "s", tmp_path, overrides=SMALL)

    study = again()
    before = study.trials.set_index("trial")["fit_s"].to_dict()
    params = study.trials.drop_duplicates("method").set_index("method")["params"].map(json.loads)
    assert params["cubic"] == {"power": 3.0} and params["laplacian"]["n_neighbors"] == 3 and len(study.trials) == 4
    assert set(study.trials["status"]) == {"converged"} and "cell 4 of 4: laplacian on other" in capsys.readouterr().out
    assert methods["cubic"].__dict__ == {"power": 3.0}  # a copy was fitted
    assert again(least=Power(0.5)).table().frame.shape == (3, 2)
    opened = open_study("s", tmp_path)
    assert before.items() <= opened.trials.set_index("trial")["fit_s"].to_dict().items()  # to the last digit
    assert len(opened.trials) == 6 and len(opened.scores) == 6 * 2 * 3 and "smoke" in repr(opened)
    assert opened.table(metric="nmi", rows=["cubic"], columns="mine").frame.shape == (1, 1)
    assert r"\begin{table}" in opened.to_latex() and "<table" in opened._repr_html_()
    assert opened.plot(dataset="mine").axes
    with pytest.raises(ValueError, match="must be one of mine, other"):
        opened.plot()
    for of_all in (opened.ranks, lambda: opened.plot("gains"), lambda: opened.plot("critical_difference")):
        with pytest.raises(ValueError, match="n_datasets=2"):
            of_all()


def test_arrays_have_a_name_of_their_values_and_a_sha(tmp_path):
    one, other = as_dataset(X, Y), as_dataset(pd.DataFrame(X + 1), Y)
    assert one.name == f"data_{one.sha[:8]}" != other.name
    with pytest.raises(DataError, match="conf/dataset"):
        as_dataset(X, Y, name="umist")
    study = run(["max_variance"], [(X, Y)], "smoke", results_dir=tmp_path, overrides=SMALL, verbose=False)
    assert study.trials["dataset"].tolist() == [one.name] and study.trials["data_sha"].tolist() == [one.sha]
    # Other values under the same name could stand in no table beside them.
    with pytest.raises(StoreError, match=f"holds trials of other data that were called '{one.name}'"):
        run(["max_variance"], {one.name: (X + 1, Y)}, "smoke", results_dir=tmp_path, overrides=SMALL, verbose=False)
    run(["max_variance"], {"later": (X + 1, Y)}, "smoke", results_dir=tmp_path, overrides=SMALL, verbose=False)
    assert set(open_study("smoke", tmp_path).trials["data_sha"]) == {one.sha, other.sha}


@pytest.mark.parametrize(
    ("methods", "answer"),
    [
        ([Power(), Power(2.0)], "two of the methods are called 'Power'"),
        ([], r"methods=\[\] must be one or more methods"),
        (None, "methods=None must be one or more methods"),
        ({"foo": "max_variance"}, "'max_variance' of conf/method keeps its name: .*, not 'foo'"),
        ([make_pipeline(VarianceThreshold())], "steps=.* of Pipeline must be a number, a text"),
        (["mcsf"], "Did you mean mcfs"),
        ({"mcfs": Power()}, "no method of conf/method"),
        ({"größe": Power()}, "'größe' must be letters of ASCII, digits and _"),
        ({300 * "x": Power()}, "must be letters of ASCII"),
        ([Asks(inner=Power())], "inner=Power.* must be a number, a text"),
        ([lambda X: X.mean(axis=0)], "cannot be imported by this name"),
        ([3], "is a part of Python, and no method"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_fit(tmp_path, methods, answer):
    with pytest.raises(ConfigError, match=answer):
        run(methods, [(X, Y)], "smoke", results_dir=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_single_function_or_pair_of_arrays_needs_no_list_and_options_of_figures_are_named(tmp_path):
    study = run(mean, (X, Y), "smoke", results_dir=tmp_path, overrides=SMALL, verbose=False)
    assert study.trials["method"].tolist() == ["mean"]
    with pytest.raises(ValueError, match="figure='surface': missing a required argument: 'method'. Its options are"):
        study.plot("surface")
    with pytest.raises(ValueError, match=r"\[\] names nothing: leave it out"):
        study.table(rows=[])
    with pytest.raises(ValueError, match="study=None must be the name of a study"):
        open_study(None, tmp_path)


def test_a_name_that_yaml_takes_for_a_number_or_none_is_a_name(tmp_path):
    study = run(
        {"nan": mean, "null": mean}, {"inf": (X, Y)}, "smoke", overrides=SMALL, results_dir=tmp_path, verbose=False
    )
    assert study.table().frame.shape == (2, 1) and set(study.trials["method"]) == {"nan", "null"}


def test_a_fit_that_fails_is_said_and_does_not_end_the_others(tmp_path, caplog):
    options = {"results_dir": tmp_path, "overrides": SMALL}
    for methods, verbose in (([VarianceThreshold(1e9)], False), ([VarianceThreshold(1e9), mean], True)):
        with pytest.warns(UserWarning, match="VarianceThreshold on mine: 1 trial without scores, the first: failed"):
            run(methods, {"mine": (X, Y)}, "smoke", verbose=verbose, **options)
        assert bool(caplog.records) == verbose
    assert set(open_study("smoke", tmp_path).table(columns=["mine"]).frame.index) == {"VarianceThreshold", "mean"}
    with pytest.raises(ValueError, match="the study 'smke' has no results.*Did you mean smoke"):
        open_study("smke", tmp_path)


def test_a_study_of_mine_is_compared_with_the_methods_of_another(tmp_path):
    data = {f"mine{n}": (X[:, n:], Y) for n in range(2)}
    given = {"protocol": "smoke", "results_dir": tmp_path, "overrides": SMALL, "verbose": False}
    mine = run({"cubic": Power(3.0)}, data, study="s", **given)
    others = run(["mcfs", "random_rankings"], data, study="others", **given)
    found = compare(mine, "cubic", others)
    assert set(found.index) == {"mcfs", "random_rankings"} and found["n_datasets"].tolist() == [2, 2]
    with pytest.raises(ValueError, match="and others in study=s"):
        compare(mine, "cubic")


def test_what_a_method_refuses_is_said_before_the_others_are_fitted(tmp_path):
    three = np.random.default_rng(0).normal(size=(3, 5)), [0, 1, 2]
    with pytest.raises(ConfigError, match="n_clusters=3 must be a whole number in"):
        run(
            ["all_features", "mcfs"],
            {"three": three},
            study="s",
            results_dir=tmp_path,
            overrides=["protocol.sizes=[2]"],
        )
    assert not list(tmp_path.glob("s/*/*/trials.csv"))
