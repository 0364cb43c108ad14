"""The edge of every command: an error from outside the code becomes one line, and an exit status.

====  ==========================================================================================
0     all that was asked for is done
1     something could not be done: a wrong value, a file, a full disk, a trial that failed
2     a wrong value of one of Hydra's own options with dashes (argparse)
130   Ctrl-C
143   SIGTERM
====  ==========================================================================================

Any other exception is a mistake in the code, and keeps its traceback.  Nothing here takes long to import, so that a
command can have its boundary before its slow imports.
"""

import atexit
import inspect
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress

from ufs_bench.runners.messages import NO_ROOM, QUOTES, CommandEnded, ConfigError, did_you_mean, remedy_of, unprinted

# Classes of errors that are meant to be read, by name, as most commands import few of them.
OURS = {"ConfigError", "DataError", "StoreError", "CodeChanged", "ProcessEnded"}
OF_FILES = {"HydraException", "OmegaConfBaseException", "YAMLError", "ParserError"}
INTERRUPTED = 130
PATIENCE_S = 5  # seconds after a signal in which a command may end by itself; what is stored is safe at any moment
_followed = []  # signals that have ended this process


@contextmanager
def boundary():
    """Turn what goes wrong inside into a line on the standard error and an exit."""
    try:
        yield
        check_printed()
    except KeyboardInterrupt:
        end("\ninterrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader went away, such as `head`
        _silence_stdout()
        raise SystemExit(1) from None
    except Exception as error:
        _end_if_followed()
        words = words_of(error)
        if words is None:
            raise
        end(f"error: {words}", 1)


def check_printed():
    """Raise an error where something that was printed could not be written, as on a full disk or to a closed pipe."""
    sys.stdout.flush()  # here, and not when Python ends, so that it is reported
    if unprinted:
        raise unprinted[0]


def guard(interrupted="interrupted"):
    """Let Ctrl-C, SIGTERM and whatever `boundary` knows end this process with a line and a status, from now on.

    Call it in the first lines of a command, so that errors during its imports are caught, too.  A second signal ends
    the process at once.
    """

    def stop(number, _):
        if _followed:
            os._exit(128 + number)
        _followed.append(number)
        # Threads and finalizers (such as loky's) that are cut off may print errors, which help nobody.
        threading.excepthook = sys.unraisablehook = lambda _: None
        # Finalizers, and C code of packages, may drop what is raised below, and the command would go on.
        signal.signal(signal.SIGALRM, lambda *_: os._exit(128 + number))
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
        if number == signal.SIGINT:
            with suppress(OSError):  # not by print(), which fails inside one that the signal came in
                os.write(2, f"\n{interrupted}\n".encode())
        raise CommandEnded(128 + number)

    def hook(kind, error, trace):
        _end_if_followed()
        words = words_of(error)
        if isinstance(error, BrokenPipeError):
            _silence_stdout()
        elif words is None:
            sys.__excepthook__(kind, error, trace)
        else:
            print(f"error: {words}", file=sys.stderr, flush=True)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # it is ignored in a job in the background
        signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    sys.excepthook = hook
    atexit.register(_leave)  # the last of its kind to be called, as it is the first of them


def _leave():
    """End the process where a signal asked for it, before Python takes modules apart whose import was cut off."""
    if _followed:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # a reader that went away, a stream that is closed
                stream.flush()
        os._exit(128 + _followed[0])


def _end_if_followed():
    """End the process where a signal has asked for it, and an error came up on the way (OmegaConf raises one)."""
    if _followed:
        raise CommandEnded(128 + _followed[0]) from None


def end(words, status):
    """Print a line to the standard error and end the process."""
    print(words, file=sys.stderr, flush=True)
    raise SystemExit(status) from None


def words_of(error):
    """Return an error as a text for whoever typed the command; None for a mistake in the code."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    # Before the others, as a missing file of conf/ is an OSError, too.
    if "HydraException" in kinds and (words := _words_of_hydra(error)):
        return words
    if isinstance(error, OSError):
        return words_of_os(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if kinds & OF_FILES:
        return " ".join(" ".join(str(part).split()) for part in (error, error.__cause__) if part is not None)
    return str(error) if kinds & OURS else None


def _words_of_hydra(error):
    """Return the answer to a word, a name or a key that Hydra does not know, shorter than its own; None for others."""
    file, options = getattr(error, "missing_cfg_file", None), getattr(error, "options", None)
    if file and options:
        group, _, name = file.rpartition("/")
        hint = did_you_mean(name, options) or f" There are: {', '.join(options)}."
        return f"{group}={name}: there is no {group} of this name.{hint}"
    if "override_grammar" in str(error):
        return f"{getattr(error, 'override', 'a word')} cannot be read. {QUOTES}"
    key, there = getattr(error.__cause__, "full_key", None), getattr(error.__cause__, "parent_node", None)
    if not (key and "is not in struct" in str(error.__cause__) and hasattr(there, "keys")):
        return None
    *above, name = key.split(".")
    known, parent = [str(one) for one in there if one != "hydra"], ".".join(above)
    if parent in ("method.params", "method.grid"):  # those of the class, as a file has few of them
        known += _parameters_of(there._get_parent())
    if parent == "protocol":
        from ufs_bench.metrics.protocol import OPTIONAL, USUAL  # here, as few errors need it

        known += [*OPTIONAL, *USUAL]
    if not parent:
        from ufs_bench.datasets.own import own_spec  # here, as few errors need it

        of_data = list(inspect.signature(own_spec).parameters)
        if name in of_data:
            return f"{name}= is about data=FILE, a table of your own: name its file, too."
        known += of_data
    if name in known:
        return f"{key} is not in the file of the {above[0]}: write ++{key}=... to add it."
    there = [one for one in dict.fromkeys(known) if parent or one not in of_data]
    hint = did_you_mean(name, known) or f" There are: {', '.join(there) or 'none'}."
    return f"{key} is no option{f' of {parent}' if parent else ''}.{hint}"


def _parameters_of(method):
    """Return the parameters that a configuration may set of the class of a method; none where it cannot be had."""
    from ufs_bench.runners.experiment.method import RESERVED, load_class, parameters_of  # here, as few errors need it

    with suppress(ConfigError):
        return [name for name in parameters_of(load_class(method.target)) if name not in RESERVED]
    return []


def words_of_os(error):
    """Return the text of an error of the operating system, with the file that it is about."""
    what = error.strerror or str(error) or type(error).__name__
    if isinstance(error, FileNotFoundError) and error.filename is None:
        what = f"{what}: the folder that the command runs in is gone"
    if lacks_room(error):
        what += f": {remedy_of(error)}, and give the same command again"
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        what += ": a file, or a link that leads nowhere, is in the place of a folder: move it, or take another name"
    files = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"{' -> '.join(files)}: {what}" if files else what


def lacks_room(error):
    """Return True where an error, or the one that it was raised from, is that a disk is full, or a file too large."""
    found = error if isinstance(error, OSError) else error.__cause__
    return isinstance(found, OSError) and found.errno in NO_ROOM


def _silence_stdout():
    """Keep the interpreter from complaining again about the reader that went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
