"""The papers' tables: cells, marks, commands, formats, and the published numbers."""

import csv
import io
import re
from dataclasses import replace

import pytest
from frames import PROTOCOL, SIZES, frames, store

from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.papers import TableSpec
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import make_table, print_table
from ufs_bench.scripts.make_table.formats import labels_of, to_csv, to_frame, to_latex, to_markdown

POINTS = [
    {"dataset": "umist", "method": "all_features", "acc": {644: [0.40, 0.44]}},
    {"dataset": "pie10p", "method": "all_features", "acc": {2420: [0.28, 0.28]}},
    {"dataset": "umist", "method": "laplacian_score", "acc": {size: [0.44, 0.46] for size in SIZES}},
    {"dataset": "umist", "method": "mcfs", "acc": {size: [size / 1000, size / 1000] for size in SIZES}},
    {"dataset": "umist", "method": "dgufs", "status": "collapsed", "acc": {50: [0.2, 0.3]}, "learned": {50: 0.55}},
    {"dataset": "umist", "method": "dgufs", "params": {"alpha": 1}, "status": "failed", "sizes": [50]},
    {"dataset": "pie10p", "method": "dgufs", "status": "failed", "sizes": SIZES},
]


@pytest.fixture(scope="module")
def spec():
    return TableSpec(
        name="small", title="Small & 100 % complete", paper="dgufs", published_table="table2", metric="acc",
        study="dgufs", protocol="dgufs", rows=["all_features", "laplacian_score", "mcfs", "dgufs", "dgufs_normalized"],
        columns=["umist", "pie10p"], published_as={"dgufs_normalized": "dgufs"},
    )  # fmt: skip


