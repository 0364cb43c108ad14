"""The command that scores chosen points again over more starts, and the judgement by it."""

import shutil
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from frames import PROTOCOL as PAPER
from frames import study_of

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.metrics.evaluate import evaluate
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.experiment.notes import note_run
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.fits import FILE, Store
from ufs_bench.runners.store.row import stored_nmi
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.scripts.compare import (
    compare_studies,
    controls_of,
)
from ufs_bench.scripts.compare.columns import SAMPLED, own_error, published_error
from ufs_bench.scripts.compare.headline import studies_of
from ufs_bench.scripts.core import conf
from ufs_bench.scripts.core.refits import COLUMNS, RESTARTS, read
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.refit.__main__ import main
from ufs_bench.scripts.refit.restarts import MOST, best_in_groups, candidates, score, score_again
from ufs_bench.scripts.ship import pack

PROTOCOL = Protocol(name="demo", sizes=(10, 20), scaling="minmax", restarts=4, seed=0, nmi="max", max_iter=10)
DRAWN = {"draw": list(range(6))}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Run six random rankings as the grid of a method, and all features, on mnist500."""
    folder, data = tmp_path_factory.mktemp("results"), load_dataset("mnist500")
    for name in ("random_rankings", "all_features"):
        content = conf.find("method", name) | ({"grid": DRAWN} if name == "random_rankings" else {})
        trials = expand("s", data, content, PROTOCOL)
        with Store(folder / "s/mnist500" / name) as cell:
            cell.append([run_trial(trial, scale(data.X, "minmax"), data.y).trial for trial in trials])
        note_run(cell.folder, [trial.key for trial in trials], 0)
    return folder


@pytest.fixture
def results(stored, tmp_path):
    """Return a copy of what is stored, for one test."""
    return shutil.copytree(stored, tmp_path, dirs_exist_ok=True)


def run(results, monkeypatch, *more):
    words = {"study": "s", "results_dir": results, "n_jobs": 1, "restarts": 12} | dict(one.split("=") for one in more)
    words = ["refit", "what=restarts", *(f"{name}={value}" for name, value in words.items())]
    monkeypatch.setattr(sys, "argv", words)
    main()


@pytest.mark.parametrize("clusters, number", [("classes", 10), ("half", 5)])
def test_the_first_starts_are_those_of_the_table(clusters, number):
    data, protocol = load_dataset("mnist500"), replace(PROTOCOL, clusters=clusters)
    X, features = scale(data.X, "minmax"), np.arange(300, 340)
    acc, nmi = evaluate(features, X, data.y, protocol, number)[0][:2]
    assert np.array_equal(score(features, X, data.y, protocol, 9)[:, :4], [acc, stored_nmi(nmi)])


def test_a_single_candidate_has_the_mean_of_its_starts_and_an_error_as_they_scatter():
    scores = np.random.default_rng(0).normal(0.5, 0.1, size=(1, 20_000))
    mean, std, group_std = best_in_groups(scores, 20)
    assert mean == pytest.approx(scores.mean()) and std == pytest.approx(0.1, rel=0.02)
    assert group_std == pytest.approx(0.1 / np.sqrt(20), rel=0.1)


def test_the_best_of_a_grid_is_judged_as_high_as_other_starts_would_have_it():
    """The mean of the point that one group chose falls under other starts; the best of each group does not."""
    rng, first, fresh, judged = np.random.default_rng(0), [], [], []
    for _ in range(300):
        scores = rng.normal(0.5, 0.1, size=(8, 200))  # eight points of the same quality
        chosen = scores[:, :20].mean(axis=1).argmax()
        first.append(scores[chosen, :20].mean())
        fresh.append(scores[chosen, 20:].mean())
        judged.append(best_in_groups(scores, 20)[0])
    error = 0.1 / np.sqrt(20) / np.sqrt(300)
    assert np.mean(judged) == pytest.approx(np.mean(first), abs=3 * error)
    assert np.mean(fresh) < np.mean(first) - 10 * error


def test_candidates_are_the_sets_that_could_be_the_best_each_once():
    rng = np.random.default_rng(0)
    means = np.r_[0.60, 0.599, 0.60, 0.50, 0.58 + 0.001 * rng.random(30)]
    points = pd.DataFrame({
        "acc_mean": means, "acc_std": 0.05, "n_restarts": 20, "n_selected": 50, "feature_set": np.arange(34),
        "params": [f"{place:02d}" for place in range(34)],
    })  # fmt: skip
    points.loc[2, "feature_set"] = 0
    found = candidates(points, "acc")
    assert len(found) == MOST and list(found.index[:2]) == [0, 1] and not {2, 3} & set(found.index)
    assert list(candidates(points.assign(acc_std=0.0), "acc").index) == [0]


def test_the_command_stores_what_the_starts_give_and_does_nothing_twice(results, monkeypatch, caplog):
    run(results, monkeypatch)
    path = results / "s/_restarts.parquet"
    before, rows = path.stat().st_mtime_ns, read(path.parent, RESTARTS).query("method == 'random_rankings'")
    assert list(rows.columns) == COLUMNS[RESTARTS] and rows["metric"].tolist() == ["acc", "nmi"]
    study = Study.open(results, "s")
    assert len(study.restarts) == 4
    data, one = load_dataset("mnist500"), rows.iloc[0]
    points = study.summary[study.summary["method"] == "random_rankings"]
    wanted = candidates(points, "acc")
    assert (one["trial"], one["n_selected"]) == tuple(wanted.iloc[0][["trial", "n_selected"]])
    assert (one["n_starts"], one["n_groups"], one["n_candidates"]) == (12, 3, len(wanted)) and len(wanted) > 1
    sets = study.whole.set_index(["trial", "n_selected"])["features"]
    X = scale(data.X, "minmax")
    scores = [score(sets[row.trial, row.n_selected], X, data.y, PROTOCOL, 12)[0] for row in wanted.itertuples()]
    groups = np.array(scores).reshape(len(wanted), 3, 4).mean(axis=2).max(axis=0)
    assert one["mean"] == pytest.approx(groups.mean()) and one["group_std"] == pytest.approx(groups.std(ddof=1))
    run(results, monkeypatch)
    assert path.stat().st_mtime_ns == before
    run(results, monkeypatch, "restarts=16")
    assert read(path.parent, RESTARTS)["n_starts"].tolist() == [16] * 4


def test_scores_that_do_not_come_out_again_are_refused(results):
    with Store(results / "s/mnist500/all_features") as cell:
        (fit,) = cell.fits()
        sets = [one | {"acc": [round(acc + 0.1, 6) for acc in one["acc"]]} for one in fit["sets"]]
        cell.append([fit | {"sets": sets}])
    (problem,) = score_again(Study.open(results, "s"), n_starts=8)
    assert "all_features on mnist500: ACC with 784 features is stored as" in problem and "run the cell again" in problem


def test_too_few_starts_for_two_groups_are_refused(results):
    with pytest.raises(ValueError, match="restarts=7 must be 8 or more"):
        score_again(Study.open(results, "s"), n_starts=7)


def test_what_was_scored_again_is_shipped(results, monkeypatch, tmp_path):
    run(results, monkeypatch)
    monkeypatch.setattr(reference, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(pack, "SHIPPED", tmp_path / "shipped")
    assert len(pack.ship(results, "s", partial=True)[0]) == 2
    own = Study.open(results, "s").restarts.sort_values(["method", "metric"], ignore_index=True)
    there = Study.open(results, "reference/s").restarts.sort_values(["method", "metric"], ignore_index=True)
    pd.testing.assert_frame_equal(own, there, check_dtype=False)
    path = tmp_path / "shipped/s/_restarts.parquet"
    before = path.read_bytes()
    path.unlink()
    run(results, monkeypatch, "study=reference/s")
    assert path.read_bytes() == before
    shutil.rmtree(results / "s")  # the name is that of the shipped study then
    run(results, monkeypatch, "study=s", "restarts=16")
    again = Study.open(results, "reference/s").restarts
    assert len(again) == len(there) and set(again["n_starts"]) == {16}


def compared(again):
    """Return the comparison of a small study, of which one cell was scored again."""
    points = [
        {"dataset": "umist", "method": "all_features", "acc": {644: [0.40, 0.44]}},
        {"dataset": "umist", "method": "mcfs", "acc": {50: [0.44, 0.48]}},
    ]
    study = study_of(points, protocol=PAPER)
    chosen = study.select("acc").query("method == 'mcfs'").iloc[0]
    row = (chosen["trial"], "umist", "mcfs", 50, "kmeans", "acc", 200, 10, 3, 43.0, 3.0, 1.0, "")
    study.__dict__["restarts"] = pd.DataFrame([row] if again else [], columns=COLUMNS[RESTARTS])
    rows = compare_studies({"dgufs": study})
    return rows, rows.query("dataset == 'umist' and method == 'mcfs' and metric == 'acc'").iloc[0]


def test_a_comparison_judges_by_the_mean_over_groups_and_says_so():
    (rows, cell), (before, plain) = compared(True), compared(False)
    assert (cell["mean"], cell["table_mean"], cell["n_restarts"], cell["n_again"]) == (43, 46, 200, 3)
    assert cell["difference"] == pytest.approx(43 - cell["published_mean"])
    assert cell["group_error"] == pytest.approx(1 / np.sqrt(10))
    assert own_error(rows.loc[[cell.name]])[0] == pytest.approx(1 / np.sqrt(10))
    assert (plain["mean"], plain["n_restarts"]) == (46, 2) and before["n_groups"].isna().all()
    others = rows.drop(index=cell.name)
    pd.testing.assert_series_equal(others["mean"], before.drop(index=cell.name)["mean"])


def test_controls_and_the_gain_over_the_best_of_random_subsets_are_by_the_starts_of_our_rows():
    points = [{"dataset": "umist", "method": "all_features", "acc": {644: [0.40, 0.44]}}]
    points += [
        {"dataset": "umist", "method": RANDOM, "params": {"draw": draw}, "acc": {50: [0.4, 0.4 + draw / 200]}}
        for draw in range(3)
    ]
    points.append({"dataset": "umist", "method": "mcfs", "acc": {50: [0.44, 0.48]}, "feature_sets": '{"50": "a"}'})
    study = study_of(points, protocol=PAPER)
    chosen = study.select("acc").set_index("method")
    rows = [(chosen.loc[name, "trial"], "umist", name, size, "kmeans", "acc", 200, 10, 3, mean, 3.0, 1.0, "")
            for name, size, mean in (("all_features", 644, 41.0), ("mcfs", 50, 43.0))]  # fmt: skip
    study.__dict__["restarts"] = pd.DataFrame(rows, columns=COLUMNS[RESTARTS])
    scores = controls_of({"dgufs": study}).query("metric == 'acc'").set_index("control")
    assert scores.loc[ALL, ["mean", "n_restarts", "group_error"]].tolist() == [41, 200, pytest.approx(1 / np.sqrt(10))]
    assert (scores.loc[RANDOM, "n_restarts"] == 2).all() and scores.loc[RANDOM, "group_error"].isna().all()
    rows = compare_studies({"dgufs": study}).query("dataset == 'umist' and metric == 'acc'").set_index("method")
    cell = rows.loc["mcfs"]
    assert (cell["mean"], cell["excess"]) == (43, pytest.approx(43 - cell["random_best"]))
    # All features in the place of MCFS have its errors, and are neither above nor below themselves.
    own = rows.loc[["mcfs"]].reset_index()
    (instead,) = [cells for control, cells in studies_of(own, controls_of({"dgufs": study})) if control == ALL]
    assert instead["mean"].tolist() == instead["all_mean"].tolist() == [41]
    assert own_error(instead)[0] == pytest.approx(1 / np.sqrt(10))


def test_an_unknown_sample_is_in_the_error_of_the_papers_mean():
    cells = pd.DataFrame({"dataset": ["fashion", "umist"], "metric": "nmi", "published_std": 2.0, "published_n": 4})
    assert published_error(cells).tolist() == pytest.approx([np.hypot(1.0, SAMPLED["fashion", "nmi"]), 1.0])


def test_data_that_are_not_here_are_named(results):
    for path in (results / "s").rglob(FILE):
        path.write_text(path.read_text().replace("mnist500", "of_my_own"))
    (results / "s/mnist500").rename(results / "s/of_my_own")
    (problem,) = score_again(Study.open(results, "s"), n_starts=8)
    assert problem.startswith("of_my_own is no file of conf/dataset")


def test_twenty_of_the_random_rankings_stand_beside_a_comparison():
    points = [
        {
            "dataset": "umist",
            "method": "random_rankings",
            "params": {"draw": draw},
            "acc": {50: [0.4, 0.4 + draw / 200]},
        }
        for draw in range(30)
    ]
    found = controls_of({"dgufs": study_of(points, protocol=PAPER)})
    assert sorted(found["draw"].unique()) == list(range(30)) and set(found["paper"]) == {"dgufs"}
    rows = found[["dataset", "metric"]].drop_duplicates().assign(method="mcfs")
    assert sum(control == RANDOM for control, _ in studies_of(rows, found)) == 20
