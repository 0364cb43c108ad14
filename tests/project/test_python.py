"""`ufs_bench`, the suite from Python, and its page."""

import inspect
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import forked
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import ufs_bench
from ufs_bench import (
    Study,
    as_dataset,
    compare,
    evaluate,
    list_datasets,
    list_methods,
    list_protocols,
    load_dataset,
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
from ufs_bench.scripts.features import features_of
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.rank.field import field_of
from ufs_bench.scripts.rank.versus import versus

ROOT = Path(__file__).resolve().parents[2]
X, Y = blobs(60, 12), np.arange(60) % 3
SMALL = ["protocol.sizes=[2,4]", "protocol.restarts=3", "runner.n_jobs=1"]
NOTEBOOK = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))
CODE = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(encoding="utf-8"), re.DOTALL)


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


def test_a_ranking_may_name_the_features_of_a_frame():
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    pd.testing.assert_frame_equal(
        evaluate(["f3", "f1"], (frame, Y), "smoke", sizes=[2]), evaluate([3, 1], (X, Y), "smoke", sizes=[2])
    )
    with pytest.raises(ValueError, match="ranking has 'g3', the name of 0 features"):
        evaluate(["g3"], (frame, Y), "smoke", sizes=[1])
    with pytest.raises(ValueError, match="'a', the name of 2 features"):
        evaluate(["a"], (frame.set_axis([*"ab", "a", *frame.columns[3:]], axis=1), Y), "smoke", sizes=[1])


@pytest.mark.parametrize(
    ("ranking", "options", "answer"),
    [
        ([0, 1, 1, 2], {}, "ranking has 1 2 times"),
        ([0, -1], {}, r"ranking has -1, which must be in \[0, n_features=12\)"),
        ([0, 12], {}, r"ranking has 12"),
        ([0.5, 1.0], {}, "must be a list of column numbers"),
        ([0, 1, 2], {"sizes": [2, 4]}, r"sizes=\[2, 4\] must be at most 3"),
        ([0, 1, 2], {"protocol": "smok"}, "protocol='smok' is no file of conf/protocol. Did you mean smoke"),
    ],
)
def test_a_ranking_that_cannot_be_scored_is_refused(ranking, options, answer):
    with pytest.raises(ValueError, match=answer):
        evaluate(ranking, (X, Y), **{"protocol": "smoke"} | options)


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
    with pytest.raises(ValueError, match="n_datasets=2"):
        opened.ranks()


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


@pytest.mark.parametrize(
    "overrides, answer",
    [
        (3, "overrides=3 must be a list of texts, such as"),
        ([3], r"overrides=\[3\] must be a list of texts"),
        ({"protocol.seed": 1}, "must be a list of texts"),
        ("dataset.name=x", "conf/dataset/mine.yaml: name is 'x', it must be that of the file"),
        (["method.name=x"], "conf/method/mean.yaml: name is 'x'"),
        (["runner.plan=true"], "runner.plan=true has no effect from Python: give it to `python run.py`"),
        (["shard=1/2"], "shard=1/2 has no effect"),
    ],
)
def test_an_override_that_is_none_or_would_be_ignored_is_refused(tmp_path, overrides, answer):
    with pytest.raises(ConfigError, match=answer):
        run([mean], {"mine": (X, Y)}, "smoke", results_dir=tmp_path, overrides=overrides)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("results_dir", [None, 3, __file__, f"{__file__}/results"])
def test_results_that_are_in_no_folder_are_refused(results_dir):
    for function in (lambda: open_study("s", results_dir), lambda: run(mean, (X, Y), results_dir=results_dir)):
        with pytest.raises(ConfigError, match="results_dir=.* must be a folder"):
            function()


@pytest.mark.parametrize("word", ["dataset=digits", "method=mcfs", "protocol=demo", "results_dir=here"])
def test_an_override_of_what_an_argument_says_is_refused(tmp_path, word):
    with pytest.raises(ConfigError, match=f" and {word} give {word.split('=')[0]} two values: leave one out"):
        run([mean], [(X, Y)], "smoke", results_dir=tmp_path, overrides=[word])
    assert not list(tmp_path.iterdir())


def test_a_single_function_or_pair_of_arrays_needs_no_list_and_options_of_figures_are_named(tmp_path):
    study = run(mean, (X, Y), "smoke", results_dir=tmp_path, overrides=SMALL, verbose=False)
    assert study.trials["method"].tolist() == ["mean"]
    with pytest.raises(ValueError, match="figure='surface': missing a required argument: 'method'. Its options are"):
        study.plot("surface")
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


@pytest.mark.parametrize(
    "imports", ["import datasets, ufs_bench.datasets", "import numpy, ufs_bench.datasets, datasets"]
)
def test_methods_are_imported_beside_another_package_called_datasets_and_after_numpy(tmp_path, imports):
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets/__init__.py").write_text("OTHER = True")
    program = f"{imports}; from ufs_bench.methods import NDFS as one; from ufs_bench import NDFS; import ufs_bench"
    program += "; assert datasets.OTHER and one is NDFS; print(*dir(ufs_bench))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ufs_bench.__all__, done.stderr