@pytest.fixture
def results(tmp_path):
    store(frames(POINTS), tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def table(spec, tmp_path_factory):
    store(frames(POINTS), folder := tmp_path_factory.mktemp("results"))
    return make_table(spec, Study.open(folder, "dgufs"))


def markdown_cells(text):
    """Return the text of cells by (label, data set), over all blocks; "LABEL paper" is the published line of LABEL."""
    cells = {}
    for block in text.split("\n\n"):
        if not block.startswith("|"):
            continue
        header, _, *lines = ([part.strip() for part in line.split("|")[1:-1]] for line in block.splitlines())
        for (label, *parts), (after, *_) in zip(lines, [*lines[1:], [""]], strict=True):
            if not label.startswith("↳ "):
                above = label
                label = f"{label} paper" if after.startswith("↳ ") else label
            label = above if label == "↳ ours" else label.removeprefix("↳ ")
            cells.update({(label, name): part for name, part in zip(header[1:], parts, strict=True)})
    return cells


def test_cells_hold_percent_differences_and_ranks(table):
    cell = table.cell(("laplacian_score", "kmeans"), "umist")
    assert cell["mean"] == pytest.approx(45)
    assert cell["std"] == pytest.approx(2**0.5, abs=1e-5)  # stored with 7 decimals, as a fraction
    assert (cell["published_mean"], cell["published_n_features"], cell["n_selected"]) == (45.1, 200, 50)
    assert cell["difference"] == pytest.approx(-0.1)
    ranks = {row: table.cell(row, "umist")["rank"] for row in table.rows}
    assert [row for row in ranks if ranks[row] == 1] == [("laplacian_score", "kmeans")]
    assert [row for row in ranks if ranks[row] == 2] == [("all_features", "kmeans")]


def test_learned_labels_have_no_rank_however_good_they_are(table):
    learned = table.cell(("dgufs", "learned"), "umist")
    assert (learned["rank"], learned["mean"]) == (0, max(table.cells.query("dataset == 'umist'")["mean"]))


def test_a_published_line_stands_once_above_ours_and_its_variants(table):
    labels = [label for _, label, _, below in table.lines if not below]
    assert len(labels) == len(set(labels)) == 4
    found = [(label, is_published) for (method, _), label, is_published, _ in table.lines if "dgufs" in method]
    name, variant = table.rows["dgufs", "kmeans"], table.rows["dgufs_normalized", "kmeans"]
    learned = f"{name} (learned labels)"
    assert found == [(name, True), ("ours", False), (learned, False), (variant, False)]


def test_published_ranks_ignore_how_many_variants_stand_beside_a_row(table):
    ranks = {row: table.cell(row, "umist")["published_rank"] for row in table.rows}
    assert [row[0] for row in ranks if ranks[row] == 1] == ["dgufs", "dgufs", "dgufs_normalized"]
    assert [row[0] for row in ranks if ranks[row] == 2] == ["mcfs"]


def test_markdown_shows_value_size_marks_and_difference(table):
    cells = markdown_cells(to_markdown(table))
    assert cells[table.rows["all_features", "kmeans"], "UMIST"] == "_42.0_±2.8 Δ-0.1"
    mcfs, dgufs = table.rows["mcfs", "kmeans"], table.rows["dgufs", "kmeans"]
    assert cells[mcfs, "UMIST"] == "30.0±0.0(300) Δ-15.4"
    assert cells[f"{mcfs} paper", "UMIST"] == "_45.4_±3.2(150)§"
    assert cells[dgufs, "UMIST"] == "25.0±7.1(50)†‡ Δ-32.1"
    assert cells[f"{dgufs} paper", "UMIST"] == "**57.1**±3.4(100)"
    assert cells[f"{dgufs} (learned labels)", "UMIST"] == "55.0(50)†‡ Δ-2.1"
    assert cells[dgufs, "PIE 10P"] == "failed"
    assert cells[mcfs, "PIE 10P"] == "not run"
    assert cells[f"{mcfs} paper", "PIE 10P"] == "_44.3_±3.2(50)"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_markdown_is_aligned_and_fits_the_terminal(table, width):
    text = to_markdown(table, width)
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert all(len({len(line) for line in block}) == 1 for block in blocks)
    prose = [line for line in text.splitlines() if not line.startswith(("python", "##"))]
    assert max(map(len, prose)) <= width
    assert markdown_cells(text).keys() == markdown_cells(to_markdown(table, 500)).keys()


def test_csv_has_one_tidy_row_per_cell(table):
    rows = list(csv.DictReader(io.StringIO(to_csv(table))))
    assert len(rows) == len(table.rows) * len(table.columns)
    row = next(r for r in rows if (r["dataset"], r["method"], r["clusterer"]) == ("umist", "mcfs", "kmeans"))
    assert (row["mean"], row["std"], row["n_selected"], row["difference"]) == ("30.0000", "0.0000", "300", "-15.4000")
    assert (row["inherited"], row["status"], row["selection"]) == ("equal:rufs", "complete", "best_over_grid")
    assert next(r for r in rows if r["status"] == "not run")["mean"] == ""


def test_latex_has_matching_columns_and_no_bare_special_characters(table):
    text = to_latex(table, notes="full")
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert {line.count(" & ") for line in body} == {len(table.columns)}
    assert all(line.endswith(r" \\") for line in body)
    assert text.count(r"\begin") == text.count(r"\end") == 2
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    content = re.sub(r"^%.*$|%$", "", text, flags=re.MULTILINE).replace(r"\label{tab:small}", "")
    assert all(f"% {command}" in text.splitlines() for command in table.commands)
    assert not re.findall(r"(?<!\\)[_%#]|[±Δ†‡§]", content)
    assert r"\textbf{45.0}$\pm$1.4" in text and not re.search(r"scriptsize|tiny|resizebox", text)


def test_a_line_says_that_a_table_of_latex_is_too_wide(spec, results, capsys):
    def said(columns):
        text = to_latex(make_table(replace(spec, columns=columns), Study.open(results, "dgufs")))
        assert text.count(r"\begin{tabular}") == 1
        return capsys.readouterr().err

    six = ["umist", "pie10p", "allaml", "lung", "pix10p", "prostate_ge"]
    assert said(six[:2]) == ""
    assert re.fullmatch(
        r"small: about 1\d\d letters wide, and a page holds 100: choose columns=\[\.\.\.\]\.\n", said(six)
    )


def test_a_frame_of_texts_has_the_lines_of_the_table(table):
    found = to_frame(table)
    assert list(found.index) == labels_of(table) and list(found) == list(table.columns.values())
    assert "45.0±1.4(50)" in " ".join(found.to_numpy().ravel())


def test_commands_name_exactly_the_cells_that_are_not_complete(spec, results, monkeypatch):
    monkeypatch.setattr(
        "ufs_bench.scripts.core.command_lines.names", {"method": spec.rows, "dataset": spec.columns}.get
    )
    there = f"results_dir={results}"
    # The stored protocol has 2 restarts, its file 20: without the override the study would refuse the command.
    assert make_table(spec, Study.open(results, "dgufs")).commands == [
        f"python run.py -m protocol=dgufs protocol.restarts=2 method=dgufs,dgufs_normalized dataset=umist {there}",
        "python run.py -m protocol=dgufs protocol.restarts=2 "
        f"method=laplacian_score,mcfs,dgufs,dgufs_normalized dataset=pie10p {there}",
    ]
    (line,) = make_table(spec, Study.open(results, "other")).commands
    assert line.endswith(f" -m protocol=dgufs study=other method={','.join(spec.rows)} dataset=umist,pie10p {there}")


def test_what_conf_does_not_have_is_said_and_not_in_a_command(spec, results):
    store(frames([{"dataset": "umist", "method": "my_own", "acc": {50: [0.5, 0.5]}}], study="own"), results)
    table = make_table(replace(spec, rows=["my_own"]), Study.open(results, "own"))
    assert any("my_own has no file in conf/" in note for note in table.below("full"))
    assert table.commands == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": ["mcfs", "dgufz"]}, "method='dgufz' is not in conf/method.*Did you mean dgufs"),
        ({"rows": ["mcsf"]}, "Did you mean mcfs"),
        ({"columns": ["umits"]}, "dataset='umits' is not in conf/dataset.*Did you mean umist"),
    ],
)
def test_a_row_or_column_that_nobody_knows_is_an_error_with_the_nearest_name(spec, results, changed, message):
    with pytest.raises(ValueError, match=message):
        make_table(replace(spec, **changed), Study.open(results, "dgufs"))


