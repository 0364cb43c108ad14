"""Prints how a run goes: lines, and on a terminal the bar of a cell."""

import logging
import sys
import time
from contextlib import contextmanager

from ufs_bench.metrics.study import FAILED, UNSCORED
from ufs_bench.runners.messages import counted, unprinted

log = logging.getLogger(__name__)
LINE_S = 10  # seconds between two lines about the trials of a cell


class Console(logging.StreamHandler):
    """Prints log records."""

    def handleError(self, record):
        """Note why a line could not be printed, and go on: what is computed is stored all the same."""
        error = sys.exception()
        if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
            super().handleError(record)
        elif not unprinted:
            unprinted.append(error)


def say_compiling():
    """Say why the first run on a machine takes a while; `metrics.kmeans.load_engine` calls it."""
    log.info("  compiling the K-means engine, once on this machine: some ten seconds")


@contextmanager
def printed(wanted=True):
    """Print the lines of a run, which go to the log, inside this block; or, if they are not wanted, none of them."""
    # A configuration of the whole process, as Hydra makes for each of its commands, turns off loggers that it finds.
    handler, level, disabled = logging.StreamHandler(sys.stdout), log.level, log.disabled
    log.addHandler(handler)
    log.setLevel(logging.INFO if wanted else logging.CRITICAL)
    log.disabled = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.disabled = disabled


class Progress:
    """A progress bar on a terminal, and elsewhere a plain line every so many seconds."""

    def __init__(self, total, noun="trial"):
        from tqdm import tqdm  # here, as plans and --help need none

        wanted = log.getEffectiveLevel() < logging.CRITICAL and sys.stderr.isatty()
        self._bar = tqdm(total=total, unit=noun, leave=False, dynamic_ncols=True) if wanted else None
        self._total, self._noun, self._count = total, noun, 0
        self._started = self._last = time.perf_counter()

    def step(self, count, ends):
        """Count trials that ended, and show the statuses so far; a call with none shows that the run is alive."""
        self._count += count
        unscored = {status: ends[status] for status in UNSCORED if ends.get(status)}
        if self._bar is not None:
            if unscored:
                self._bar.set_postfix(unscored)
            self._bar.update(count)
            self._bar.refresh()
            return
        now = time.perf_counter()
        if now - self._last >= LINE_S and self._count < self._total:
            self._last = now
            since = now - self._started
            left = f", about {since / self._count * (self._total - self._count):.0f} s to go" if self._count else ""
            words = ", ".join(f"{count} {status}" for status, count in ({FAILED: 0} | unscored).items())
            log.info(
                "  %d of %s, %s, after %.0f s%s",
                self._count, counted(self._total, self._noun), words, since, left,
            )  # fmt: skip

    def say(self, text):
        """Print a line without tearing the bar."""
        if self._bar is not None:
            self._bar.clear()
        log.warning(text)

    def close(self):
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
