"""Tables in LaTeX: they compile, with nothing below 8 points, and those that are not said to be too wide fit."""

import re
import shutil
import subprocess

import pytest
from frames import frames, store

from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.papers import read_table
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import make_table, printed_methods, study_table
from ufs_bench.scripts.make_table.formats import to_latex

TABLES = sorted(path.stem for path in (ROOT / "conf" / "table").glob("*.yaml"))
CLASSES = {"IEEEtran": ("onecolumn",), "article": ("a4paper",)}
SMALLEST = 7.97  # 8 points of TeX in those of a PDF


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return the tables of the papers, as printed and with all variants, and two studies: a small and a large one."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        pytest.skip("no pdflatex: apt-get install texlive-latex-recommended")
    folder = tmp_path_factory.mktemp("results")
    points = [
        {"dataset": dataset, "method": method, "acc": {50: [0.2, 0.3]}, "learned": {50: 0.5}, "status": "collapsed"}
        for dataset in ("umist", "orl", "binary_alphadigits")
        for method in ("dgufs", "mcfs", "spectral_labels", "all_features", "a_method_of_my_own_with_a_long_name")
    ]
    store(frames([*points, {"dataset": "umist", "method": "rufs", "status": "failed", "sizes": [50]}]), folder)
    found = [study_table(Study.open(folder, name)) for name in ("dgufs", "reference/fair")]
    for spec in map(read_table, TABLES):
        study = Study.open(folder, f"reference/{spec.study}" if spec.paper else spec.study)
        found += [make_table(printed_methods(spec), study, learned=False), make_table(spec, study)]
    return found


def compiled(folder, document, options, parts):
    """Return the log and the bytes, uncompressed, of a document of these parts; skip the test without its class."""
    if subprocess.run(["kpsewhich", f"{document}.cls"], capture_output=True).returncode:
        pytest.skip(f"no {document}.cls: apt-get install texlive-publishers texlive-fonts-recommended")
    head = rf"\documentclass[{options}]{{{document}}}\usepackage{{booktabs}}\pdfcompresslevel=0\begin{{document}}"
    (folder / "tables.tex").write_text(head + "Text.\n\n" + "\\clearpage\n".join(parts) + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (folder / "tables.log").read_text(encoding="utf-8", errors="replace")
    return log, (folder / "tables.pdf").read_bytes()


def sizes(pdf):
    """Return the sizes of the letters of an uncompressed PDF that nothing scales."""
    scales = re.findall(rb"^([-\d.]+) [-\d.]+ [-\d.]+ ([-\d.]+) [-\d.]+ [-\d.]+ cm$", pdf, re.MULTILINE)
    assert set(scales) <= {(b"1", b"1")}
    return {float(size) for size in re.findall(rb"/F\d+ ([\d.]+) Tf", pdf)}


@pytest.mark.parametrize(("document", "options"), [(name, text) for name, texts in CLASSES.items() for text in texts])
def test_every_table_compiles_at_8_points_or_more(document, options, tables, tmp_path, capsys):
    wide, narrow = [], []
    for table in tables:
        for notes in ("none", "short", "full"):
            text = to_latex(table, notes)
            (wide if capsys.readouterr().err else narrow).append(text)
    head = [r"\renewcommand{\scshape}{}"] if document == "IEEEtran" else []  # its own captions have small capitals
    log, pdf = compiled(tmp_path, document, options, [*head, *wide, *narrow])
    assert min(sizes(pdf)) >= SMALLEST
    assert b"/Type3" not in pdf  # which publishers refuse
    log, _ = compiled(tmp_path, document, options, [*head, *narrow])
    assert len(narrow) > 3 and not re.search(r"Overfull .hbox \(\d{2,}[\d.]*pt too wide\) in alignment", log)
