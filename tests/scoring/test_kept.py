"""The structure of all features that selected ones keep: the measures, what is stored, and choices by them."""

import numpy as np
import pytest
from small_data import TRUTH

from ufs_bench.metrics.study import KEPT, kept
from ufs_bench.metrics.study.losses import candidates, losses
from ufs_bench.scripts.core import refits
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.refit.kept import KEYS, keep_selected, kept_of, measure


@pytest.fixture(scope="module")
def blobs():
    """Samples of three clusters, which the first two features show, among twenty of noise."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0)
    return np.hstack([centres + rng.normal(size=(60, 2)), rng.normal(size=(60, 20))])


def test_all_features_keep_everything_and_the_informative_ones_the_clusters(blobs):
    found = kept.Structure(blobs, 3)
    assert found.kept(range(22)) == (1.0, 1.0)
    assert found.kept([1, 0]) == found.kept([0, 1]) and found.kept([0, 1])[1] == 1.0
    assert found.kept([20, 21])[1] < 0.2


def test_the_neighbours_are_those_of_the_definition(blobs):
    def near(X):
        distances = ((X[:, None] - X[None]) ** 2).sum(axis=2) + np.diag([np.inf] * len(X))
        return [set(row[:5]) for row in np.argsort(distances, axis=1)]

    both = zip(near(blobs), near(blobs[:, :4]), strict=True)
    wanted = np.mean([len(whole & own) / 5 for whole, own in both])
    assert kept.Structure(blobs, 3).kept(range(4))[0] == pytest.approx(wanted)


def test_of_many_samples_some_count_and_the_same_ones_each_time(blobs, monkeypatch):
    monkeypatch.setattr(kept, "SAMPLES", 30)
    one, other = (kept.Structure(blobs, 3) for _ in range(2))
    assert one.X.shape == (30, 22) and np.array_equal(one.X, other.X) and one.kept([0, 5]) == other.kept([0, 5])


@pytest.fixture(scope="module")
def study(tmp_path_factory, run_cells):
    folder = tmp_path_factory.mktemp("kept")
    words = "method=max_variance,all_features", f"dataset={TRUTH}", "study=mine", "protocol.sizes=[5,20]"
    run_cells(*words, f"results_dir={folder}", "runner.n_jobs=1")
    return Study.open(folder, "mine")


def test_what_is_measured_is_stored_once_and_chosen_by(study, monkeypatch):
    assert kept_of(study) is None and measure(study) == []
    found = kept_of(study)
    assert list(found.index.get_level_values("n_selected")) == [5, 20]
    assert (found.loc[(slice(None), 20), :].to_numpy() > found.loc[(slice(None), 5), :].to_numpy()).all()
    table = losses(candidates(study.whole), "acc", found).set_index("selection")
    assert table.loc[list(KEPT), "n_selected"].tolist() == [20, 20]
    assert table.loc["clusters_kept", "loss"] == table.loc["largest_size", "loss"]
    part = losses(candidates(study.whole), "acc", found.iloc[:1]).set_index("selection")
    assert part.loc[list(KEPT), "loss"].isna().all()  # a candidate of the cell was not measured
    path = study.folder / "_kept.parquet"
    before = path.read_bytes()
    monkeypatch.setattr("ufs_bench.metrics.study.kept.Structure", None)  # nothing is left to measure
    assert measure(study) == [] and path.read_bytes() == before


def test_a_shipped_study_keeps_only_what_its_rows_select(study, shipping):
    """A study whose cells were run anew selects other features."""
    measure(study)
    rows = refits.read(study.folder, refits.STRUCTURE)
    refits.write(shipping / "mine", refits.STRUCTURE, rows)
    keep_selected(shipping / "mine", rows.set_index(KEYS).index[:1])
    assert len(rows) == 2 and refits.read(shipping / "mine", refits.STRUCTURE).equals(rows[:1])
