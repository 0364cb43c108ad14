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
import os
import re
import signal
import sys
import threading
import traceback
from collections import Counter
from contextlib import contextmanager, suppress
from os import _exit  # the original, as a fit that runs in this process may replace `os._exit`

from ufs_bench.runners.errors import NO_ROOM, CommandEnded, remedy_of, unprinted
from ufs_bench.runners.words import QUOTES, did_you_mean

A_FILE = "a file"  # stands for a file whose name is not known
TOO_LONG = re.compile(r"integer string conversion: value has (\d+) digits")  # the text of Python's own error
READERS = ("hydra", "omegaconf", "yaml", "antlr4", "json")
MOST_FRAMES = 100  # so many of the deepest frames are printed: they show the circle
INTERRUPTED = 130
PATIENCE = 10  # seconds after which a command that was told to end, and goes on, is told again
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

    Call it in the first lines of a command, so that errors during its imports are caught, too.  A second SIGTERM
    changes nothing, as the first one is being followed; a second Ctrl-C ends the process at once.

    The exception that ends the command is raised wherever the signal came.  Python drops it in a finalizer: it is
    raised again after it then.  Other code may raise an error of its own while it is cut off (OmegaConf does so while
    it copies): that error only shows that the command ends, and where something goes on after it, the exception is
    raised again after `PATIENCE` seconds.
    """

    def stop(number, _):
        if not _followed and number == signal.SIGINT:
            print(f"\n{interrupted}", file=sys.stderr, flush=True)
        _followed.append(number)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, lambda *_: _exit(INTERRUPTED))
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        # Threads and finalizers (such as loky's) that are cut off may print errors, which help nobody.
        threading.excepthook, sys.unraisablehook = lambda _: None, dropped
        raise CommandEnded(128 + _followed[0])

    def dropped(what):
        if what.exc_type is CommandEnded:
            signal.setitimer(signal.ITIMER_REAL, 0.01)  # not at once, as it would be dropped again

    def hook(kind, error, trace):
        _end_if_followed()
        words = words_of(error)
        if isinstance(error, BrokenPipeError):
            _silence_stdout()
        elif words is None:
            sys.__excepthook__(kind, error, trace)
        else:
            print(f"error: {words}", file=sys.stderr, flush=True)

    sys.excepthook = hook
    atexit.register(_leave)  # the last of its kind to be called, as it is the first of them
    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # it is ignored in a job in the background
        signal.signal(signal.SIGINT, stop)


def _leave():
    """End the process where a signal asked for it, before Python takes modules apart whose import was cut off."""
    if _followed:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # a reader that went away, a stream that is closed
                stream.flush()
        _exit(128 + _followed[0])


def _end_if_followed():
    """End the process where a signal has asked for it, and an error came up on the way."""
    if _followed:
        raise CommandEnded(128 + _followed[0]) from None


def end(words, status):
    """Print a line to the standard error and end the process."""
    print(words, file=sys.stderr, flush=True)
    raise SystemExit(status) from None


def words_of(error):
    """Return an error as a text for whoever typed the command; None for a mistake in the code."""
    # Before the others, as a missing file of conf/ is an OSError, too.
    if type(error).__module__ == "hydra.errors" and (words := _words_of_hydra(error)):
        return words
    if isinstance(error, OSError):
        return words_of_os(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if isinstance(error, UnicodeDecodeError):
        return f"{_file_of(error)} is not UTF-8 text: {error.reason} at byte {error.start}"
    if isinstance(error, RecursionError):
        return _words_of_depth(error)
    if isinstance(error, ValueError) and (digits := TOO_LONG.search(str(error))):
        return f"a whole number has {digits[1]} digits{_in_file(error)}: it must be one of at most 64 bits."
    kinds = {kind.__name__: kind.__module__.removeprefix("ufs_bench.").split(".")[0] for kind in type(error).__mro__}
    if "YAMLError" in kinds:
        return f"a file is not YAML: {' '.join(str(error).split())}"
    if "csv" in kinds.values() or "_csv" in kinds.values() or kinds.get("ParserError") == "pandas":
        return f"a table cannot be read: {error}"
    if kinds.get("HydraException") == "hydra" or kinds.get("OmegaConfBaseException") == "omegaconf":
        cause = error.__cause__
        return "\n".join(dict.fromkeys(str(part).strip() for part in (error, cause) if part is not None))
    if _raised_in(error) == "logging" and isinstance(error.__cause__, OSError):  # Hydra's run.log
        return words_of_os(error.__cause__)
    if any(frame.f_globals.get("__name__") == "logging.config" for frame in _frames(error)):
        causes = f"{error}: {error.__cause__}" if error.__cause__ else f"{error}"
        return f"hydra.job_logging or hydra.hydra_logging is not as Python's logging.config takes it: {causes}."
    if _raised_in(error) in ("hydra", "omegaconf"):  # Hydra raises plain ValueErrors, too
        return str(error).strip() or None
    # Our own errors are meant to be read; those of other packages with the same class are not.
    ours = {"ConfigError", "DataError", "StoreError", "CodeChanged", "ProcessEnded"}
    return str(error) if ours & {name for name, module in kinds.items() if module in ("runners", "datasets")} else None


def _words_of_hydra(error):
    """Return the answer to a word, a name or a key that Hydra does not know, shorter than its own; None for others."""
    file, options = getattr(error, "missing_cfg_file", None), getattr(error, "options", None)
    if file and options:
        group, _, name = file.rpartition("/")
        hint = did_you_mean(name, options) or f" There are: {', '.join(options)}."
        return f"{group}={name}: there is no {group} of this name.{hint}"
    if several := re.match("Ambiguous value for argument '(.*)'", str(error)):
        return f"{several[1]} has several values: add -m for a sweep over them."
    if "override_grammar" in str(error):
        return f"{str(error).partition('See https:')[0].strip()}. {QUOTES}"
    cause = error.__cause__
    key, there = getattr(cause, "full_key", None), getattr(cause, "parent_node", None)
    if key and "is not in struct" in str(cause) and hasattr(there, "keys"):
        *above, name = key.split(".")
        known = [str(one) for one in there if one != "hydra"]
        if above == ["method", "params"]:  # those of the class, as a file has few of them
            known = _parameters_of(there._get_parent()) or known
            if name in known:
                return f"{key} is not in the file of the method: write +{key}=... to add it."
        hint = did_you_mean(name, known)
        what = f" of {'.'.join(above)}" if above else ""
        if above == ["method", "grid"]:  # as Hydra composes a sweep of several methods, it is that of the default one
            own = _parameters_of(there._get_parent())
            hint = "" if name in own else did_you_mean(name, [*known, *own])
            key_of_any = "method.grid.NAME" if hint else key
            hint += f" ++{key_of_any}=... gives one to every method of the command that has the parameter."
        from ufs_bench.metrics.protocol import OPTIONAL, USUAL  # here, as few errors need it

        if above == ["protocol"] and name in {*OPTIONAL, *USUAL}:
            return f"{key} is not in the file of the protocol: write +{key}=... to add it."
        return f"{key} is no option{what}.{hint or ' There are: ' + ', '.join(known) + '.'}"
    return None


def _parameters_of(method):
    """Return the parameters that a configuration may set of the class of a method; none where it cannot be had."""
    from omegaconf import OmegaConf

    from ufs_bench.runners.errors import ConfigError
    from ufs_bench.runners.experiment.method import RESERVED, load_class, parameters_of  # here, as few errors need it

    try:
        found = parameters_of(load_class(OmegaConf.select(method, "target", default="")))
        return [name for name in found if name not in RESERVED]
    except ConfigError:
        return []


def _words_of_depth(error):
    """Say which configuration is nested too deeply; return None for a recursion in other code."""
    frames = _frames(error)
    packages = Counter(frame.f_globals.get("__name__", "").split(".")[0] for frame in frames)
    if any(frame.f_code.co_name == "_create_defaults_tree_impl" for frame in frames[-MOST_FRAMES:]):
        nodes = [frame.f_locals["parent"] for frame in frames if "parent" in frame.f_locals]
        found = [node.get_config_path() for node in nodes if hasattr(node, "get_config_path")]
        circle = list(dict.fromkeys(found[-MOST_FRAMES:]))
        return f"the defaults of these files name each other: {', '.join(map(str, circle))}. Remove one of them."
    if packages.most_common(1)[0][0] in READERS or frames[-1].f_code.co_name == "check_values":
        return f"values are nested too deep{_in_file(error)}: a value is a number, a text, or a list of these."
    return None


def _in_file(error):
    """Return the file that was being read, as " in FILE"; "" where it was no file."""
    path = _file_of(error)
    return "" if path == A_FILE else f" in {path}"


def _raised_in(error):
    """Return the package whose code raised an error."""
    frames = _frames(error)
    return frames[-1].f_globals.get("__name__", "").split(".")[0] if frames else ""


def _file_of(error):
    """Return the file that was read, from the frames of Hydra, OmegaConf and pathlib; the error does not name it."""
    for frame in reversed(_frames(error)):
        for name in ("full_path", "file_", "filename", "path"):
            found = frame.f_locals.get(name)
            if isinstance(found, str | os.PathLike) and os.path.isfile(found):
                return os.fspath(found)
    return A_FILE


def _frames(error):
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]


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
