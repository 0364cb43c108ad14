"""Stored fits that are run again: the same bytes here, and bounds elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from small_data import TRUTH

from ufs_bench.metrics import evaluate
from ufs_bench.metrics.measures import OF_SET
from ufs_bench.runners.store.tidy import LISTS, rise_of
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.refit.again import differing, draw, run_again
from ufs_bench.scripts.ship import pack


@pytest.fixture(scope="module")
def results(tmp_path_factory, run_cells):
    """Return a folder with a study of one data set and three methods, one of which learns labels."""
    folder = tmp_path_factory.mktemp("results")
    methods = "method=mcfs,max_variance,dgufs"
    words = [methods, f"dataset={TRUTH}", "protocol=smoke", "study=mine", "runner.points=default"]
    run_cells(*words, f"results_dir={folder}", "runner.n_jobs=1")
    return folder


@pytest.fixture
def study(results):
    return Study.open(results, "mine")


def again(study, *methods):
    drawn = draw(study.trials, 100)
    drawn = drawn[drawn["method"].isin(methods)] if methods else drawn
    return list(run_again(study, drawn, say=lambda line: None))


def wrong_of(found):
    return [one.row["method"] for one in found if one.is_wrong]


def changed(study, column, value):
    """Return the study with a value in the rows of max_variance."""
    whole = study.whole.copy()
    rows = whole["method"] == "max_variance"
    whole.loc[rows, column] = whole.loc[rows, column].map(value) if callable(value) else value
    return replace(study, frame=whole.drop(columns=list(LISTS)), read=lambda: whole)


def test_every_fit_of_this_code_and_machine_has_the_same_bytes(study):
    found = again(study)
    assert len(found) == len(study.trials) >= 3
    assert all(one.is_same and not one.elsewhere for one in found) and wrong_of(found) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("nmi", lambda nmi: nmi + 1e-7),
        ("acc", lambda acc: acc + np.arange(len(acc))),
        *((name, lambda value: value + 1e-7) for name in OF_SET),
        ("n_scored", lambda value: value - 1),
        ("indicator_change", 0.5),
        ("n_iter", 1),
        ("rise", 1e-9),
        ("objective", 1.0),
        ("status", "max_iter"),
        ("features", lambda features: features[::-1]),
    ],
)
def test_a_stored_number_that_differs_in_its_last_digit_is_found(study, column, value):
    assert wrong_of(again(changed(study, column, value), "max_variance")) == ["max_variance"]


@pytest.mark.parametrize("column", ["labels", "trace"])
def test_learned_labels_and_every_value_of_a_trace_are_compared(study, column):
    whole = study.whole.copy()
    place = np.flatnonzero((whole["method"] == "dgufs") & whole[column].notna())[0]
    values = whole[column].iloc[place].copy()
    one = np.argmax(np.abs(values))
    values[one] += 1 if column == "labels" else 1e-6 * max(values[one], 1)
    whole[column] = [values if row == place else own for row, own in enumerate(whole[column])]
    found = again(replace(study, frame=whole.drop(columns=list(LISTS)), read=lambda: whole), "dgufs")
    (wrong,) = (one for one in found if one.is_wrong)
    assert column in wrong.differs


def test_a_fit_that_was_shipped_without_its_trace_has_the_same_bytes(results, shipping, study):
    pack.ship(results, "mine", traces=False)
    shipped = Study.open(results, "reference/mine")
    assert len(study.traces) and not len(shipped.traces)
    assert all(one.is_same for one in again(shipped, "dgufs"))
    whole = shipped.whole.assign(rise=shipped.whole["rise"] + 1e-9)
    other = again(replace(shipped, frame=whole.drop(columns=list(LISTS)), read=lambda: whole), "dgufs")
    assert {one.differs for one in other} == {("rise",)}, "the largest rise is shipped all the same"


@pytest.mark.parametrize(("exact", "differs"), [(False, []), (True, ["rise"])])
def test_the_rise_of_a_fit_that_was_taken_from_a_shipped_study_is_of_its_rounded_trace(study, exact, differs):
    stored = study.whole[study.whole["method"] == "dgufs"].reset_index(drop=True)
    trace = np.array([-487.2912597, -487.2045593, -489.5112610]).astype(np.float32).astype(float)
    now = stored.assign(trace=[trace, *[None] * (len(stored) - 1)], rise=1.779e-4)
    taken = now.assign(rise=rise_of(trace) + 1e-12 * exact)
    assert differing(taken, now) == differs


def test_code_that_halves_a_measure_is_found(study, monkeypatch):
    whole = evaluate.reconstruction
    monkeypatch.setattr(evaluate, "reconstruction", lambda *arrays: whole(*arrays) / 2)
    found = again(study)
    assert len(wrong_of(found)) == len(found) and {one.differs for one in found} == {("reconstruction",)}


def test_with_other_packages_only_what_is_beyond_the_bounds_fails(study):
    other = changed(study, "nmi", lambda nmi: nmi + 1e-7)
    other = changed(other, "versions", lambda text: text.replace('"python": "', '"python": "2.'))
    found = again(other)
    (one,) = (one for one in found if one.row["method"] == "max_variance")
    assert wrong_of(found) == [] and one.within and not one.is_same
    far = changed(other, "features", lambda features: np.arange(len(features)))
    assert wrong_of(again(far)) == ["max_variance"]


def test_the_draw_is_the_same_for_a_seed_and_holds_short_fits_alone_where_asked(study):
    trials = study.trials
    assert list(draw(trials, 2)["trial"]) == list(draw(trials, 2)["trial"]) and len(draw(trials, 2)) == 2
    longest = trials["fit_s"].median()
    assert (draw(trials, 100, longest=longest)["fit_s"] <= longest).all()


def test_bytes_of_another_arithmetic_are_not_compared(study):
    other = changed(study, "versions", '{"python": "2"}')
    found = again(other, "max_variance")
    (one,) = found
    assert not one.is_comparable and one.within and not one.is_wrong and "no fingerprint" in one.elsewhere
    far = changed(other, "objective", 1.0)
    (one,) = again(far, "max_variance")
    assert not one.is_comparable and not one.within and one.is_wrong


def test_the_command_ends_with_1_and_says_so_in_its_last_line_where_a_fit_is_out_of_bounds(
    results, study, command, monkeypatch
):
    """A fit of another arithmetic, or of other packages, was counted as out of bounds, and the exit status was 0."""
    words = ["study=mine", "methods=[max_variance]", f"results_dir={results}"]
    done = command("refit", *words)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "1 fit run again: none is out of bounds."
    other = changed(changed(study, "versions", '{"python": "2"}'), "objective", 1.0)
    monkeypatch.setattr(Study, "open", classmethod(lambda cls, *given: other))
    done = command("refit", *words)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: 1 of 1 fit run again is out of bounds")
