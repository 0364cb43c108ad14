"""docs/claims.md agrees with the stored numbers, and every rule behind it can be true or false."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

from datasets import DataMissing, dataset_names
from scripts.claims import CLAIMS, __main__, complexity, dgufs
from scripts.claims.core import store
from scripts.claims.core.claim import FAILS, HOLDS, OPEN, PART, Claim, Untested, is_judged, verdict
from scripts.claims.core.claims_page import page, verdicts
from scripts.claims.core.numbers import is_insensitive, rises, settled
from scripts.core.conf import ROOT
from scripts.core.published import PAPERS

MEASURED = [claim for claim in CLAIMS if isinstance(claim, Claim)]
WORDS = {"synthetic", "published"}  # words for data that need no file


def test_the_page_is_what_the_stored_numbers_say():
    stored = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    assert stored == page(CLAIMS, store.load()), "run: python -m scripts.claims --page"


def test_every_paper_has_claims_and_the_stored_numbers_belong_to_them():
    assert {claim.paper for claim in CLAIMS} == set(PAPERS)
    names = [claim.name for claim in CLAIMS]
    assert len(set(names)) == len(names)
    stored = store.load()
    assert set(stored["claim"]) <= {claim.name for claim in MEASURED}
    for claim in MEASURED:
        assert set(claim.datasets) <= {*dataset_names(), *WORDS}, claim.name
        assert set(stored.loc[stored["claim"] == claim.name, "dataset"]) <= set(claim.datasets), claim.name


def test_every_command_on_the_page_names_a_claim():
    commands = re.findall(r"`python -m scripts\.claims ([a-z_0-9]+)`", (ROOT / "docs/claims.md").read_text())
    assert set(commands) == {claim.name for claim in MEASURED}


@pytest.mark.parametrize("claim", MEASURED, ids=lambda claim: claim.name)
def test_no_rule_is_true_or_false_whatever_is_measured(claim):
    rng = np.random.default_rng(0)
    found = [row.numbers for row in store.rows(store.load(), claim.name) if is_judged(row.variant)]
    if not found:
        pytest.skip(f"python -m scripts.claims {claim.name} has not been run")
    outcomes = set()
    for _ in range(3000):
        if {True, False} <= outcomes:
            break
        numbers = found[rng.integers(len(found))]
        factors = 10.0 ** rng.choice([-1, 0, 0, 1], len(numbers)) * rng.choice([0, 1, 1, -1], len(numbers))
        changed = {name: value * factor for (name, value), factor in zip(numbers.items(), factors, strict=True)}
        if "collapsed" in changed:
            changed["collapsed"] = 0
        outcomes.add(claim.holds(changed))
    assert {True, False} <= outcomes


def test_a_verdict_needs_all_rows_and_rows_that_say_nothing_do_not_count():
    assert verdict([True, True]) == HOLDS == verdict([True, None])
    assert verdict([True, False]) == PART
    assert verdict([False, None]) == FAILS
    assert verdict([None]) == OPEN == verdict([])


def test_a_variant_measured_at_several_settings_has_a_row_for_each():
    measured = [("large", {"value": 1e3, "q": 4.7}), ("large", {"value": 1e6, "q": -24.0}), ("small", {"value": 1})]
    stored = store.replaced(pd.DataFrame(columns=store.COLUMNS), "a", "x", measured, "new", [("a", "x")])
    assert store.rows(stored, "a") == [(variant, "x", numbers) for variant, numbers in measured]
    claim = Claim("a", "rufs", "s", "It harms.", "c", "r", ("x",), None, lambda n: n.get("q", -1) < 0)
    assert verdicts(claim, stored) == {"large": (PART, [False, True]), "small": (HOLDS, [True])}
    text = page([claim], stored)
    assert "| 4.7 " in text and "| -24 " in text


def test_no_stored_number_is_missing_on_the_page():
    text, stored = (ROOT / "docs/claims.md").read_text(encoding="utf-8"), store.load()
    for claim in MEASURED:
        section = text.split(f"\n### {claim.name}\n")[1].split("\n### ")[0]
        shown = sum(len(row.numbers) for row in store.rows(stored, claim.name))
        table = [line for line in section.splitlines() if line.startswith("|")][2:]
        assert shown == (stored["claim"] == claim.name).sum() and len(table) == len(store.rows(stored, claim.name)), (
            claim.name
        )


def test_noise_and_collapse_say_nothing():
    numbers = {"distinct sets": 3, "worst ACC": 50.0, "its std": 4.0, "random ACC": 51.0}  # error .9
    assert is_insensitive(numbers) is None and is_insensitive({**numbers, "distinct sets": 1}) is None
    assert is_insensitive({**numbers, "worst ACC": 53.0}) is True
    assert is_insensitive({**numbers, "worst ACC": 49.0}) is False
    tie = {"ACC": 65.3, "ACC, binary": 65.3, "ACC, no penalty": 65.3}
    assert dgufs.l0_is_better({**tie, "most clusters": 1}) is None
    assert dgufs.l0_is_better({**tie, "most clusters": 2}) is False
    assert dgufs.l0_is_better({**tie, "ACC": 66.0, "most clusters": 2}) is True
    sweeps = {"sweep": 9, "sweep, binary": 10, "sweep, no penalty": 11, "most clusters": 20}
    assert dgufs.l0_is_better(sweeps) is True and dgufs.l0_is_better({**sweeps, "sweep": 10}) is False


def test_measuring_again_exchanges_the_numbers_of_that_claim_on_those_data_alone():
    order = [("a", "x"), ("a", "y"), ("b", "x")]
    stored = pd.DataFrame(columns=store.COLUMNS)
    for name, dataset, value in (("b", "x", 3), ("a", "y", 2), ("a", "x", 1)):
        stored = store.replaced(stored, name, dataset, [("v", {"q": value})], "old", order)
    assert stored["value"].tolist() == [1, 2, 3]
    again = store.replaced(stored, "a", "y", [("v", {"q": 5}), ("w", {"q": 6})], "new", order)
    assert again["value"].tolist() == [1, 5, 6, 3]
    assert again["commit"].tolist() == ["old", "new", "new", "old"]
    assert store.rows(again, "a") == [("v", "x", {"q": 1}), ("v", "y", {"q": 5}), ("w", "y", {"q": 6})]
    gone = store.replaced(again, "a", "x", [], "new", [("a", "x"), ("a", "y")])
    assert set(gone["claim"]) == {"a"}, "a claim that is no longer made leaves nothing"


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Prepare the command with files of its own, and a claim on two data sets, one of which is not available."""

    def missing(name, folder):
        if name == "umist":
            raise DataMissing("umist is not on this machine:\nand so on")
        return name

    def measure(data):
        yield "paper", {"q": 1.0}
        yield "control: other", {"q": 0.0}

    claims = [
        Claim("one", "rufs", "s", "It is.", "c", "r", ("digits", "umist"), measure, lambda n: n["q"] > 0),
        Untested("two", "ufsol", "s", "It is.", "Nobody knows."),
    ]
    monkeypatch.setattr(store, "PATH", tmp_path / "claims.csv")
    monkeypatch.setattr(__main__, "PAGE", tmp_path / "claims.md")
    monkeypatch.setattr(__main__, "CLAIMS", claims)
    monkeypatch.setattr(__main__, "loaded", missing)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["claims", *arguments])
        __main__.main()

    return run, tmp_path


