"""Every number in a hand-written sentence of the page of what reproduces is what the shipped results say."""

import numpy as np
import pandas as pd
import pytest
from copies import program_noise
from pages import WORDS, says_no_other_number

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare import controls_of
from ufs_bench.scripts.compare.evidence import (
    AS_BAD,
    HONEST,
    LEVEL,
    N_COPIES,
    NOT_REPRODUCED,
    REPRODUCED,
    in_interval,
)
from ufs_bench.scripts.compare.first import claims, own_first, winners
from ufs_bench.scripts.compare.headline import above_random, is_partial, line_table, weighed
from ufs_bench.scripts.compare.tables import readings, tables
from ufs_bench.scripts.core.text import filled, pipes, signed
from ufs_bench.scripts.findings.__main__ import REPRODUCTION

# Measured at ee2f1ea1, or of the files and grids that tests of other pages look at.
MEASURED = [
    "By the plan of this command, the rest takes one worker 12.0 hours: JGUFS 5.2 on USPS, 5.2 on MNIST and 1.6 on "
    "COIL20. The points of JELSR are its slowest: one did not end within ten minutes.",
    "JGUFS has 83 of 105 cells",
    "on ORL 15 to 39 minutes with large alpha",
    "84 published cells are not run: 28 on LUNG, for lack of the file, and 56 on",
    "it took 31 CPU seconds and 500 MB for HARS, 40 and 568 for Fabert, 93 and 953 for Dilbert. On one worker Gina's "
    "grids would take 0.7 hours, and 5 more for SF2SOG.",
    "What is shipped must stay below 40 MB; a fit with its 60 to 120 clusterings takes some 0.7 kB.",
    "at ee2f1ea1",
    "One of 261 printed accuracies is below it: UDFS on ALLAML in table 2 of the DGUFS paper, 0.41 with a least one of "
    "0.64.",
    "a standard deviation of 0.00. Of all 2 x 2 tables with the printed accuracy these give the printed NMI",
    "by the maximum only: 35 + 7 of 47 + 25 (73.6 and 15.1), and 36 + 9 (72.2 and 12.0).",
    "took the best accuracy of 50 to 300 features. On COIL20, JAFFE and ISOLET the JGUFS paper prints 21 cells above "
    "it.",
    "by mutual information (60.2, 73.7 and 62.3).",
]


@pytest.fixture(scope="module")
def controls(comparison):
    return controls_of(comparison[0])


@pytest.fixture(scope="module")
def printed(comparison, controls):
    return tables(comparison[1], controls)


def test_the_tables_are_what_the_command_writes(printed):
    parts = {name: pipes(lines) for name, lines in printed.items()}
    found = filled(REPRODUCTION, "scripts.compare", parts)
    assert REPRODUCTION.read_text(encoding="utf-8") == found, "run: python -m scripts.findings write=true"


