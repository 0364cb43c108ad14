"""Pages are in plain words, and short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIALECT = [
    r"(that|those) of",
    r"of which",
    r"beside",
    r"in (the )?place of",
    r"leaves? out 0",
    r"(can|could) ?not be told",
    r"(is|are) said",
    r"go(es)? on",
    r"(?<!there )(is|are) no (?!longer|more)\w+",
]
DIALECT = re.compile(rf"\b({'|'.join(DIALECT)})\b", re.IGNORECASE)
ELSEWHERE = {"plan"}  # it is frozen
DOCS = sorted((ROOT / "docs").rglob("*.md"))
MOST_WORDS = 22_000


def prose(page):
    """Return a page without code, and without tables that commands print, which have columns of equal width."""
    text = re.sub(r"<!-- printed.*?<!-- end -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"^ *(?:\d\. )?```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^\|.*\n\|[-|]*-{4}[-|]*\n(\|.*\n)*", "", text, flags=re.MULTILINE)


def words(page):
    return len(re.findall(r"\S*\w\S*", prose(page)))


@pytest.mark.parametrize("page", [ROOT / "README.md", *DOCS], ids=lambda page: page.stem)
def test_a_page_has_the_standard_terms(page):
    if page.stem not in ELSEWHERE:
        text = " ".join(re.sub(r"`[^`]*`", "", prose(page)).split())
        assert [text[max(found.start() - 40, 0) : found.end() + 40] for found in DIALECT.finditer(text)] == []


def test_the_pages_are_short():
    assert sum(map(words, DOCS)) <= MOST_WORDS
    assert not [page.name for page in DOCS if page.stem not in ELSEWHERE and words(page) > 2500]
