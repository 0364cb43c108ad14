"""The tables of conf/table: their rows, published numbers, data sets and running times, and LaTeX that compiles."""

import shutil
import subprocess
from dataclasses import asdict

import pytest
from frames import PROTOCOL, frames, store
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from scripts.core.conf import ROOT, read
from scripts.core.published import load_published, published_cells
from scripts.core.study import Study
from scripts.core.tables import read_table
from scripts.make_table import make_table, study_table
from scripts.make_table.formats import to_csv, to_html, to_latex, to_markdown
from scripts.ranks.choice import is_control

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
    for write in (to_markdown, to_latex, to_html, to_csv):
        assert write(table)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_takes_from_another_one_what_hydra_takes(name):
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        composed = OmegaConf.to_container(compose("make_table", [f"table={name}"]).table)
    assert asdict(read_table(name)) == composed


@pytest.mark.parametrize("name", TABLES)
def test_every_variant_of_a_published_method_stands_in_the_table(name):
    content = read_table(name)
    if not content.paper or content.metric == "shape":
        pytest.skip("no rows of methods that a paper prints")
    known = {path.stem: read(path)["target"] for path in (ROOT / "conf" / "method").glob("*.yaml")}
    targets = {known[row] for row in content.rows if row in known and not known[row].startswith("methods.baselines")}
    printed = set(load_published()["method"])  # such as socfs_triplet, a row of its own in another paper
    assert {row for row in known if known[row] in targets} - printed <= set(content.rows)


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
    assert "| MicroMass | 360 " in text and "1300 Δ-940" in text and "2000 Δ+0" in text
    assert any("MicroMass: the paper prints samples and features the other way round" in note for note in table.notes)
    assert "kmeans_ufs_table2,micromass,samples,360,1300,-940" in to_csv(table)


def test_a_table_of_running_times_has_the_seconds_of_all_fits_that_did_not_fail(tmp_path):
    points = [{"dataset": "coil20", "method": "rufs", "params": {"alpha": i}, "acc": {50: [0.5]}} for i in range(3)]
    points += [{"dataset": "coil20", "method": "rufs", "params": {"alpha": 9}, "status": "failed", "sizes": [50]}]
    points += [{"dataset": "coil20", "method": "rufs_released", "acc": {50: [0.5]}}]
    results = frames(points, study="rufs", protocol={**PROTOCOL, "name": "rufs"})
    results.trials["fit_s"] = [1.0, 2.0, 6.0, 99.0, 2.5]
    results.trials["versions"] = '{"machine": "Ours & Co"}'
    store(results, tmp_path)
    table = make_table(read_table("rufs_table4"), Study.open(tmp_path, "rufs"))
    cell = table.cell(("rufs", "kmeans"), "coil20")
    assert (cell["mean"], cell["std"], cell["status"]) == (3.0, pytest.approx(7**0.5), "partial")
    assert (cell["published_mean"], cell["difference"], cell["rank"]) == (32.2, pytest.approx(-29.2), 2)
    assert table.cell(("rufs_released", "kmeans"), "coil20")["rank"] == 1  # the fewest seconds
    assert {cell["published_rank"] for cell in (table.cell(("udfs", "kmeans"), name) for name in table.columns)} == {2}
    text = " ".join(table.notes)
    assert "Our machine: Ours & Co." in text and "Intel Core i7" in text and "chosen with the labels" not in text
    assert "<u>3.0</u>±2.6†" in to_markdown(table)


def test_a_study_of_an_experiment_that_was_never_run_is_filled_by_that_experiment(tmp_path):
    table = make_table(read_table("dgufs_table2"), Study.open(tmp_path, "dgufs_quick"))
    assert table.commands == ["python run.py experiment=dgufs_quick"]


CLASSES = {"IEEEtran": "conference", "article": "twocolumn"}


def has_class(name):
    """Return True where LaTeX is here, with a document class."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    return subprocess.run(["kpsewhich", f"{name}.cls"], capture_output=True).returncode == 0


@pytest.mark.parametrize("document", CLASSES)
def test_every_table_stays_inside_its_column(document, tmp_path):
    if not has_class(document):
        pytest.skip(
            f"no pdflatex with {document}.cls here: apt-get install texlive-publishers texlive-fonts-recommended"
        )
    points = [
        {"dataset": dataset, "method": method, "acc": {50: [0.2, 0.3]}, "learned": {50: 0.5}, "status": "collapsed"}
        for dataset in ("umist", "orl", "digits")
        for method in ("dgufs", "mcfs", "spectral_labels", "all_features", "a_method_of_my_own_with_a_long_name")
    ]
    store(frames([*points, {"dataset": "umist", "method": "rufs", "status": "failed", "sizes": [50]}]), tmp_path)
    study = Study.open(tmp_path, "dgufs")
    tables = [study_table(study), *(make_table(spec, study) for spec in map(read_table, TABLES))]
    parts = [to_latex(table, layout, notes)
             for table in tables for layout in ("column", "page") for notes in ("none", "short", "full")]  # fmt: skip
    head = rf"\documentclass[{CLASSES[document]}]{{{document}}}\usepackage{{booktabs,graphicx}}\begin{{document}}"
    (tmp_path / "tables.tex").write_text(head + "Text.\n\n" + "\\clearpage\n".join(parts) + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "tables.log").read_text(encoding="utf-8", errors="replace")
    assert "Overfull" not in log, log[log.index("Overfull") :][:500]
    assert log.count("LaTeX Warning: Float") == 0
