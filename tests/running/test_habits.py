"""A run goes on whatever methods and files of users do, and nothing outside the study is touched."""

import io
import sys

import pytest

from ufs_bench.runners import progress
from ufs_bench.runners.experiment.notes import note_log
from ufs_bench.runners.messages import ConfigError, exits_as_errors
from ufs_bench.runners.workers.fit import _failed
from ufs_bench.scripts.core.text import write


def test_an_error_with_half_a_letter_can_be_stored(tmp_path):
    error = _failed(ValueError("a \udce9 b"))["error"]
    assert error.encode("utf-8") and "\\udce9" in error

    class Outcome:
        log, trial = "ValueError: \udce9", {"trial": "1", "params": "{}", "sizes": "[1]"}

    note_log(tmp_path, Outcome)
    assert "\\udce9" in (tmp_path / "run.log").read_text(encoding="utf-8")


def test_streams_that_a_method_takes_away_come_back():
    before = sys.stdout, sys.stderr
    with exits_as_errors():
        sys.stdout = sys.stderr = None
    assert (sys.stdout, sys.stderr) == before


def test_a_link_out_of_the_folder_is_not_written_through(tmp_path):
    (tmp_path / "study").mkdir()
    other = tmp_path / "other"
    other.write_text("mine")
    for name in ("run.log", "table.csv"):
        (tmp_path / "study" / name).symlink_to(other)

    class Outcome:
        log, trial = "words", {"trial": "1", "params": "{}", "sizes": "[1]"}

    with pytest.raises(OSError):
        note_log(tmp_path / "study", Outcome)
    with pytest.raises(ConfigError, match="is a link out of its folder"):
        write("text", tmp_path / "study" / "table.csv")
    assert other.read_text() == "mine"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_run_that_is_to_print_nothing_has_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    for wanted in (True, False):
        with progress.printed(wanted):
            bar = progress.Progress(2)
            bar.say("failed: one")
            bar.close()
        assert ("0/2" in sys.stderr.getvalue()) == wanted
        sys.stderr.truncate(0)