def test_nothing_run_still_prints_the_published_numbers_and_one_command(spec, tmp_path):
    table = make_table(spec, Study.open(tmp_path, "dgufs"))
    assert set(table.cells["status"]) == {"not run"}
    assert table.cells["published_mean"].notna().all()
    assert all("nothing of this table is stored" in " ".join(notes) for notes in (table.below("full"), table.brief))
    assert len(table.commands) == 1
    assert not table.cells["rank"].any()


def test_a_table_without_published_numbers_has_no_lines_for_them(spec, results):
    table = make_table(replace(spec, paper=None, published_table=None), Study.open(results, "dgufs"))
    text = to_markdown(table)
    assert "↳" not in text
    assert "Δ" not in text


def test_selections_differ_as_they_should(spec, results):
    chosen = {name: make_table(spec, Study.open(results, "dgufs"), name) for name in ("default_params", "grid_median")}
    default, median = (chosen[name].cell(("mcfs", "kmeans"), "umist") for name in ("default_params", "grid_median"))
    assert (default["mean"], default["n_selected"]) == (pytest.approx(10), 100)
    assert median["mean"] == pytest.approx(17.5)
    mcfs = chosen["grid_median"].rows["mcfs", "kmeans"]
    assert markdown_cells(to_markdown(chosen["grid_median"]))[mcfs, "UMIST"] == "17.5 Δ-27.9"


def test_a_study_that_mixes_protocols_is_refused_and_a_sweep_says_so(spec, results, capsys):
    point = {"dataset": "pie10p", "method": "mcfs", "acc": {50: [0.3]}}
    other = frames([point], protocol={**PROTOCOL, "scaling": "none"})
    store([fit | {"trial": "other"} for fit in other], results)
    with pytest.raises(ValueError, match="scaling: none or unit_features"):
        make_table(spec, Study.open(results, "dgufs"))
    assert not print_table(results / "dgufs", [("pie10p", "mcfs")])
    words = capsys.readouterr().out
    assert words.startswith("no table: study='dgufs' mixes 2 protocols (scaling: none or unit_features)"), words
    assert "such as those of mcfs on pie10p" in words


@pytest.fixture
def run(command):
    return lambda tmp_path, *arguments: command("make_table", f"results_dir={tmp_path}", *arguments)


@pytest.mark.parametrize(("ending", "words"), [("csv", "umist,mcfs,kmeans"), ("tex", r"\toprule")])
def test_command_line_writes_the_table_as_its_file_ends_and_nothing_else(ending, words, results, tmp_path, run):
    before = set(ROOT.iterdir()) | set(tmp_path.rglob("*"))
    file = tmp_path / "out" / f"table2.{ending}"
    done = run(results, "table=dgufs_table2", f"output={file}")
    assert done.stdout.strip() == str(file)
    assert ("letters wide" in done.stderr) == (ending == "tex") and done.stderr.count("\n") <= 1
    assert words in file.read_text()
    assert set(ROOT.iterdir()) | set(tmp_path.rglob("*")) == before | {file, file.parent}


@pytest.mark.parametrize(("rows", "words"), [("k", "method='k' is not in conf/method"), ("dgufs_normalized", "DGUFS")])
def test_rows_of_a_table_are_those_that_are_typed_printed_by_the_paper_or_not(rows, words, results, run):
    done = run(results, "table=dgufs_table2", f"rows={rows}")
    assert words in done.stdout + done.stderr and "Traceback" not in done.stderr
    assert done.returncode == (rows == "k") and ("normalized" in done.stdout) == (rows != "k")
