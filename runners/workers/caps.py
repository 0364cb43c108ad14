"""The caps of one fit, and how a fit ends at one."""

import math
from dataclasses import dataclass

from ufs_bench.metrics.study import OUT_OF_MEMORY, TIMEOUT

MB_PER_GB = 1024  # peak_mb counts in units of 1024 * 1024 bytes
# A fit is taken to hang after so many times its CPU seconds, plus so many, by the clock.  The factor allows for a
# machine with ten times as many processes as cores; the seconds leave a fit with a short cap time to read its data.
HANG_TIMES, HANG_S = 10, 60


@dataclass(frozen=True)
class Caps:
    """The caps of one fit; None stands for no cap."""

    # CPU seconds of the process that fits and of those that it forks, so that neither other work on the machine nor
    # Ctrl-Z ends a fit. A fit that waits and computes nothing ends at `clock_limit`.
    max_seconds: float | None = None
    # GB that the same processes may hold, counted like ``peak_mb``: with the interpreter and the data.
    max_memory: float | None = None

    def __bool__(self):
        return self.max_seconds is not None or self.max_memory is not None

    @property
    def clock_limit(self):
        """Seconds by the clock after which a fit is taken to hang; seconds in which it was stopped do not count."""
        return HANG_TIMES * self.max_seconds + HANG_S

    def reached(self, cpu, clock, peak_mb):
        """Return how a fit that has spent this much ends now, a `Stopped`; None while it may go on."""
        spent_s = clock if math.isnan(cpu) else cpu
        spent = f"ended after {cpu:.1f} s of CPU time, {clock:.1f} s by the clock and {peak_mb:.0f} MB"
        if self.max_memory is not None and peak_mb > MB_PER_GB * self.max_memory:
            return Stopped(OUT_OF_MEMORY, f"beyond runner.max_memory={self.max_memory:g} GB: {spent}", spent_s, peak_mb)
        if self.max_seconds is None:
            return None
        if spent_s > self.max_seconds:
            return Stopped(TIMEOUT, f"beyond runner.max_seconds={self.max_seconds:g}: {spent}", spent_s, peak_mb)
        if clock > self.clock_limit:
            limit = f"{HANG_TIMES} times runner.max_seconds={self.max_seconds:g} and {HANG_S} s by the clock"
            return Stopped(TIMEOUT, f"it hangs, beyond {limit}: {spent}", spent_s, peak_mb)
        return None


@dataclass(frozen=True)
class Stopped:
    """A fit that was ended at a cap."""

    status: str  # "timeout" or "out_of_memory"
    error: str  # names the cap and what was spent
    fit_s: float  # CPU seconds, as of a fit that ends by itself; by the clock where the system does not say them
    peak_mb: float
