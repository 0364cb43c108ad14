"""The bar of a sweep: one on a terminal, and the lines of the cells where there is none."""

import io
import logging
import sys

from ufs_bench.runners import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def log_to(stream):
    handler = progress.Console(stream)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for level, words in ((logging.INFO, "a line of a cell"), (logging.ERROR, "error: a fault")):
        handler.handle(logging.LogRecord("cell", level, "", 0, words, None, None))


def test_a_bar_stands_for_the_lines_of_cells_and_lets_errors_through(monkeypatch):
    screen = Terminal()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, screen)
    progress.show_bar(2)
    progress.name_cell("mcfs on umist")
    log_to(screen)
    progress.show_trials(3, "25 trials", {"failed": 1})
    progress.end_cell()
    progress.hide_bar()
    shown = screen.getvalue()
    assert "mcfs on umist" in shown and "3 of 25 trials, 1 failed" in shown and "1/2" in shown
    assert "error: a fault" in shown and "a line of a cell" not in shown
    log_to(screen)
    assert "a line of a cell" in screen.getvalue()


def test_lines_are_printed_where_there_is_no_terminal(monkeypatch):
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO())
    progress.show_bar(2)
    log_to(sys.stdout)
    progress.name_cell("mcfs on umist")
    progress.end_cell()
    assert sys.stdout.getvalue() == "a line of a cell\nerror: a fault\n" and not sys.stderr.getvalue()


def test_a_run_that_is_to_print_nothing_has_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    for wanted in (True, False):
        with progress.printed(wanted):
            bar = progress.Progress(2)
            bar.say("failed: one")
            bar.close()
        assert ("0/2" in sys.stderr.getvalue()) == wanted
        sys.stderr.truncate(0)
