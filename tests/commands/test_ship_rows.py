"""Shipped rows of others: true ones are accepted, and wrong ones are not."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from forged import rows, with_scores, write
from small_data import TRUTH

from ufs_bench.metrics.measures import OF_SET
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.row import to_json
from ufs_bench.scripts.ship import ELSEWHERE, REFUSED, scores
from ufs_bench.scripts.ship.check import check, part
from ufs_bench.scripts.ship.rows import faults


def test_no_true_row_is_refused_and_every_row_is_scored(study, verify, handed_in):
    assert verify() == []
    spent = scores.Spent()
    frame, found = check("mine", part("mine", None), None, spent, handed_in[1], say=lambda line: None)
    sets = {tuple(sorted(own)) for own in frame["features"] if own is not None}
    assert found == [] and spent.n_sets == 0 and spent.n_kept == len(sets) > 4
    assert set(frame["clusterer"]) == {"kmeans", "learned"} and set(frame["method"]) == {
        "max_variance",
        "dgufs",
        "mcfs",
        "ndfs",
    }


def score(name, change):
    return lambda row: with_scores(row, name, change(row[name].copy()))


def value(name, change):
    return lambda row: row.update({name: change(row[name]) if callable(change) else change})


def first(change):
    def changed(values):
        values = values.copy()
        values[0] = change(values[0])
        return values

    return changed


KMEANS = {
    "acc+1": score("acc", first(lambda acc: acc + 1)),
    "acc-1": score("acc", first(lambda acc: acc - 1)),
    "acc all": score("acc", lambda acc: acc + 20),
    "acc above n": score("acc", first(lambda acc: 5000)),
    "acc below 0": score("acc", first(lambda acc: -1)),
    "acc turned": score("acc", lambda acc: np.roll(acc, 1)),
    "acc none": value("acc", None),
    "nmi": score("nmi", first(lambda nmi: nmi + 1e-4)),
    "nmi one": score("nmi", lambda nmi: np.ones(len(nmi))),
    "nmi above 1": score("nmi", first(lambda nmi: 1.5)),
    "nmi none": value("nmi", None),
    "acc short": value("acc", lambda acc: acc[:-1]),
    **{
        f"{name} {word}": value(name, change)
        for name in ("acc_mean", "acc_std", "nmi_mean", "nmi_std")
        for word, change in (("more", lambda x: x + 1e-4), ("none", np.nan), ("less", lambda x: x * 0.999))
    },
    **{
        f"{name} {word}": value(name, change)
        for name, (word, change) in product(
            OF_SET, (("more", lambda x: x + 1e-4), ("one", 0.987), ("none", np.nan), ("far", 7.0))
        )
    },
    "n_restarts": value("n_restarts", 2),
    "n_restarts 0": value("n_restarts", 0),
    "n_selected": value("n_selected", 6),
    "clusterer": value("clusterer", "learned"),
    "clusterer unknown": value("clusterer", "gmm"),
    "features twice": value("features", first(lambda one: -1)),
    "features outside": value("features", first(lambda one: 64)),
    "features short": value("features", lambda own: own[:-1]),
    "features none": value("features", None),
    "features another": value("features", lambda own: np.r_[own[:-1], np.setdiff1d(np.arange(64), own)[0]]),
}
LEARNED = {
    "labels acc": score("acc", first(lambda acc: acc + 1)),
    "labels nmi": score("nmi", first(lambda nmi: nmi + 1e-4)),
    "labels one": value("labels", np.zeros(300, dtype=np.int32)),
    "labels short": value("labels", lambda own: own[:-1]),
    "labels moved": value("labels", lambda own: np.roll(own, 1)),
    "labels none": value("labels", None),
}
OF_A_FIT = {
    "key": value("trial", "0123456789abcdef"),
    "data": value("data_sha", "ab" * 32),
    "samples": value("n_samples", 1796),
    "features": value("n_features", 65),
    "status": value("status", "good"),
    "failed": value("status", "failed"),
    "timeout": value("status", "timeout"),
    "error": value("error", "ValueError: no"),
    "params": value("params", lambda text: text.replace("{", '{"beta_": 1, ', 1)),
    "params no json": value("params", "{"),
    "params list": value("params", "[]"),
    "python": value("versions", lambda text: text.replace('"python": "', '"python": "2.')),
    "numpy": value("versions", lambda text: text.replace('"numpy": "', '"numpy": "0.')),
    "machine": value("versions", lambda text: text.replace('"machine": "', '"machine": "Plan 9 ')),
    "code_fit": value("code_fit", "ab" * 8),
    "code_evaluation": value("code_evaluation", "ab" * 8),
}


@pytest.mark.parametrize("name", [*KMEANS, *LEARNED, *OF_A_FIT])
def test_a_wrong_row_is_refused(name, study, verify, request):
    method = "ndfs" if name in LEARNED else "dgufs"
    frame = rows(method)
    wanted = "learned" if name in LEARNED else "kmeans"
    sets = frame.to_dict("records")
    place = next(place for place, row in enumerate(sets) if row["clusterer"] == wanted)
    of_fit = [row for row in sets if row["trial"] == sets[place]["trial"]]
    for row in of_fit if name in OF_A_FIT else [sets[place]]:
        ({**KMEANS, **LEARNED, **OF_A_FIT}[name])(row)
    write(pd.DataFrame(sets, columns=frame.columns), method)
    found = verify(None if request.config.getoption("--slow") else [method])
    assert found and {one.method for one in found} == {method}
    elsewhere = name in ("python", "numpy", "machine", "code_fit", "code_evaluation")
    assert {one.kind for one in found} == {ELSEWHERE if elsewhere else REFUSED}


def test_seeds_are_those_that_the_protocol_has_for_the_method(study, verify):
    frame = rows("ndfs")
    assert set(frame["nth_seed"]) == {0, 1} and set(rows("max_variance")["nth_seed"]) == {0}
    trial = stored_trial(frame.iloc[0].to_dict() | {"sizes": (5, 20)}, "methods.ndfs.NDFS")
    third = frame.assign(nth_seed=2, trial=replace(trial, seed=trial.protocol.seed + 2).key)
    write(third[third["is_default"] & (frame["trial"] == frame["trial"].iloc[0])], "ndfs", {TRUTH: 1})
    assert {one.words for one in verify()} == {"nth_seed=2 must be below 2, as the protocol says."}


@pytest.mark.parametrize("alpha", [0.123, -1.0, True, "x", [1], None])
def test_a_point_that_the_grid_does_not_have_is_refused(study, verify, alpha):
    """A point has its right key: whoever looked for the best one by the classes would hand in what he found."""
    frame = rows("ndfs")
    trials = frame["trial"].unique()
    parts = []
    for name in trials:
        own = frame[frame["trial"] == name]
        trial = stored_trial(own.iloc[0].to_dict() | {"sizes": (5, 20)}, "methods.ndfs.NDFS")
        if not trial.is_default:
            trial = replace(trial, params=trial.params | {"alpha": alpha})
        parts.append(own.assign(trial=trial.key, params=to_json(trial.params)))
    write(pd.concat(parts), "ndfs")
    found = verify()
    assert {one.kind for one in found} == {REFUSED}
    assert {f"alpha={alpha!r} is no value of conf/method/ndfs.yaml."} == {one.words for one in found}


def test_fits_that_are_left_out_are_missed_unless_the_file_says_so(study, verify):
    """A hand-in of some seeds or sizes could be of the best ones."""
    frame, dgufs = rows("ndfs"), rows("dgufs")
    for method, some in (
        ("ndfs", frame[frame["nth_seed"] == 0]),
        ("ndfs", frame[frame["trial"] != frame["trial"].iloc[0]]),
        ("dgufs", dgufs[dgufs["n_selected"] > 5]),
    ):
        lacking = {TRUTH: rows(method)["trial"].nunique() - some["trial"].nunique()}
        whole = rows(method)
        write(some, method)
        (found,) = verify([method])
        assert found.kind == REFUSED and found.words.endswith("and says that 0 are lacking.")
        write(some, method, lacking)
        assert verify([method]) == []
        write(whole, method)


def test_random_rankings_may_be_fewer_but_none_is_left_out(study):
    frame = rows("max_variance").assign(method="random_rankings", params=json.dumps({"draw": 3}))
    assert [words for *_, words in faults(frame, frame["protocol"].iloc[0]) if "it has 1 of the 4 fits" in words]


def test_defaults_of_other_code_are_not_refused_for_those_of_now(study):
    """398 rows of CAE, from before its defaults were changed, were refused though they were true."""
    frame = rows("dgufs")
    forged = frame.assign(is_default=~frame["is_default"])
    for code, kind in (None, REFUSED), ("ab" * 8, ELSEWHERE):
        some = forged if code is None else forged.assign(code_fit=code)
        found = list(faults(some, frame["protocol"].iloc[0]))
        assert {one[0] for one in found} == {kind} and all("is_default=" in one[3] for one in found)


def test_double_or_missing_rows_are_refused(study, verify):
    frame = rows("dgufs")
    kmeans = frame["clusterer"] == "kmeans"
    for wrong in (
        pd.concat([frame, frame.iloc[:1]]),
        frame[~kmeans],
        frame.assign(dataset="digit"),
        frame.assign(dataset="umist"),
        frame.assign(method="udfs"),
        frame.assign(is_default=True),
        frame.assign(is_default=False),
        frame.assign(trial=np.roll(frame["trial"], 2)),
    ):
        write(wrong, "dgufs")
        assert {one.kind for one in verify(["dgufs"])} == {REFUSED}


def test_a_ranking_must_begin_as_its_smaller_selections_do(study, verify):
    sets = rows("max_variance").to_dict("records")
    assert [row["n_selected"] for row in sets] == [5, 20]
    sets[1]["features"] = sets[1]["features"][::-1].copy()
    write(pd.DataFrame(sets), "max_variance")
    assert [one.words for one in verify()] == ["its 5 features are not the first of its ranking."]


def test_random_rankings_of_a_budget_are_its_sample_and_none_is_left_out():
    """A budget of 25 points takes 25 of a hundred draws, with numbers up to 96."""
    frame = reference.read("fair", ["random_rankings"], lists=True).query("dataset == 'fish'")
    trials, said = frame["trial"].unique(), {}
    for n in (25, 24):
        found = faults(frame[frame["trial"].isin(trials[:n])], frame["protocol"].iloc[0])
        said[n] = [words for *_, words in found if "fits that its points have" in words]
    assert said[25] == [] and "it has 24 of the 25 fits" in said[24][0]
