"""What a method does to end the process that it runs in becomes an error like any other."""

import os
import sys
import traceback
from contextlib import contextmanager


class CommandEnded(SystemExit):
    """Ctrl-C or SIGTERM ends the command: nothing that a method did."""


class ProcessEnded(RuntimeError):
    """A method called sys.exit or os._exit, or what it imports did."""


@contextmanager
def exits_as_errors():
    """Turn what would end this process inside into `ProcessEnded`: sys.exit, os._exit, and a SystemExit that is raised.

    What compiled code does about it, nobody can turn.  A copy of this process that is forked inside ends where this
    block does, as all that comes after it is the original's to do.
    """
    owner, leave = os.getpid(), os._exit

    def refused(status):
        if os.getpid() != owner:
            leave(status)
        raise ProcessEnded(f"the method called os._exit({status}), which ends the process: let it raise an error.")

    os._exit = refused
    try:
        yield
    except CommandEnded:
        raise
    except SystemExit as error:
        if os.getpid() != owner:
            raise
        words = f"the method called sys.exit({error.code!r:.80}), which ends the process: let it raise an error."
        raise ProcessEnded(words) from error
    finally:
        os._exit = leave
        if os.getpid() != owner:
            _leave_copy(leave)


def _leave_copy(leave):
    """End a forked copy with the status, and the words, that Python itself would end with."""
    error = sys.exception()
    if error is not None and not isinstance(error, SystemExit):
        traceback.print_exception(error)
    code = getattr(error, "code", 1) if error is not None else 0
    leave(code if isinstance(code, int) else int(code is not None))
