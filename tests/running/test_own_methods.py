"""A class or a function of one's own as a method, from a command line and from four lines of YAML."""

import json

import forked
import pytest
from frames import load_results
from hydra.core.config_store import ConfigStore
from small_data import TRUTH
from test_code import forget

from ufs_bench.runners.cli.choices import offer_methods
from ufs_bench.runners.code import code_of
from ufs_bench.runners.experiment.method import Method, load_class
from ufs_bench.runners.messages import ConfigError
from ufs_bench.runners.store.identity import Identity
from ufs_bench.scripts.core.conf import ROOT

MODULE = '''
import yaml

from our_helper import power


class MySel:
    """Not derived from anything."""

    def __init__(self, alpha=1.0, n_clusters=2, random_state=None):
        self.alpha, self.n_clusters = alpha, n_clusters

    def fit(self, X):
        self.scores_ = power(X.var(axis=0), self.alpha)
        self.labels_ = X[:, 0].argsort() % self.n_clusters
        return self


class Chosen:
    def __init__(self, k=3):
        self.k = k

    def fit(self, X, y=None):
        self.chosen = X.var(axis=0).argsort() >= X.shape[1] - self.k
        return self

    def get_support(self):
        return self.chosen


class Needs:
    def __init__(self, kernel):
        self.kernel = kernel

    def fit(self, X):
        return self


def mean_of(X, power=2):
    return (X**power).mean(axis=0)


def mcfs(X):
    return X.mean(axis=0)


def supervised(X, y):
    return X.T @ y
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a user's two modules, and return a function that changes one."""

    def write(old="", new=""):
        (tmp_path / "our_module.py").write_text(MODULE.replace(old, new) if old else MODULE)
        (tmp_path / "our_helper.py").write_text("def power(values, alpha):\n    return values**alpha\n")
        forget("our_")

    monkeypatch.syspath_prepend(tmp_path)
    write()
    return write


def test_a_target_alone_is_an_empty_method_of_its_name(own):
    words = offer_methods(["-m", "method.target=our_module.MySel,our_module.mean_of", "dataset=digits"])
    assert words == ["-m", "method=MySel,mean_of", "dataset=digits"]
    node = ConfigStore.instance().load("method/MySel.yaml").node
    assert node == {"name": "MySel", "target": "our_module.MySel", "params": {"alpha": 1.0}, "grid": {}}
    kept = ["method=mcfs", "method.target=our_module.MySel"]
    assert offer_methods(kept) == kept


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("our_module.mcfs", "a method of conf/method is called 'mcfs'"),
        ("our_module.MySel,our_module.MySel", "two of the targets are called 'MySel'"),
        ("our_module.supervised", "supervised asks for y, and labels never reach a method"),
        ("our_module.none", "cannot be imported"),
        ("our_module.yaml", "is no selector: it must be a class with fit"),
    ],
)
def test_a_target_that_cannot_be_run_is_refused_before_anything_is_done(own, word, answer):
    with pytest.raises(ConfigError, match=answer):
        offer_methods([f"method.target={word}"])


def test_a_parameter_without_a_default_must_be_given(own):
    content = {"name": "needs", "target": "our_module.Needs", "params": {}, "grid": {}}
    with pytest.raises(ConfigError, match="method.params lacks kernel, for which Needs has no default"):
        Method.read(content)
    assert Method.read(content | {"grid": {"kernel": ["rbf", 3]}}).takes("kernel")


def test_the_code_is_that_of_its_file_and_of_what_that_imports_and_of_no_other_target(own):
    code = code_of(load_class("our_module.MySel"))
    assert {"our_module.py", "our_helper.py", "plain.py", "base.py"} <= {file.name for file, _ in code.files}
    assert "yaml" in json.loads(Identity.of(load_class("our_module.mean_of")).versions)
    targets = ["our_module.MySel", "our_module.mean_of", "our_module.Chosen", "sklearn.feature_selection.SelectKBest",
               "sklearn.feature_selection.VarianceThreshold"]  # fmt: skip
    before = [code_of(load_class(target)).digest for target in targets]
    assert len(set(before)) == len(targets) and all(before)
    assert code_of(load_class(targets[-1])).packages == ()  # its version stands beside every number
    own("X**power", "X ** (power + 1)")
    assert code_of(load_class("our_module.mean_of")).digest != before[1]
    own()
    assert code_of(load_class("our_module.mean_of")).digest == before[1]


def test_what_scikit_learn_has_changes_no_other_method(own):
    mcfs = load_class("methods.mcfs.MCFS")
    before = code_of(mcfs)
    load_class("sklearn.feature_selection.VarianceThreshold")
    assert code_of(mcfs) == before


def test_own_methods_run_beside_others_and_are_resumed(own, tmp_path):
    (tmp_path / "conf/method").mkdir(parents=True)
    text = "name: four_lines\ntarget: our_module.mean_of\nparams: {power: 2}\ngrid: {power: [2, 4]}\n"
    (tmp_path / "conf/method/four_lines.yaml").write_text(text)
    common = [f"dataset={TRUTH}", "protocol=smoke", "protocol.sizes=[4,8]", "study=s", f"results_dir={tmp_path / 'r'}"]

    def run(*words):
        return forked.printed([ROOT / "run.py", *words, *common], tmp_path)

    targets = "our_module.MySel,our_module.Chosen,sklearn.feature_selection.VarianceThreshold"
    run("-m", f"method.target={targets}", "runner.n_jobs=1", "runner.max_seconds=60")
    run("--config-dir", str(tmp_path / "conf"), "method=four_lines", "runner.n_jobs=1")
    trials = load_results(tmp_path / "r", "s").trials
    assert trials.groupby("method").size().to_dict() == {
        "Chosen": 2, "MySel": 1, "VarianceThreshold": 1, "four_lines": 2
    }  # fmt: skip
    assert (trials["error"].fillna("") == "").all() and set(trials["status"]) == {"converged"}
    assert '"n_clusters": 10' in trials.set_index("method").loc["MySel", "params"]
    scores = load_results(tmp_path / "r", "s").scores
    assert {"learned"} == set(scores["clusterer"]) - {"kmeans"}
    again = run("-m", f"method.target={targets}", "runner.n_jobs=1")
    assert again.count("stored") == 3 and "fits" not in again


QUICK = [f"dataset={TRUTH}", "protocol=smoke", "study=s", "runner.n_jobs=1"]


def stored(folder, method):
    """Return the stored trials of a cell of `QUICK`, as (share, is_default)."""
    trials = load_results(folder / "results", "s", TRUTH, method).trials
    return sorted((json.loads(row.params)["share"], row.is_default) for row in trials.itertuples())


def test_an_edited_default_and_a_moved_file_leave_one_default_and_no_fit_of_code_that_is_gone(tmp_path):
    """Tables took the first of several defaults, and a study with a moved method could not be read."""
    text = "def spread(X, share=0.1):\n    return X.var(axis=0)\n"
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(text)
    run = [str(ROOT / "run.py"), *QUICK, f"results_dir={tmp_path}/results"]
    for target in ("first", "second"):
        forked.printed([*run, f"method.target={target}.spread"], tmp_path)
    assert stored(tmp_path, "spread") == [(0.1, True)]
    forked.printed([*run, "method.target=second.spread", "method.params.share=0.2"], tmp_path)
    assert stored(tmp_path, "spread") == [(0.1, False), (0.2, True)]
    forked.printed([*run, "method.target=second.spread"], tmp_path)
    assert stored(tmp_path, "spread") == [(0.1, True), (0.2, False)]
    (tmp_path / "second.py").write_text(text.replace("0.1", "0.3").replace("return X", "return -X"))
    forked.printed([*run, "method.target=second.spread"], tmp_path)
    assert stored(tmp_path, "spread") == [(0.2, False), (0.3, True)]
