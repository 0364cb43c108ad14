"""Fits that are drawn from a hand-in and run again: every fit as often, and a forged one is found."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from forged import rows, with_scores, write
from small_data import TRUTH

from datasets import load_dataset
from metrics.evaluate import evaluate
from metrics.measures import OF_SET, of_set
from metrics.protocol import Protocol
from runners.store import reference
from runners.store.row import stored_nmi
from runners.workers.tasks import Data
from scripts import reproduce
from scripts.verify import REFUSED, UNVERIFIED, fits
from scripts.verify.fits import run


def test_every_fit_is_drawn_as_often_whatever_its_seconds_and_versions_say():
    many = pd.DataFrame({"study": "s", "dataset": np.repeat(list("abc"), [5, 20, 75]), "method": "m"})
    many["trial"] = [hashlib.sha256(str(place).encode()).hexdigest() for place in range(100)]
    drawn = [fits.draw(many, 10, f"commit word{number}") for number in range(400)]
    assert all(len(one) == 10 and not one["trial"].duplicated().any() for one in drawn)
    counts = pd.concat(drawn)["trial"].value_counts().reindex(many["trial"], fill_value=0)
    assert counts.min() > 15 and counts.max() < 75  # 40 each, with a standard deviation of 6
    assert all((one["dataset"] == "c").sum() in (7, 8) for one in drawn)
    other = many.assign(fit_s=np.arange(100.0), versions="x", status="timeout")
    assert list(fits.draw(other, 10, "word")["trial"]) == list(fits.draw(many, 10, "word")["trial"])
    assert list(fits.draw(many, 10, "word")["trial"]) != list(fits.draw(many, 10, "other")["trial"])


def test_the_printed_chance_is_that_of_a_simulated_draw():
    rng = np.random.default_rng(0)
    hits = [(rng.permutation(60)[:12] < 3).any() for _ in range(4000)]
    assert fits.chance(60, 12, 0.05) == pytest.approx(np.mean(hits), abs=0.03)
    assert fits.chance(60, 60, 0.01) == 1 and fits.chance(1000, 0, 0.2) == 0


def forged_ranking(study):
    """Give a fit of max_variance another ranking, with the scores that belong to it."""
    frame = rows("max_variance")
    sets = frame.to_dict("records")
    protocol, data = Protocol.from_json(sets[0]["protocol"]), load_dataset(TRUTH)
    scaled = Data.scaled(data, protocol, "max_variance")
    ranking = np.arange(20, 40, dtype=np.int32)
    for row in sets:
        row["features"] = ranking[: row["n_selected"]]
        values, _ = evaluate(row["features"], scaled.X, data.y, protocol)
        with_scores(row, "acc", np.rint(values[0] * len(data.y)).astype(np.int32))
        with_scores(row, "nmi", stored_nmi(values[1]))
        row |= dict(zip(OF_SET, of_set(values), strict=True))
    write(pd.DataFrame(sets, columns=frame.columns), "max_variance")


def test_a_ranking_that_is_forged_with_its_scores_is_found_by_the_draw_of_fits_alone(study, verify):
    forged_ranking(study)
    assert verify() == []
    lines = []
    found = run(reference.read("mine", lists=True), "commit word", 100, None, None, 1, lines.append)
    assert [(one.kind, one.method) for one in found] == [(REFUSED, "max_variance")] and "features" in found[0].words
    assert any("1% are forged: 100.0% that" in line for line in lines)


def test_raised_seconds_hide_no_fit_from_the_draw(study, verify):
    forged_ranking(study)
    write(rows("max_variance").assign(fit_s=5000.0), "max_variance")
    assert verify(["max_variance"]) == []
    found = run(reference.read("mine", ["max_variance"], lists=True), "commit word", 100, None, None, 1, str)
    assert [one.method for one in found] == ["max_variance"]
    write(rows("mcfs").assign(fit_s=5000.0), "mcfs")
    found = run(reference.read("mine", ["mcfs"], lists=True), "commit word", 100, None, None, 1, lambda line: None)
    assert [one.kind for one in found] == [REFUSED] and "5000 CPU s" in found[0].words


def test_a_fit_that_is_forged_to_have_ended_at_a_cap_is_found_by_the_draw(study, verify, monkeypatch):
    for seconds, kinds in (3600.0, [REFUSED]), (10.0, [UNVERIFIED]):
        lists = dict.fromkeys(["acc", "nmi", "features", "labels", "trace"])
        none = dict.fromkeys([*OF_SET, "acc_mean", "acc_std", "nmi_mean", "nmi_std", "objective"], np.nan)
        ended = {"status": "timeout", "error": "beyond runner.max_seconds", "fit_s": seconds, "n_restarts": 0}
        write(rows("max_variance").assign(**lists, **none, **ended, feature_set=0), "max_variance")
        assert verify(["max_variance"]) == []
        frame = reference.read("mine", ["max_variance"], lists=True)
        found = run(frame, "commit word", 100, None, None, 1, lambda line: None)
        assert [one.kind for one in found] == kinds and f"{seconds:.4g} CPU s" in found[0].words
    monkeypatch.setattr(fits, "SECONDS", 0)
    monkeypatch.setattr(reproduce, "TIMES", 1e9)  # as if the fit took nearly as long here
    assert run(frame, "commit word", 100, None, None, 1, lambda line: None) == []


def test_true_fits_that_are_drawn_are_accepted(study):
    lines = []
    assert run(reference.read("mine", lists=True), "commit word", 3, None, None, 1, lines.append) == []
    assert "3 of 3 gave what is stored" in lines[-1]
