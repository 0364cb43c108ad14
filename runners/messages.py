"""The errors that several parts raise, and the words of messages: numbers, seconds, values and near names."""

import difflib
import errno
import math
import sys
from contextlib import contextmanager

QUOTES = "Put quotes within quotes around a text with brackets, braces or letters beyond ASCII: 'label=\"a (b)\"'."
MOST_BITS = 1024  # a longer number is printed in hexadecimal: Python refuses to print more than 4,300 digits
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
    except (Exception, CommandEnded, KeyboardInterrupt):
        raise
    except BaseException as error:
        called = isinstance(error, SystemExit)
        words = f"called sys.exit({error.code!r:.80})" if called else f"raised {type(error).__name__}"
        raise ProcessEnded(f"the method {words}, which ends the process: let it raise an error.") from error
    finally:
        sys.stdout, sys.stderr = streams  # what the method has put there is gone with it


def counted(number, noun):
    """Return a number with its noun: "1 trial", "2 trials"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds):
    """Return seconds as a text: "unknown", "40 s", "12 min", "3.4 h"."""
    if math.isnan(seconds):
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def did_you_mean(name, known):
    """Return a sentence, after a space, with the nearest of the known names; "" where none is near."""
    lower = {str(one).lower(): one for one in known}
    close = difflib.get_close_matches(str(name).lower(), list(lower), 1)
    return f" Did you mean {lower[close[0]]}?" if close else ""


def shown(value):
    """Return a value as it is printed in an error: on one line, and shortened."""
    text = hex(value) if type(value) is int and value.bit_length() > MOST_BITS else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def typed(value):
    """Return a value as it is typed on a command line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return value if isinstance(value, str) and value.isidentifier() and len(value) <= 80 else shown(value)
