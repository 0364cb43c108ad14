"""The errors that several parts raise, and what becomes of an exit that a method asks for."""

import errno
import os
import signal
import sys
import traceback
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
    """A method, or a package that it imports, called sys.exit or os._exit."""


def remedy_of(error):
    """Return what to do where a file cannot be written, for an OSError."""
    return REMEDIES.get(error.errno, "mend that")


@contextmanager
def exits_as_errors():
    """Turn sys.exit, os._exit and a raised SystemExit inside this block into `ProcessEnded`.

    An exit from compiled code cannot be caught.  A copy of this process that is forked inside the block ends with
    the block, as everything after it is done by the original process.
    """
    owner, leave, streams = os.getpid(), os._exit, (sys.stdout, sys.stderr)

    def refused(status):
        if os.getpid() != owner:
            leave(status)
        raise ProcessEnded(f"the method called os._exit({status}), which ends the process: let it raise an error.")

    os._exit = refused
    try:
        yield
    except CommandEnded:
        raise
    except KeyboardInterrupt as error:
        if os.getpid() != owner or _interrupts_raise():
            raise
        words = "the method raised KeyboardInterrupt, which ends the process: let it raise an error."
        raise ProcessEnded(words) from error
    except SystemExit as error:
        if os.getpid() != owner:
            raise
        words = f"the method called sys.exit({error.code!r:.80}), which ends the process: let it raise an error."
        raise ProcessEnded(words) from error
    except BaseException as error:
        if isinstance(error, Exception) or os.getpid() != owner:
            raise
        words = f"the method raised {type(error).__name__}, which is no Exception: let it raise an error."
        raise ProcessEnded(words) from error
    finally:
        os._exit = leave
        sys.stdout, sys.stderr = streams  # what the method has put there is gone with it
        if os.getpid() != owner:
            _leave_copy(leave)


def _interrupts_raise():
    """Return True where Ctrl-C raises KeyboardInterrupt: outside commands (`guard`), and not in their workers."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler and signal.SIGINT not in blocked


def _leave_copy(leave):
    """End a forked copy with the exit status and the message with which Python itself would end it."""
    error = sys.exception()
    if error is not None and not isinstance(error, SystemExit):
        traceback.print_exception(error)
    code = getattr(error, "code", 1) if error is not None else 0
    leave(code if isinstance(code, int) else int(code is not None))
