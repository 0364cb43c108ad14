"""The contract of a method: its file in conf/, the exceptions that are known, and the result of a check."""

import inspect
import re
import traceback
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.messages import exits_as_errors
from ufs_bench.scripts.core.conf import CONF, read

# (method, property of properties.py): the reason why it does not hold.
EXCEPTIONS = {
    (method, check): reason
    for method, own in read(Path(__file__).with_name("exceptions.yaml")).items()
    for check, reason in own.items()
}

OK, KNOWN, FAIL = "ok", "known", "FAIL"


@dataclass(frozen=True)
class Method:
    """A file of conf/method, and the estimators that it describes."""

    name: str
    config: dict

    @cached_property
    def cls(self):
        """The class that `target` names."""
        return load_class(self.config["target"])

    @property
    def is_plain(self):
        """True for a class or function that is taken as it is (`methods.core.plain`)."""
        return hasattr(self.cls, "wrapped")

    def make(self, n_features_to_select=None, n_clusters=3, seed=0):
        """Return an unfitted estimator with the configuration's parameters."""
        accepted = inspect.signature(self.cls).parameters
        runner = {"n_features_to_select": n_features_to_select, "n_clusters": n_clusters, "random_state": seed}
        if self.cls.keeps_all:
            del runner["n_features_to_select"]
        return self.cls(**self.config["params"], **{name: runner[name] for name in runner if name in accepted})

    @cached_property
    def _fits(self):
        return {}

    def fitted(self, X, n_features_to_select=4):
        """Return a fit of what `make` returns, the same for the same samples: for checks that only look at it."""
        key = X.shape, X.tobytes(), n_features_to_select
        if key not in self._fits:
            self._fits[key] = self.make(n_features_to_select).fit(X)
        return self._fits[key]

    def selected(self, X):
        """Return the features that `fitted` selects."""
        selector = self.fitted(X)
        return selector.subset(selector.n_features_to_select_)


def load_methods(config_dir=None):
    """Return every method of conf/ by name, then those of a folder as in ``python run.py --config-dir``."""
    folders = [CONF, *([config_dir] if config_dir else [])]
    paths = [path for folder in reversed(folders) for path in sorted((folder / "method").glob("*.yaml"))]
    return {path.stem: Method(path.stem, read(path)) for path in paths}


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    verdict: str  # "ok", "known" or "FAIL"
    reason: str = ""  # one line; empty for "ok"
    details: str = ""  # the traceback of a failure


def examine(check, method):
    """Run one of `scripts.check_method.properties.PROPERTIES`; warnings of numpy count as errors, as in the tests."""
    known = EXCEPTIONS.get((method.name, check.__name__))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("error", RuntimeWarning)
            with exits_as_errors():
                check(method)
    except Exception as error:
        return Finding(KNOWN, known) if known else Finding(FAIL, in_one_line(error), traceback.format_exc())
    return Finding(FAIL, f"holds, but EXCEPTIONS says: {known}") if known else Finding(OK)


def examine_as_estimator(method):
    """Run the checks that scikit-learn has for every estimator; return the findings by the name of the check."""
    estimator = method.cls(**method.config["params"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        with exits_as_errors():
            results = check_estimator(estimator, on_skip=None, on_fail=None)
    return {result["check_name"]: _of_sklearn(result) for result in results if result["status"] != "skipped"}


def in_one_line(error):
    """Return an error's message, or the line of code where it has none."""
    words = " ".join(str(error).split())
    if not words:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{frame.line} ({frame.name})"
    words = words if isinstance(error, AssertionError) else f"{type(error).__name__}: {words}"
    return words if len(words) <= 200 else words[:197] + "..."


def sections(docstring):
    """Split a docstring in the numpydoc style, by title; the text before the first title is under ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return {"": parts[0].strip(), **{title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}}


def where_it_rises(trace):
    """Return the largest rise of an objective beyond rounding, in words; "" where it never rises."""
    rises = np.diff(trace) - 1e-10 * np.abs(trace[:-1])
    if not (rises > 0).any():
        return ""
    sweep = int(np.argmax(rises))
    return f"it rises from {trace[sweep]:.9g} to {trace[sweep + 1]:.9g} in sweep {sweep + 1} of {len(rises)}"


def _of_sklearn(result):
    if result["status"] == "passed":
        return Finding(OK)
    error = result["exception"]
    return Finding(FAIL, in_one_line(error), "".join(traceback.format_exception(error)))


def blobs(n_samples=24, n_features=10, n_clusters=3, seed=0):
    """Return clusters that differ in the first half of the features; no two features or samples are equal."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_samples) % n_clusters
    centers = 3.0 * rng.normal(size=(n_clusters, n_features))
    centers[:, n_features // 2 :] = 0.0
    return centers[labels] + rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 1.5, size=n_features)


def wide_blobs():
    """Return clusters with fewer samples than features."""
    return blobs(n_samples=14, n_features=40)


def without_negatives(X, method):
    """Return samples that a method takes: moved to 0 and more where it refuses negative values."""
    return X if method.cls.takes_negative else X - X.min()


def assert_same_features(expected, found):
    """Assert that both select the same set; the error says how far they differ."""
    shared = len(set(expected) & set(found))
    assert shared == len(expected), f"only {shared} of the {len(expected)} selected features are the same"


def error_of(selector, X):
    """Return what a fit is refused with."""
    try:
        selector.fit(X)
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{selector} accepts what it should refuse.")