def test_a_table_prints_what_the_command_prints_and_has_its_numbers():
    table = open_study("dgufs").table(rows=["mcfs", "rufs"], columns=["umist"])
    words = ["-m", "scripts.make_table", "study=dgufs", "rows=[mcfs,rufs]", "columns=[umist]", "notes=short"]
    assert forked.printed(words, ROOT) == repr(table)
    means = table.cells.set_index("method")["mean"]
    assert table.frame.loc["MCFS", "UMIST"] == means["mcfs"] and "±" in repr(table) and "<table" in table._repr_html_()


def test_every_option_of_a_figure_of_ranks_and_of_features_is_a_named_parameter():
    def options(function):
        return {name: own.default for name, own in inspect.signature(function).parameters.items()}

    of_figures = set().union(*(options(draw) for draw in FIGURES.values())) - {"study"}
    assert set(options(Study.plot)) - {"self", "figure"} == of_figures
    for method, function in ((Study.ranks, field_of), (Study.features, features_of)):
        own, given = options(method), options(function)
        assert list(own.items())[1:] == list(given.items())[1:]  # after self, and the study


def test_a_method_is_compared_with_all_others_as_the_command_does():
    found = compare("dgufs", "mcfs")
    stored = open_study("dgufs")._stored
    names = sorted(stored.trials.loc[stored.trials["method"] == "mcfs", "dataset"].unique())
    own = stored.part(["mcfs"], names)
    expected = versus(stored, own, "mcfs", names, "default_params").table
    pd.testing.assert_frame_equal(found.sort_index(), expected.sort_index(), check_names=False)
    assert found["mean"].is_monotonic_decreasing and "mcfs" not in found.index
    with pytest.raises(ValueError, match=r"study=dgufs \(shipped\) and study=fair \(shipped\) differ in protocol name"):
        compare("dgufs", "mcfs", others="fair")
    with pytest.raises(ValueError, match="method='mfcs' must have results in study=dgufs"):
        compare("dgufs", "mfcs")


def test_a_study_of_mine_is_compared_with_the_methods_of_another(tmp_path):
    data = {f"mine{n}": (X[:, n:], Y) for n in range(2)}
    given = {"protocol": "smoke", "results_dir": tmp_path, "overrides": SMALL, "verbose": False}
    mine = run({"cubic": Power(3.0)}, data, study="s", **given)
    others = run(["mcfs", "random_rankings"], data, study="others", **given)
    found = compare(mine, "cubic", others)
    assert set(found.index) == {"mcfs", "random_rankings"} and found["n_datasets"].tolist() == [2, 2]
    with pytest.raises(ValueError, match="and others in study=s"):
        compare(mine, "cubic")


def test_lists_say_what_can_be_run():
    methods, datasets, protocols = list_methods(), list_datasets(), list_protocols()
    assert methods.loc["mcfs", "class_name"] == "MCFS" and methods.loc["dgufs_normalized", "kind"] == "variant"
    assert {"method", "variant", "control"} == set(methods["kind"]) and methods.loc["dgufs", "grid_points"] == 25
    digits = load_dataset("digits")
    assert tuple(datasets.loc["digits", ["samples", "features", "classes"]]) == (*digits.X.shape, digits.n_classes)
    assert datasets.loc["digits", "here"] and protocols.loc["dgufs", "paper"] == "DGUFS (Guo & Zhu 2018)"
    assert all(getattr(ufs_bench, name).__name__ == name for name in methods["class_name"])
    assert not any(frame.isna().any(axis=None) for frame in (methods, datasets, protocols))


def test_a_split_that_is_prescribed_is_used_as_users_of_scikit_learn_expect():
    fold = np.where(np.arange(60) < 30, -1, 0)
    pipeline = make_pipeline(MCFS(4, n_clusters=3), KNeighborsClassifier(1))
    search = GridSearchCV(pipeline, {"mcfs__n_features_to_select": [1, 6]}, cv=PredefinedSplit(fold), refit=False)
    found = search.fit(X, Y).cv_results_["mean_test_score"]
    for size, score in zip([1, 6], found, strict=True):
        selector = MCFS(size, n_clusters=3).fit(X[:30])
        new = selector.transform(X[30:])
        np.testing.assert_array_equal(new, X[30:][:, selector.get_support()])
        known = KNeighborsClassifier(1).fit(selector.transform(X[:30]), Y[:30])
        assert score == known.score(new, Y[30:])


@pytest.mark.slow  # what its code calls is tested above
def test_the_code_of_the_page_runs_is_resumed_and_prints_what_the_notebook_has(tmp_path):
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert ["".join(cell["source"]) for cell in cells] == [code.strip() for code in CODE], "run: make notebook"
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    stored = "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")
    fits = []
    for _ in range(2):
        words = [sys.executable, "-c", "\n".join(CODE)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == stored, "run: make notebook"
        # A function that a notebook defines is fitted in every call.
        kept = [path for path in tmp_path.glob("results/mine/*/*/trials.csv") if path.parent.name != "spread"]
        fits.append({path: path.read_bytes() for path in kept})
    assert fits[0] == fits[1] and len(fits[0]) == 4


@pytest.mark.parametrize("sizes", [[], [-1], [0], [1, 2.5], [True], [3, True], [2, 2]])
def test_a_size_that_is_no_number_of_features_is_not_evaluated(sizes):
    with pytest.raises(ValueError, match="must be a list of different whole numbers, 1 or more"):
        evaluate([0, 1, 2], "digits", protocol="smoke", sizes=sizes)


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
