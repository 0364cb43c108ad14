"""What a fit may take: its seconds and its memory, watched from outside, so that compiled code is ended, too."""

from dataclasses import dataclass

from metrics.study import OUT_OF_MEMORY, TIMEOUT

MB_PER_GB = 1024  # as peak_mb counts


@dataclass(frozen=True)
class Caps:
    """What one fit may take; a cap of None is none.

    Attributes
    ----------
    max_seconds : float, optional
    max_memory : float, optional
        GB of the process that fits, as ``peak_mb`` counts them: with the interpreter and the data.
    """

    max_seconds: float | None = None
    max_memory: float | None = None

    def __bool__(self):
        return self.max_seconds is not None or self.max_memory is not None

    def reached(self, seconds, peak_mb):
        """How a fit that has spent this ends now; None while it may go on.

        Parameters
        ----------
        seconds, peak_mb : float

        Returns
        -------
        Stopped or None
        """
        spent = f"ended after {seconds:.1f} s and {peak_mb:.0f} MB"
        if self.max_memory is not None and peak_mb > MB_PER_GB * self.max_memory:
            return Stopped(OUT_OF_MEMORY, f"beyond runner.max_memory={self.max_memory:g} GB: {spent}", seconds, peak_mb)
        if self.max_seconds is not None and seconds > self.max_seconds:
            return Stopped(TIMEOUT, f"beyond runner.max_seconds={self.max_seconds:g}: {spent}", seconds, peak_mb)
        return None


@dataclass(frozen=True)
class Stopped:
    """A fit that was ended at a cap.

    Attributes
    ----------
    status : {"timeout", "out_of_memory"}
    error : str
        The cap, and what was spent.
    fit_s, peak_mb : float
    """

    status: str
    error: str
    fit_s: float
    peak_mb: float
