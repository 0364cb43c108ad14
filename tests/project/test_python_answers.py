"""The Python interface with the suite's own methods: answers, tables, lists, and the code of the page."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import forked
import numpy as np
import pandas as pd
import pytest
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
from ufs_bench.methods import MCFS
from ufs_bench.runners.messages import ConfigError
from ufs_bench.scripts.check_method.contract import blobs
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.features import features_of
from ufs_bench.scripts.make_figure import FIGURES
from ufs_bench.scripts.rank.field import field_of
from ufs_bench.scripts.rank.versus import versus

ROOT = Path(__file__).resolve().parents[2]
X, Y = blobs(60, 12), np.arange(60) % 3
NOTEBOOK = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))
CODE = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(encoding="utf-8"), re.DOTALL)


def test_a_ranking_may_name_the_features_of_a_frame():
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    pd.testing.assert_frame_equal(
        evaluate(["f3", "f1"], (frame, Y), "smoke", sizes=[2]), evaluate([3, 1], (X, Y), "smoke", sizes=[2])
    )
    with pytest.raises(ValueError, match="ranking has 'g3', the name of 0 features"):
        evaluate(["g3"], (frame, Y), "smoke", sizes=[1])
    with pytest.raises(ValueError, match="'a', the name of 2 features"):
        evaluate(["a"], (frame.set_axis([*"ab", "a", *frame.columns[3:]], axis=1), Y), "smoke", sizes=[1])


def test_a_ranking_is_scored_by_as_many_clusters_as_the_protocol_says(monkeypatch):
    monkeypatch.setattr(ufs_bench.api, "find", lambda *_: find("protocol", "smoke") | {"clusters": "half"})
    scores = evaluate([3, 1], (X, Y), "smoke", sizes=[2])
    two = evaluate([3, 1], as_dataset(X, clusters=4), "smoke", sizes=[2])  # half of four clusters are two, too
    assert scores["silhouette"].equals(two["silhouette"]) and scores["acc"].notna().all()


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


@pytest.mark.parametrize(
    "overrides, answer",
    [
        (3, "overrides=3 must be a list of texts, such as"),
        ([3], r"overrides=\[3\] must be a list of texts"),
        ({"protocol.seed": 1}, "must be a list of texts"),
        ("dataset.name=x", "conf/dataset/mine.yaml: name is 'x', it must be that of the file"),
        (["method.name=x"], "conf/method/max_variance.yaml: name is 'x'"),
        (["runner.plan=true"], "runner.plan=true has no effect from Python: give it to `python run.py`"),
        (["shard=1/2"], "shard=1/2 has no effect"),
        (["--help"], "--help has no effect from Python"),
        (["protocol.seed=1,2"], "protocol.seed=1,2 has several values: call run once for each"),
    ],
)
def test_an_override_that_is_none_or_would_be_ignored_is_refused(tmp_path, overrides, answer):
    with pytest.raises(ConfigError, match=answer):
        run(["max_variance"], {"mine": (X, Y)}, "smoke", results_dir=tmp_path, overrides=overrides)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("methods, study", [("max_variance", ""), ({5: np.var}, "s")])
def test_a_name_that_is_none_is_refused(tmp_path, methods, study):
    with pytest.raises(ConfigError, match="study='' must be a name|the name 5 must be letters"):
        run(methods, {"mine": (X, Y)}, "smoke", study, tmp_path)


@pytest.mark.parametrize("results_dir", [None, 3, __file__, f"{__file__}/results"])
def test_results_that_are_in_no_folder_are_refused(results_dir):
    for function in (
        lambda: open_study("s", results_dir),
        lambda: run("mcfs", (X, Y), results_dir=results_dir),
    ):
        with pytest.raises(ConfigError, match="results_dir=.* must be a folder"):
            function()


@pytest.mark.parametrize("word", ["dataset=digits", "method=mcfs", "protocol=demo", "results_dir=here"])
def test_an_override_of_what_an_argument_says_is_refused(tmp_path, word):
    with pytest.raises(ConfigError, match=f" and {word} give {word.split('=')[0]} two values: leave one out"):
        run(["max_variance"], [(X, Y)], "smoke", results_dir=tmp_path, overrides=[word])
    assert not list(tmp_path.iterdir())


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
