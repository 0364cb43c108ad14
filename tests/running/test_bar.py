"""The bar of a cell."""

import io
import sys

from ufs_bench.runners import progress


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
