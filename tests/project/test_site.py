"""The web site: its formulas are whole, and what `make site` wrote has every page and asks nothing of other hosts."""

import inspect
import re
from urllib.parse import unquote, urlsplit

import pytest

from runners.experiment.method import load_class
from scripts.core.conf import ROOT, names
from scripts.docs.formula import DISPLAY, to_latex, to_rst
from scripts.method_notes import classes

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
    assert pages >= {"leaderboard", "data", "api", "notebook", "contributing", "search"}


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
