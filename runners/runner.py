"""The part ``runner`` of a configuration: how trials are run, whatever they are."""

from dataclasses import dataclass

from metrics.study import FAILED, UNSCORED
from runners.caps import Caps
from runners.memory import CAN_WATCH
from runners.method import ConfigError


@dataclass(frozen=True)
class Runner:
    """A file of conf/runner.

    Attributes
    ----------
    n_jobs : int
        Worker processes, 1 or more.
    redo : bool
        Compute what is stored again.
    cache : bool
        Keep the scores of feature sets for other trials and studies, and take the trials that another study has.
    points : {"grid", "sample", "default"}
        All of the grid, `runners.grid.diagonal` of it, or the default parameters.
    max_seconds, max_memory : float, optional
        Caps of one fit with what it forks, in CPU seconds and GB; a fit beyond them is ended.
    retry : tuple of str
        Statuses, of `UNSCORED`, with which a stored trial is run again.
    changed : {"redo", "keep"}
        What becomes of stored trials of other code, packages or machines: they are run again, or kept as they are.
    plan : bool
        Only say what would be run, and how long it would take.
    """

    n_jobs: int
    redo: bool
    cache: bool
    points: str
    max_seconds: float | None = None
    max_memory: float | None = None
    retry: tuple = (FAILED,)
    changed: str = "redo"
    plan: bool = False

    @property
    def caps(self):
        """What a fit may take."""
        return Caps(self.max_seconds, self.max_memory)


def check_caps(content):
    """Refuse a cap in the part ``runner`` of a configuration that cannot be meant, or kept on this system."""
    for name, unit in (("max_seconds", "CPU seconds"), ("max_memory", "GB")):
        value = content.get(name)
        if value is not None and (type(value) not in (int, float) or value <= 0):
            raise ConfigError(f"runner.{name}={value!r:.80} must be a number of {unit} above 0, or null for no cap.")
    if content.get("max_memory") is not None and not CAN_WATCH:
        raise ConfigError("runner.max_memory needs Linux, which says what a process holds: set it to null.")


def read_retry(value):
    """The statuses of `runner.retry`, one or a list."""
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) and word in UNSCORED for word in words):
        raise ConfigError(f"runner.retry={value!r:.80} must be a list of {', '.join(UNSCORED)}, such as [timeout].")
    return tuple(words)
