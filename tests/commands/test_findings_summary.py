"""The findings on two pages."""

from itertools import pairwise

from scripts.findings.__main__ import STUDY
from scripts.findings.findings_page import sentences
from scripts.findings.summary import save_summary, text_page


def test_two_pages_are_written_with_the_same_bytes(settings, tmp_path):
    for name in ("a.pdf", "b.pdf"):
        save_summary(STUDY, settings, tmp_path / name)
    content = (tmp_path / "a.pdf").read_bytes()
    assert content == (tmp_path / "b.pdf").read_bytes() and b"/Count 2" in content
    assert b"/Type3" not in content and b"/CIDFontType2" in content  # as the text is coded


def test_every_sentence_is_on_the_page_below_the_one_before(settings):
    figure = text_page(STUDY, settings)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.texts]
    assert len(boxes) == len(sentences(settings)) + 2
    for upper, lower in pairwise(boxes):
        assert lower.y1 <= upper.y0
    assert all(box.x1 < figure.bbox.x1 for box in boxes) and boxes[-1].y0 > 0
    assert not any(mark in text.get_text() for text in figure.texts for mark in ("**", "](", "`"))
