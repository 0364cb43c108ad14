"""What a fit may take: its seconds and its memory, watched from outside, so that compiled code is ended, too."""

import math
from dataclasses import dataclass

from metrics.study import OUT_OF_MEMORY, TIMEOUT

MB_PER_GB = 1024  # as peak_mb counts
# Beyond so many times its CPU seconds and so many more, by the clock, a fit hangs: a machine with ten times as many
# processes as cores still gives it what it needs, and one with a short cap has the time to read its data.
HANG_TIMES, HANG_S = 10, 60


@dataclass(frozen=True)
class Caps:
    """What one fit may take; a cap of None is none.

    Attributes
    ----------
    max_seconds : float, optional
        CPU seconds of the process that fits and of those that it forks, so that neither other work on the machine nor
        Ctrl-Z ends a fit.  A fit that waits and computes nothing ends at `clock_limit`.
    max_memory : float, optional
        GB of the same processes, as ``peak_mb`` counts them: with the interpreter and the data.
    """

    max_seconds: float | None = None
    max_memory: float | None = None

    def __bool__(self):
        return self.max_seconds is not None or self.max_memory is not None

    @property
    def clock_limit(self):
        """Seconds by the clock, those in which it was stopped left out, after which a fit is taken to hang."""
        return HANG_TIMES * self.max_seconds + HANG_S

    def reached(self, cpu, clock, peak_mb):
        """How a fit that has spent this ends now; None while it may go on.

        Parameters
        ----------
        cpu : float
            CPU seconds; nan where the system does not say, and the seconds by the clock count in their place.
        clock : float
            Seconds by the clock.
        peak_mb : float

        Returns
        -------
        Stopped or None
        """
        spent = f"ended after {cpu:.1f} s of CPU time, {clock:.1f} s by the clock and {peak_mb:.0f} MB"
        if self.max_memory is not None and peak_mb > MB_PER_GB * self.max_memory:
            return Stopped(OUT_OF_MEMORY, f"beyond runner.max_memory={self.max_memory:g} GB: {spent}", clock, peak_mb)
        if self.max_seconds is None:
            return None
        if (clock if math.isnan(cpu) else cpu) > self.max_seconds:
            return Stopped(TIMEOUT, f"beyond runner.max_seconds={self.max_seconds:g}: {spent}", clock, peak_mb)
        if clock > self.clock_limit:
            limit = f"{HANG_TIMES} times runner.max_seconds={self.max_seconds:g} and {HANG_S} s by the clock"
            return Stopped(TIMEOUT, f"it hangs, beyond {limit}: {spent}", clock, peak_mb)
        return None


@dataclass(frozen=True)
class Stopped:
    """A fit that was ended at a cap.

    Attributes
    ----------
    status : {"timeout", "out_of_memory"}
    error : str
        The cap, and what was spent.
    fit_s : float
        Seconds by the clock, as of a fit that ends by itself.
    peak_mb : float
    """

    status: str
    error: str
    fit_s: float
    peak_mb: float
