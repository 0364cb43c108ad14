"""The renderer of pages: parts that come and go, texts in lines, and marks that a format would read as its own."""

import re

import jinja2
import pytest

from ufs_bench.scripts.core.text import FOLDER, environment, number, render, signed, wrapped
from ufs_bench.scripts.make_table.formats import tex


@pytest.fixture
def templates(monkeypatch, tmp_path):
    """Return a function that writes a template, in the place of those of scripts/."""
    monkeypatch.setattr("ufs_bench.scripts.core.text.FOLDER", tmp_path)
    environment.cache_clear()
    yield lambda name, text: (tmp_path / name).write_text(text, encoding="utf-8")
    environment.cache_clear()


def test_a_part_that_is_empty_leaves_one_empty_line_and_a_table_has_columns_of_one_width(templates):
    templates("page.md.j2", "# {{ title }}\n\n{% if part %}\n{{ part }}\n\n{% endif %}\n\n{{ lines | table }}\n\n\n")
    table = "| a   | b |\n|-----|---|\n| one | 2 |"
    lines = [["a", "b"], ["one", "2"]]
    assert render("page.md.j2", title="A", part="", lines=lines) == f"# A\n\n{table}\n"
    assert render("page.md.j2", title="A", part="Some.", lines=lines) == f"# A\n\nSome.\n\n{table}\n"


def test_html_escapes_what_a_name_holds_and_latex_its_own_marks(templates):
    templates("page.html.j2", "{{ name }}")
    assert render("page.html.j2", name="<b>'") == "&lt;b&gt;&#39;"
    assert tex("a_b & 5 %") == r"a\_b \& 5 \%"


def test_a_value_that_a_page_lacks_is_an_error_and_no_gap(templates):
    templates("page.md.j2", "{{ lacking }}")
    with pytest.raises(jinja2.UndefinedError, match="lacking"):
        render("page.md.j2")


def test_lines_of_markdown_keep_words_with_hyphens():
    text = wrapped("word " * 23 + "K-means and more")
    assert text.splitlines()[1] == "K-means and more" and max(map(len, text.splitlines())) <= 120


def test_every_template_is_named_by_some_module_or_stands_beside_the_one_of_its_name():
    text = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.rglob("*") if path.suffix in (".py", ".j2"))
    for path in FOLDER.rglob("*.j2"):
        name = path.name.split(".")[0]
        assert re.search(rf'"([\w/]+/)?{name}\.', text) or path.with_name(f"{name}.py").exists(), path


@pytest.mark.parametrize("value", [-0.0, -0.04, 0.0, 0.04])
def test_what_rounds_to_zero_has_no_minus(value):
    assert (signed(value), number(value, 1)) == ("0.0", "0.0")