def test_what_lacks_its_data_is_left_out_and_said(elsewhere, capsys):
    run, folder = elsewhere
    with pytest.raises(SystemExit, match="left out, for want of data:\n  one on umist: umist is not on this machine:$"):
        run()
    assert "one: paper: holds" in capsys.readouterr().out
    written = (folder / "claims.md").read_text()
    assert "not measured on umist" in written
    assert "cannot be tested here**: Nobody knows." in written
    assert "2 claims, 2 verdicts, one a variant: 1 holds, 0 holds in part, 0 does not hold, 1 cannot" in written


def test_a_claim_that_is_named_is_printed_and_stored_only_if_that_is_asked_for(elsewhere, capsys):
    run, folder = elsewhere
    for words, written in ((["one"], []), (["one", "--write"], ["claims.csv", "claims.csv.lock", "claims.md"])):
        with pytest.raises(SystemExit, match="left out"):
            run(*words)
        said = capsys.readouterr().out
        assert "one: paper: holds" in said and ("| paper          | digits | 1 | yes" in said) == (not written)
        assert {path.name for path in folder.iterdir()} <= set(written)
        assert bool(written) == (folder / "claims.md").exists()


def test_a_claim_that_does_not_exist_is_refused_before_any_work(elsewhere):
    run, folder = elsewhere
    with pytest.raises(SystemExit, match="no such claim: three; there are: one, two"):
        run("three")
    assert not list(folder.iterdir())


def test_a_trace_settles_after_the_last_value_that_is_far_from_its_end():
    assert settled(np.array([5.0, 1.0, 2.0, 1.0005, 1.0])) == 3
    assert settled(np.array([1.0, 1.0])) == 0
    assert rises(np.array([3.0, 1.0, 2.0, 2.0 + 1e-12, 0.0])) == 1


def test_the_seconds_of_a_sweep_are_those_of_its_work():
    class Problem:
        def sweep(self, n):
            A = np.ones((n, n))
            return float(np.linalg.norm(A @ A)) and n

    def make(X):
        for _ in range(5):
            Problem().sweep(len(X))

    small, large = (complexity.sweep_seconds(Problem, make, np.zeros((n, 1))) for n in (100, 800))
    assert large > 20 * small  # 512 times the work


def test_a_slope_is_within_a_bound_where_it_is_nearer_to_it_than_to_the_next_and_every_stored_control_is():
    assert complexity.is_within({"measured": 2.4, "claimed": 2.0}) and complexity.is_within(
        {"measured": 0, "claimed": 2}
    )
    assert not complexity.is_within({"measured": 2.6, "claimed": 2.0})
    rows = [row for claim in complexity.CLAIMS for row in store.rows(store.load(), claim.name)]
    controls = [row.numbers for row in rows if not is_judged(row.variant)]
    assert len(controls) == 2 * len(complexity.CLAIMS)
    assert all(map(complexity.is_within, controls))
    # The rule could fail: no sweep grows as slowly as with an exponent that is smaller by one.
    slower = [numbers for numbers in controls if numbers["claimed"] == 2]
    assert not any(complexity.is_within({**numbers, "claimed": 1}) for numbers in slower)
