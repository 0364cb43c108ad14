"""The web site: its formulas are whole, and what `make site` wrote has every page and asks nothing of other hosts."""

import inspect
import json
import re
from urllib.parse import unquote, urlsplit

import browser
import numpy as np
import pytest

from ufs_bench.metrics.study.families import family_means, t_intervals
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.scripts.cite import classes
from ufs_bench.scripts.core.conf import ROOT, family_of, names
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.docs.board import Board
from ufs_bench.scripts.docs.formula import DISPLAY, to_latex, to_rst

SITE = ROOT / "build/site"
built = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make site has not run here")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("||XW - Y||_21 + alpha tr W'LW", r"\lVert XW - Y\rVert _{2,1} + \alpha  \operatorname{tr}  W^{T}LW"),
        ("- beta <S_n, L> / lambda_", r"- \beta  \langle S_{n}, L\rangle  / \lambda"),
        ("min_mu  f^'Ln^p f^ <= |rho_ij|", r"\min _{\mu }  \hat{f}^{T}L_{n}^{p} \hat{f} \le  \lvert \rho _{ij}\rvert"),
        ("subject to   W >= 0,", r"\text{ subject to }\qquad W \ge  0"),
    ],
)
def test_a_formula_of_a_docstring_is_read_as_it_is_meant(written, meant):
    assert to_latex(written) == meant


def test_every_formula_of_a_method_is_set_whole_and_no_sentence_becomes_a_list():
    n_formulas = 0
    for target, _ in classes():
        docstring = inspect.getdoc(load_class(target))
        text = to_rst(docstring)
        shown = list(DISPLAY.finditer(docstring))
        assert text.count(".. math::") == len(shown), target
        for block in shown:
            latex = to_latex(block[0].replace("\n", " "))
            assert latex.count(r"\lVert") == latex.count(r"\rVert") and "|" not in latex and "'" not in latex, latex
            assert latex.count("{") == latex.count("}") and "_ " not in latex, latex
        assert not re.search(r"^ *([-+]|\w\.) ", re.sub(r"\.\. math::\n\n( +.*\n)+", "", text), re.MULTILINE), target
        n_formulas += len(shown)
    assert n_formulas > 30


@built
def test_every_method_data_set_and_page_of_docs_is_on_the_site():
    pages = {path.relative_to(SITE).with_suffix("").as_posix() for path in SITE.rglob("*.html")}
    assert pages >= {f"method/{users[0]}" for _, users in classes()} | {f"data/{name}" for name in names("dataset")}
    assert pages >= {
        path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")
    }
    assert pages >= {"leaderboard", "data", "notebook", "api", "contributing", "search"}


@built
def test_nothing_is_asked_of_another_host_and_every_link_leads_to_a_file():
    for path in (path for path in SITE.rglob("*.html") if "_static" not in path.parts):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=.(?:https?:)?//", text), path
        for link in re.findall(r"<(?:a|link|img|script)\b[^>]*? (?:href|src)=\"([^\"#?]+)", text):
            if not urlsplit(link).scheme:
                assert (path.parent / unquote(link)).exists(), (path, link)


@built
def test_formulas_are_mathematics_on_the_page_of_every_method():
    for target, users in classes():
        page = (SITE / f"method/{users[0]}.html").read_text(encoding="utf-8")
        n = len(DISPLAY.findall(inspect.getdoc(load_class(target))))
        assert page.count('<div class="formula"><math') == n, target


@built
@pytest.mark.skipif(browser.find_chromium() is None, reason="no Chromium here: apt-get install chromium")
def test_the_leaderboard_has_the_means_and_intervals_of_other_data_and_sizes_that_python_computes():
    board = Board(Study.open(ROOT / "results", "reference/fair"))
    with browser.open_page(SITE / "leaderboard.html") as page:
        assert page.run("document.querySelectorAll('#curves polyline').length") > 3
        kinds = "new Set([...document.querySelectorAll('#board tbody tr')].filter((row) => !row.hidden)"
        assert page.run(f"[...{kinds}.map((row) => row.cells[7].textContent))].sort()") == ["baseline", "method"]
        faces = [name for name in board.choice.datasets if family_of(name) == "faces"]
        for data, place, datasets, size in (("tested:", "2", board.tested, 50), ("family:faces", "0", faces, 10)):
            for name, value in (("data", data), ("size", place)):
                page.run(f"form.elements.{name}.value = {json.dumps(value)}")
            page.run("update()")
            values = board.gains["nmi", size].xs("mcfs", level="method").reindex(datasets).to_numpy()[:, None]
            mean, low, high = t_intervals(family_means(values, [family_of(dataset) for dataset in datasets]))
            text = page.run("document.querySelector('[data-m=mcfs]').cells[3].textContent").replace("−", "-")
            found = [float(number) for number in re.findall(r"[-+]?\d+\.\d", text)]
            assert found == pytest.approx([value[0] for value in (mean, low, high) if np.isfinite(value[0])], abs=0.16)


@built
@pytest.mark.skipif(browser.find_chromium() is None, reason="no Chromium here: apt-get install chromium")
@pytest.mark.parametrize("page", ["index", "leaderboard", "method/dgufs", "data/umist", "findings"])
def test_a_page_from_disk_fits_a_phone_and_asks_for_nothing(page):
    with browser.open_page(SITE / f"{page}.html", 390, 844, dark=True) as opened:
        assert opened.run("document.documentElement.scrollWidth") == 390
        assert not opened.errors and all(address.startswith(("file:", "data:")) for address in opened.requests)
