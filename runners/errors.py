"""The errors that several parts raise, and what becomes of an exit that a method asks for."""

import errno
import signal
import sys
from contextlib import contextmanager

NO_ROOM = {
    errno.EFBIG: "raise the limit on the size of files",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room"),
}
REMEDIES = NO_ROOM | dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "get the right to write there")
unprinted = []  # the error of the first line of the log that could not be printed, which a command says at its end


class ConfigError(ValueError):
    """A configuration cannot be run; this is found before any work."""


class StoreError(RuntimeError):
    """Results cannot be written or read; nothing stored earlier is lost."""


class CommandEnded(SystemExit):
    """Ctrl-C or SIGTERM ends the command, and not something that a method did."""


class ProcessEnded(RuntimeError):
    """A method, or a package that it imports, called sys.exit, or raised what is no Exception."""


def remedy_of(error):
    """Return what to do where a file cannot be written, for an OSError."""
    return REMEDIES.get(error.errno, "mend that")


@contextmanager
def exits_as_errors():
    """Turn what would end the process inside this block, as sys.exit does, into `ProcessEnded`; os._exit stays one."""
    streams = sys.stdout, sys.stderr
    try:
        yield
    except (Exception, CommandEnded):
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and _interrupts_raise():
            raise
        called = isinstance(error, SystemExit)
        words = f"called sys.exit({error.code!r:.80})" if called else f"raised {type(error).__name__}"
        raise ProcessEnded(f"the method {words}, which ends the process: let it raise an error.") from error
    finally:
        sys.stdout, sys.stderr = streams  # what the method has put there is gone with it


def _interrupts_raise():
    """Return True where Ctrl-C raises KeyboardInterrupt: outside commands (`guard`), and not in their workers."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler and signal.SIGINT not in blocked
