"""The tables of conf/table: their rows, published numbers, data sets and running times."""

from dataclasses import replace

import pytest
from frames import PROTOCOL, frames, store, study_of

from ufs_bench.scripts.core.conf import ROOT, read
from ufs_bench.scripts.core.papers import load_published, published_cells, read_table
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import make_table, printed_methods
from ufs_bench.scripts.make_table.formats import to_csv, to_latex, to_markdown
from ufs_bench.scripts.rank.choice import is_control

TABLES = sorted(path.stem for path in (ROOT / "conf" / "table").glob("*.yaml"))


@pytest.mark.parametrize("name", TABLES)
def test_every_table_of_conf_is_well_formed(name, tmp_path):
    content = read_table(name)
    assert content.name == name
    assert (ROOT / "conf" / "protocol" / f"{content.protocol}.yaml").exists()
    datasets = content.rows if content.metric == "shape" else content.columns
    assert all((ROOT / "conf" / "dataset" / f"{name}.yaml").exists() for name in datasets)
    if content.paper:
        cells = published_cells(content.paper, content.published_table, content.metric)
        assert set(cells.index.get_level_values("dataset")) == set(datasets)
    if content.paper and content.metric != "shape":
        methods = set(cells.index.get_level_values("method"))
        assert methods <= set(content.rows)
        assert {row for row in content.rows if not is_control(row)} - methods == set(content.published_as)
        assert set(content.published_as.values()) <= methods
    table = make_table(content, Study.open(tmp_path, content.study))
    for write in (to_markdown, to_latex, to_csv):
        assert write(table)


@pytest.mark.parametrize("name", TABLES)
def test_every_variant_of_a_published_method_stands_in_the_table(name):
    content = read_table(name)
    if not content.paper or content.metric == "shape":
        pytest.skip("no rows of methods that a paper prints")
    known = {path.stem: read(path)["target"] for path in (ROOT / "conf" / "method").glob("*.yaml")}
    targets = {known[row] for row in content.rows if row in known and not known[row].startswith("methods.baselines")}
    printed = set(load_published()["method"])  # such as socfs_triplet, a row of its own in another paper
    assert {row for row in known if known[row] in targets} - printed <= set(content.rows)


def test_by_default_a_papers_table_has_what_the_paper_prints_and_each_of_it_once(tmp_path, command):
    spec = printed_methods(read_table("dgufs_table2"))
    assert spec.rows == "all_features laplacian_score mcfs udfs ndfs rufs eufs dgufs".split()
    labels = [label for _, label, *_ in make_table(spec, Study.open(tmp_path, "dgufs"), learned=False).lines]
    assert labels.count("DGUFS") == 1 and labels.count("ours") == len(spec.rows) == len(labels) / 2
    assert (
        printed_methods(replace(read_table("dgufs_table2"), metric="nearest_neighbour")).rows[-1] == "spectral_labels"
    )
    done = {
        more: command("make_table", f"results_dir={tmp_path}", "format=csv", *more) for more in ((), ("variants=true",))
    }
    assert "dgufs_normalized" not in done[()].stdout
    assert "dgufs_normalized" in done["variants=true",].stdout


def test_published_scores_all_stand_in_some_table():
    specs = [read_table(name) for name in TABLES]
    found = sum(len(published_cells(s.paper, s.published_table, s.metric)) for s in specs if s.paper)
    # 450 scores, 6 running times and 31 data sets.
    assert found == len(load_published()) + 6 + 31


def test_a_table_of_data_sets_says_what_the_paper_prints_and_what_we_load():
    table = make_table(read_table("kmeans_ufs_table2"), None)
    cell = table.cell(("micromass",), "samples")
    assert (cell["mean"], cell["published_mean"], cell["difference"]) == (360, 1300, -940)
    text = to_markdown(table)
    assert "| MicroMass | 1300 " in text and "360 Δ-940" in text and "2000 Δ0" in text
    assert any(
        "MicroMass: the paper prints samples and features the other way round" in note for note in table.below("full")
    )
    assert "kmeans_ufs_table2,micromass,samples,360,1300,-940" in to_csv(table)


def test_a_table_of_running_times_has_the_seconds_of_all_fits_that_did_not_fail(tmp_path):
    points = [{"dataset": "coil20", "method": "rufs", "params": {"alpha": i}, "acc": {50: [0.5]}} for i in range(3)]
    points += [{"dataset": "coil20", "method": "rufs", "params": {"alpha": 9}, "status": "failed", "sizes": [50]}]
    points += [{"dataset": "coil20", "method": "rufs_released", "acc": {50: [0.5]}}]
    fits = frames(points, study="rufs", protocol={**PROTOCOL, "name": "rufs"})
    seconds, versions = [1.0, 2.0, 6.0, 99.0, 2.5], '{"machine": "Ours & Co"}'
    fits = [fit | {"fit_s": own, "versions": versions} for fit, own in zip(fits, seconds, strict=True)]
    store(fits, tmp_path)
    table = make_table(read_table("rufs_table4"), Study.open(tmp_path, "rufs"))
    cell = table.cell(("rufs", "kmeans"), "coil20")
    assert (cell["mean"], cell["std"], cell["status"]) == (3.0, pytest.approx(7**0.5), "partial")
    assert (cell["published_mean"], cell["difference"], cell["rank"]) == (32.2, pytest.approx(-29.2), 2)
    assert table.cell(("rufs_released", "kmeans"), "coil20")["rank"] == 1  # the fewest seconds
    assert {cell["published_rank"] for cell in (table.cell(("udfs", "kmeans"), name) for name in table.columns)} == {2}
    text = " ".join(table.below("full"))
    assert "Our machine: Ours & Co." in text and "Intel Core i7" in text and "chosen with the labels" not in text
    assert "_3.0_±2.6† Δ-29.2" in to_markdown(table)


def test_a_study_of_an_experiment_that_was_never_run_is_filled_by_that_experiment(tmp_path):
    table = make_table(read_table("dgufs_table2"), Study.open(tmp_path, "dgufs_quick"))
    assert table.commands == [f"python run.py experiment=dgufs_quick results_dir={tmp_path}"]


def test_defaults_that_a_run_was_told_are_said():
    rows = [
        {"dataset": "umist", "method": "laplacian_score", "params": {"n_neighbors": 3}, "is_default": True},
        {"dataset": "umist", "method": "mcfs", "params": {"n_neighbors": 5}, "is_default": True},
    ]
    study = study_of([{**row, "acc": {100: [0.4, 0.5]}} for row in rows])
    spec = replace(read_table("demo"), rows=[row["method"] for row in rows], columns=["umist"])
    told = " ".join(make_table(spec, study, "default_params").below("full"))
    assert "what `method.params` was set to: laplacian_score (n_neighbors=3)" in " ".join(told.split())
    best = " ".join(make_table(spec, study).below("full"))
    assert "Not the defaults" not in best
