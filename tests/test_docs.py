"""What is printed from the code is printed from this code."""

import inspect
from pathlib import Path

import pytest

from runners.grid import load_class
from scripts._conf import CONF, read
from scripts.method_notes import method_notes, sections

ROOT = Path(__file__).resolve().parents[1]
CLASSES = sorted({read(path)["target"] for path in (CONF / "method").glob("*.yaml")})


def test_the_notes_on_the_methods_are_those_of_the_docstrings():
    stored = (ROOT / "docs/methods.md").read_text()
    assert stored == method_notes(), "run: python -m scripts.method_notes > docs/methods.md"


@pytest.mark.parametrize("target", CLASSES)
def test_a_method_with_a_source_says_where_it_departs_and_what_goes_wrong(target):
    found = sections(inspect.getdoc(load_class(target)))
    if "References" in found:
        assert "*Differs from" in found["Notes"]
        assert "*Known pathologies" in found["Notes"]


def test_a_docstring_is_split_at_its_titles():
    text = "One line.\n\nParameters\n----------\na : int\n\nNotes\n-----\nNothing - or\n--- little."
    assert sections(text) == {"": "One line.", "Parameters": "a : int", "Notes": "Nothing - or\n--- little."}
