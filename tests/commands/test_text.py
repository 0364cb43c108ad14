"""Texts on a screen."""

import sys

import pytest

from ufs_bench.scripts.core.text import deliver, for_screen, number, signed


def test_a_terminal_shows_no_tags_and_columns_stay_where_they_are(monkeypatch, capsys):
    row = "| MCFS | <u>54.8±3.9</u> | 49.5 |\n"
    deliver(row)
    assert capsys.readouterr().out == row == for_screen(row)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    deliver(row)
    shown = capsys.readouterr().out
    assert "<" not in shown and "_54.8±3.9_" in shown and len(shown) == len(row)


@pytest.mark.parametrize("value", [-0.0, -0.04, 0.0, 0.04])
def test_what_rounds_to_zero_has_no_minus(value):
    assert (signed(value), number(value, 1)) == ("0.0", "0.0")
