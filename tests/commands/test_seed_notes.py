"""The command that fits again with other seeds, and the places where the spread is shown."""

import sys

import pandas as pd
import pytest

from ufs_bench.datasets import load_dataset, scale
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.runners.experiment.grid import expand
from ufs_bench.runners.store.fits import Store
from ufs_bench.runners.workers.fit import run_trial
from ufs_bench.scripts.compare import over_starts
from ufs_bench.scripts.core import conf
from ufs_bench.scripts.core.papers import TableSpec
from ufs_bench.scripts.core.refits import SEEDS, load_refits
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import make_table
from ufs_bench.scripts.make_table.formats import to_csv
from ufs_bench.scripts.refit.__main__ import main
from ufs_bench.scripts.refit.seeds import fit_seeds

PROTOCOL = Protocol(name="demo", sizes=(10, 20), scaling="minmax", restarts=2, seed=0, nmi="max", max_iter=10)
ROWS = ["random_selection", "max_variance"]
SPEC = {"name": "t", "title": "T", "paper": None, "published_table": None, "study": "s", "protocol": "demo"}
SPEC |= {"rows": ROWS, "columns": ["mnist500"], "published_as": {}}


@pytest.fixture
def results(tmp_path):
    """Run a method with a random part and one without, on mnist500."""
    data = load_dataset("mnist500")
    for name in ROWS:
        trials = expand("s", data, conf.find("method", name), PROTOCOL)
        with Store(tmp_path / "s/mnist500" / name) as cell:
            cell.append([run_trial(trial, scale(data.X, "minmax"), data.y).trial for trial in trials])
    return tmp_path


def table(results, selection="best_over_grid", metric="acc"):
    return make_table(TableSpec(metric=metric, **SPEC), Study.open(results, "s"), selection)


def test_the_spread_stands_below_the_table_and_its_lack_is_said_once(results, monkeypatch, capsys):
    command = f"python -m scripts.refit what=seeds study=s 'methods=[random_selection]' results_dir={results}"
    assert [command in note for note in table(results).below("full")].count(True) == 1
    assert any(command in note for note in table(results, "silhouette").below("full"))
    assert not any("seeds" in note.lower() for note in table(results, "grid_median").below("full"))
    assert not any("seeds" in note.lower() for note in table(results, "best_over_grid", "seconds").below("full"))
    monkeypatch.setattr(sys, "argv", ["refit", "what=seeds", "study=s", f"results_dir={results}", "n_jobs=1"])
    main()
    said = capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*sys.argv, "methods=[max_variance]"])
    main()
    assert "fits" not in capsys.readouterr().out
    assert "No random part, and so no seeds: max_variance." in said
    assert "random_selection on mnist500: 4 fits" in said
    rows = load_refits(Study.open(results, "s"), SEEDS)
    assert sorted(set(rows["seed"])) == [0, 1, 2, 3, 4] and set(rows["method"]) == {"random_selection"}
    made = table(results)
    cell = made.cell(("random_selection", "kmeans"), "mnist500")
    own = rows[(rows["trial"] == cell["trial"]) & (rows["n_selected"] == cell["n_selected"])]
    assert own["acc_mean"].iloc[0] == pytest.approx(cell["mean"] / 100)  # the stored seed's own result
    assert cell["seed_std"] == pytest.approx(100 * own["acc_mean"].std()) and cell["seed_std"] > 0
    (line,) = [note for note in made.below("full") if note.startswith("Seeds of Random")]
    assert line.endswith(f": MNIST-500 {cell['seed_std']:.1f} (5).")
    assert not any("scripts.refit" in note or "MaxVar" in note for note in made.below("full") if "eeds" in note)
    head, first, second = to_csv(made).splitlines()
    assert head.endswith(",seed_std") and first.endswith(f",{cell['seed_std']:.4f}") and second.endswith(",")


def test_a_comparison_takes_learned_labels_over_their_starts_and_nothing_else():
    seeds = {"n_seeds": 20, "seed_mean": 58.0, "seed_std": 1.5}
    one = {"mean": 60.0, "std": float("nan"), "n_restarts": 1, "published_mean": 57.0, **seeds}
    cells = [
        {"clusterer": "learned", **one},
        {"clusterer": "kmeans", **one, "std": 2.0, "n_restarts": 20},
        {"clusterer": "learned", **one, "n_seeds": float("nan"), "seed_mean": float("nan")},
    ]
    found = over_starts(pd.DataFrame(cells))
    assert found[["mean", "std", "n_restarts"]].values.tolist()[0] == [58.0, 1.5, 20]
    assert found["mean"].tolist()[1:] == [60.0, 60.0]
    assert found["n_restarts"].tolist()[1:] == [20, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["mcsf"]}, "the study has no method='mcsf'.* It has: max_variance, random_selection"),
        ({"datasets": ["umist"]}, "the study has no dataset='umist'.* It has: mnist500"),
    ],
)
def test_a_name_that_the_study_does_not_have_is_refused(results, options, message):
    with pytest.raises(ValueError, match=message):
        fit_seeds(Study.open(results, "s"), **options)


@pytest.mark.parametrize(
    "name, words",
    [
        ("none", "the study 'none' has no results"),
        ("reference/fair_half", "study=fair_half has protocol.seeds=5: run.py fits them all"),
        ("reference/kmeans_ufs", "python run.py experiment=kmeans_ufs runner.reuse=shipped"),
    ],
)
def test_a_study_that_takes_no_seeds_is_refused_with_what_to_do(tmp_path, name, words):
    with pytest.raises(ValueError, match=words):
        fit_seeds(Study.open(tmp_path, name))


def test_what_cannot_be_fitted_again_is_named(results):
    study = Study.open(results, "s")
    for frame in (study.frame, study.whole):
        frame["trial"] = frame["trial"].str.upper()
    (problem,) = fit_seeds(study)
    assert problem == "random_selection on mnist500: its file in conf/method is not that of the trials."
    study = Study.open(results, "s")
    study.trials["data_sha"] = "another"
    assert fit_seeds(study) == ["mnist500: the data here are not those of the stored trials."]
