"""The part ``runner`` of a configuration: how trials are run, but not which."""

from dataclasses import dataclass

from metrics.study import FAILED, UNSCORED
from runners.caps import Caps
from runners.memory import CAN_WATCH
from runners.method import ConfigError


@dataclass(frozen=True)
class Runner:
    """The content of a file of conf/runner.

    Attributes
    ----------
    n_jobs : int
        Number of worker processes, at least 1.
    redo : bool
        Compute what is stored again.
    cache : bool
        Keep the scores of feature sets for other trials and studies, and take the trials that another study has.
    points : {"grid", "sample", "default"}
        The whole grid, its sample by `runners.grid.diagonal`, or the default parameters.
    max_seconds, max_memory : float, optional
        Caps of one fit and the processes it forks, in CPU seconds and GB; a fit beyond them is ended.
    retry : tuple of str
        Statuses, of `UNSCORED`, with which a stored trial is run again.
    changed : {"redo", "keep"}
        Run stored trials of other code, packages or machines again, or keep them as they are.
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
        """The caps of one fit."""
        return Caps(self.max_seconds, self.max_memory)


def check_caps(content):
    """Refuse a cap that makes no sense, or that this system cannot enforce."""
    for name, unit in (("max_seconds", "CPU seconds"), ("max_memory", "GB")):
        value = content.get(name)
        if value is not None and (type(value) not in (int, float) or value <= 0):
            raise ConfigError(f"runner.{name}={value!r:.80} must be a number of {unit} above 0, or null for no cap.")
    if content.get("max_memory") is not None and not CAN_WATCH:
        raise ConfigError("runner.max_memory needs Linux, which says what a process holds: set it to null.")


def read_retry(value):
    """Return the statuses of `runner.retry`, which may be one or a list."""
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) and word in UNSCORED for word in words):
        raise ConfigError(f"runner.retry={value!r:.80} must be a list of {', '.join(UNSCORED)}, such as [timeout].")
    return tuple(words)