@pytest.mark.usefixtures("without_power")
def test_the_sentences_say_what_the_results_do(comparison, controls):
    rows = comparison[1]
    first = own_first(rows)[["printed", "n_printed", "first", "columns", "variant", "chance"]].sum()
    ours, theirs = (winners(rows, programs)[0] for programs in ("ours", "released"))
    assert first["printed"] == first["n_printed"] and ours.index[0] == theirs.index[0] == "ndfs"
    found = claims(rows)
    assert (found["p"] > 0.05).all() and (found["won"] > found["cells"] / 2).all()

    lines = line_table(rows, controls)
    verdicts = lines["verdict"].value_counts()
    reproduced = lines.loc[lines["verdict"] == REPRODUCED, "paper"]
    assert set(reproduced) == {"jgufs"} and lines.set_index("paper")["own_cells"]["dgufs"].max() == 0
    partial = weighed(rows)["jgufs"]
    partial = partial[is_partial(partial)].groupby(["method", "dataset"])[["points", "grid"]].first()
    points = {method: own["points"].tolist() for method, own in partial.groupby("method")}
    assert points.keys() == {"jelsr", "jgufs"} and partial.loc[("jgufs", "mnist"), "points"] == min(points["jgufs"])
    least, most, grid = min(points["jgufs"]), max(points["jgufs"]), partial.loc["jgufs", "grid"].max()

    programs = readings(rows)
    changed = pd.DataFrame(programs.values())[["nearer", "differ"]].sum()
    nearer = [one["before"]["distance"].value - one["after"]["distance"].value for one in programs.values()]
    surely = [paper for paper, one in programs.items()
              if one["gain"][1] > 0 and "(" in in_interval(one["datasets"], *one["gain"], 2)]  # fmt: skip
    assert len(programs) == 5 and min(nearer) > 0 and surely == ["rufs"]
    counts = above_random(rows, controls)[["above", "cells"]].sum()
    again = of_kmeans(rows[rows["mean"].notna()])
    assert again["n_groups"].notna().all() and again["n_restarts"].nunique() == 1
    noise = program_noise(rows)
    says_no_other_number(
        "docs/reproduction.md",
        f"each of their {first['n_printed']:.0f} columns. In our tables it is first in at least {first['first']:.0f} "
        f"of {first['columns']:.0f} columns: on {WORDS[len(points['jgufs'])]} data sets most of JGUFS's grid was "
        "not run.",
        f"it is first in {first['variant']:.0f}. A method drawn at random would be first in {first['chance']:.1f}.",
        f"NDFS of 2012, one of the baselines, is first in {ours['ndfs']}. It is first in {theirs['ndfs']} if the",
        f"JGUFS, by {WORDS[len(reproduced)]} of five tests. Of the other four, no test shows that they reproduce, and "
        f"{WORDS[verdicts[NOT_REPRODUCED]]} tests show that they do not.",
        f"One step beats two in all {WORDS[found.loc[1, 'won']]} cells",
        "for none of the five is p below .05.",
        f"better than in {100 * (1 - LEVEL):.0f} % of all assignments",
        f"at most {100 * AS_BAD:.0f} % of honest copies of the paper",
        f"By chance about {LEVEL * len(lines):.2f} of the {len(lines)} verdicts",
        f"{len(weighed(rows)['jgufs'][is_partial(weighed(rows)['jgufs'])])} cells lack a part of their grid: jelsr "
        f"{max(points['jelsr'])} of {partial.loc['jelsr', 'grid'].max()} points, jgufs {most} of {grid} points, and "
        f"{least} on MNIST.",
        "at most 6 % and 1 % of honest copies pass one.",  # below, as power takes long
        "is 1 if ours are the published values, and 0 if",
        "Both have 95 % intervals over data sets",
        f"{counts['above']} of {counts['cells']}, or {100 * counts['above'] / counts['cells']:.0f} %.",
        f"All {len(again)} of our numbers by K-means are means over {again['n_restarts'].iloc[0]} starts",
        f"by {signed((again['mean'] - again['table_mean']).mean(), 2)} points on average.",
        "59 % end where the objective stands still, 35 % collapse, and 5 % reach",  # see tests/project/test_docs.py
        f"the share of {N_COPIES:,} honest copies with p of {LEVEL:.2f}".replace("0.", ".") + " or less",
        f"with noise of {HONEST} points. Our solvers and the authors' programs differ by {noise.points:.1f} points",
        f"(root mean square over {noise.pairs} cells, standard error {noise.error:.1f}).",
        f"by {min(nearer):.1f} to {max(nearer):.1f} points. But they are nearer in only {changed['nearer']} of the "
        f"{changed['differ']} cells whose scores differ.",
        "than the level of .01 allows",
        *MEASURED,
    )


def test_few_honest_copies_pass_where_the_page_says_so(printed):
    rows = printed["lines"][1:]
    power = {paper: max(float(row[5]) for row in rows if row[0] == paper) for paper in ("UFSOL", "K-means UFS")}
    assert {paper: f"{100 * own:.0f}" for paper, own in power.items()} == {"UFSOL": "6", "K-means UFS": "1"}
    assert all(np.isfinite(float(row[5])) for row in rows)
