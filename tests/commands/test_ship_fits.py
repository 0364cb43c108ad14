"""Fits that are drawn from a hand-in and run again: one that is not what is stored is found."""

import numpy as np
import pandas as pd
from forged import rows, with_scores, write
from small_data import TRUTH

from ufs_bench.datasets import load_dataset
from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.measures import OF_SET, of_set
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.row import stored_nmi
from ufs_bench.runners.workers.data import Data
from ufs_bench.scripts.ship import REFUSED
from ufs_bench.scripts.ship.check import run_again


def other_ranking(study):
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


def test_another_ranking_with_its_own_scores_is_found_by_the_draw_of_fits_alone(study, verify):
    other_ranking(study)
    assert verify() == []
    lines = []
    found = run_again(reference.read("mine", lists=True), 0, 100, None, None, 1, lines.append)
    assert [(one.kind, one.method) for one in found] == [(REFUSED, "max_variance")] and "features" in found[0].words


def test_true_fits_that_are_drawn_are_accepted(study):
    lines = []
    assert run_again(reference.read("mine", lists=True), 0, 3, None, None, 1, lines.append) == []
    assert "3 of 3 gave what is stored" in lines[-1]


def test_fits_that_a_cap_ended_are_not_drawn(study):
    rows_now, lines = reference.read("mine", lists=True), []
    assert run_again(rows_now.assign(status="timeout"), 0, 3, None, None, 1, lines.append) == []
    assert lines[0].startswith("0 of 0 fits")
