"""Digests of fits, which two clones or two machines compare."""

import pandas as pd
import pytest

from ufs_bench.scripts.reproduce import digests

ROW = ["s", "d", "m", "t", "1", "2", "3", "4", "5", "exp 1"]


def test_a_comparison_names_the_fit_and_the_part_that_differs(tmp_path):
    digests.write(tmp_path / "a.csv", [ROW])
    lines = []
    assert digests.against([ROW], tmp_path / "a.csv", lines.append) == 0
    assert lines == ["  1 of 1 fits that are in both have the same digests"]
    other = [*ROW[:4], "1", "0", "3", "4", "0", "exp 2"]
    assert digests.against([other], tmp_path / "a.csv", lines.append) == 1
    assert lines[1:] == [
        "  OTHER: s d m t: scores, evaluation",
        "  0 of 1 fits that are in both have the same digests",
        "  the arithmetic of the two machines is not the same: their fingerprints differ",
    ]


def test_a_file_without_common_fits_is_refused(tmp_path):
    digests.write(tmp_path / "a.csv", [["another", *ROW[1:]]])
    with pytest.raises(ValueError, match="none of these fits"):
        digests.against([ROW], tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="has no digests"):
        digests.against([ROW], tmp_path / "b.csv")


def test_each_round_has_a_trial_of_every_method_the_short_first():
    frame = pd.DataFrame(
        [(study, "d", method, f"{method}{i}", "converged", seconds + i, 0.0)
         for study, method, seconds in (("a", "slow", 9.0), ("a", "fast", 1.0), ("b", "slow", 5.0)) for i in range(3)],
        columns=["study", "dataset", "method", "trial", "status", "fit_s", "eval_s"],
    )  # fmt: skip
    frame.loc[0, "status"] = "failed"
    drawn = digests.rounds(frame)
    assert len(drawn) == 8 and frame["trial"][0] not in drawn[drawn["study"] == "a"]["trial"].tolist()
    for _, part in drawn.groupby("round"):
        assert not part.duplicated(["study", "method"]).any() and part["seconds"].is_monotonic_increasing
    assert drawn["trial"].tolist() == digests.rounds(frame)["trial"].tolist()
