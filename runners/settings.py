"""What a configuration must look like before anything is done with it."""

from dataclasses import MISSING, dataclass, fields

from joblib import cpu_count

from metrics.protocol import Protocol
from runners.method import ConfigError, did_you_mean


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
        Keep the scores of feature sets for other trials and studies.
    points : {"grid", "default"}
    """

    n_jobs: int
    redo: bool
    cache: bool
    points: str


def read_runner(content):
    """Check the part ``runner`` of a configuration.

    Parameters
    ----------
    content : Mapping

    Returns
    -------
    Runner

    Raises
    ------
    ConfigError
    """
    n_jobs = content["n_jobs"]
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0 or n_jobs < -1:
        raise ConfigError(f"runner.n_jobs={n_jobs!r} must be 1 or more, or -1 for every core.")
    for name in ("redo", "cache"):
        if not isinstance(content[name], bool):
            raise ConfigError(f"runner.{name}={content[name]!r} must be true or false.")
    if content["points"] not in ("grid", "default"):
        raise ConfigError(f"runner.points={content['points']!r} must be grid or default.")
    n_jobs = cpu_count() if n_jobs == -1 else n_jobs
    return Runner(n_jobs, content["redo"], content["cache"], content["points"])


def read_protocol(content):
    """Check the part ``protocol`` of a configuration.

    Parameters
    ----------
    content : Mapping

    Returns
    -------
    Protocol

    Raises
    ------
    ConfigError
    """
    known = {item.name: item.default is item.default_factory is MISSING for item in fields(Protocol)}
    for name in content:
        if name not in known:
            raise ConfigError(
                f"protocol.{name} is not a field of a protocol; it has: {', '.join(known)}.{did_you_mean(name, known)}"
            )
    if lacking := [name for name, needed in known.items() if needed and name not in content]:
        raise ConfigError(f"the protocol lacks {', '.join(lacking)}.")
    try:
        return Protocol(**content)
    except ValueError as error:
        raise ConfigError(str(error)) from error
