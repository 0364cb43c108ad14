"""Checks what is typed on a command line, kinds of values and options with dashes; and narrows the help."""

import contextlib
import io
import math
import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple

from runners.boundary import did_you_mean
from runners.method import ConfigError

COLUMNS = 100  # the width of the help, in characters
MOST_BITS = 1024  # a longer number is printed in hexadecimal: Python refuses to print more than 4,300 digits
MOST_JOBS = 1024
FOLDER = re.compile(r"\w(?:[\w.,+=@()~-]{0,98}[\w,+=@()~-])?")  # a folder's name in any system, without wildcards
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # Windows takes these for no folder
# Hydra's own options; each may be shortened, as argparse allows.
FLAGS = (
    "--help --hydra-help --version --cfg --resolve --package --run --multirun --shell-completion --config-path "
    "--config-name --config-dir --experimental-rerun --info"
).split()


def refused(words):
    """Return what to say of the first word that is an option with dashes, and none of Hydra's; None without any."""
    for place, word in enumerate(words):
        name, given, value = word.partition("=")
        if not re.fullmatch(r"--[a-zA-Z][\w.-]*", name) or any(flag.startswith(name) for flag in FLAGS):
            continue
        following = words[place + 1 : place + 2]
        if not given and following and not following[0].startswith("-") and "=" not in following[0]:
            value = following[0]
        return f"options have no dashes here: write {name[2:].replace('-', '_')}={value or '...'}"
    return None


@contextlib.contextmanager
def narrow_help(words):
    """Print the output of a command in lines of `COLUMNS` where its words ask for help, and unchanged otherwise."""
    if not {"--help", "-h"} & set(words):
        yield
        return
    page = io.StringIO()
    try:
        with contextlib.redirect_stdout(page):
            yield
    finally:  # Hydra may end the command itself
        print("\n".join(narrow(line) for line in page.getvalue().rstrip().splitlines()), flush=True)


def narrow(line):
    """Return a line of help as lines of at most `COLUMNS`; what explains a command goes below it."""
    indent = " " * (len(line) - len(line.lstrip()))
    parts = re.split(r" {3,}", line.strip(), maxsplit=1) if len(line) > COLUMNS else [line.strip()]
    return "\n".join(
        textwrap.fill(
            part, COLUMNS, initial_indent=indent + "      " * place, subsequent_indent=indent + "      ",
            break_long_words=False, break_on_hyphens=False,
        )
        for place, part in enumerate(parts)
    )  # fmt: skip


def check_name(what, name):
    """Refuse a name that cannot be a folder of its own inside the results; `what` is such as ``study``."""
    if not isinstance(name, str):
        example = f"s{name}" if isinstance(name, int) else "mine"
        raise ConfigError(f"{what}={shown(name)} must be a text, such as {what}={example}.")
    if not FOLDER.fullmatch(name):
        raise ConfigError(
            f"{what}={shown(name)} must be a name of 1 to 100 letters, digits and -+_.,=@~() that begins with a letter "
            "or digit: it is a folder inside the results."
        )
    if DEVICES.fullmatch(name):
        raise ConfigError(f"{what}={name} is the name of a device in Windows, which has no such folder: add a letter.")


def shown(value):
    """Return a value as it is printed in an error: on one line, and shortened."""
    text = hex(value) if type(value) is int and value.bit_length() > MOST_BITS else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def typed(value):
    """Return a value as it is typed on a command line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return value if isinstance(value, str) and value.isidentifier() and len(value) <= 80 else shown(value)


class Kind(NamedTuple):
    """A kind of values that an option may take."""

    words: str  # the words after "must be"
    holds: Callable  # returns True for a value of this kind


def check_fields(what, content, kinds, needed=(), prefix=""):
    """Refuse unknown fields, missing ones that are needed, and values of another kind, with a ConfigError.

    `what` has the fields, such as "the runner"; `prefix` stands before the name of a field whose value is wrong.
    """
    known = ", ".join(kinds)
    for name in content:
        if name not in kinds:
            raise ConfigError(f"{what} has no option {typed(name)}.{did_you_mean(name, kinds)} It has: {known}.")
    if lacking := [name for name in needed if name not in content]:
        raise ConfigError(f"{what} lacks {', '.join(lacking)}. It has: {known}.")
    for name, value in content.items():
        if not kinds[name].holds(value):
            raise ConfigError(f"{prefix}{name}={typed(value)} must be {kinds[name].words}.")


def one_of(*options):
    """Return the kind that takes one of these values, of the same type: true is not 1."""
    words = ", ".join(map(typed, options))
    return Kind(f"one of {words}", lambda value: any(type(value) is type(own) and value == own for own in options))


def number(low, high):
    """Return the kind that takes a finite number above `low` and below `high`."""
    return Kind(
        f"a number above {low:g} and below {high:g}",
        lambda value: type(value) in (int, float) and math.isfinite(value) and low < value < high,
    )


def whole(low, high):
    """Return the kind that takes an integer from `low` to `high`."""
    return Kind(f"a whole number from {low} to {high}", lambda value: type(value) is int and low <= value <= high)


def optional(kind):
    """Return the kind that takes a value of this kind, or null."""
    return Kind(f"{kind.words}, or null", lambda value: value is None or kind.holds(value))


def listed(kind):
    """Return the kind that takes a list of one or more values of this kind."""
    return Kind(f"a list, each {kind.words}", lambda value: _is_list_of(kind, value))


def one_or_more(kind):
    """Return the kind that takes a value of this kind, or a list of them."""
    return Kind(f"{kind.words}, or a list of such", lambda value: kind.holds(value) or _is_list_of(kind, value))


def mapping(kind):
    """Return the kind that takes a mapping of names to values of this kind."""
    return Kind(
        f"as {{alpha: ...}}, with {kind.words}",
        lambda value: isinstance(value, dict) and all(_is_text(key) and kind.holds(own) for key, own in value.items()),
    )


def either(*kinds):
    """Return the kind that takes a value of any of these kinds."""
    return Kind(" or ".join(kind.words for kind in kinds), lambda value: any(kind.holds(value) for kind in kinds))


def _is_list_of(kind, value):
    return isinstance(value, list) and len(value) > 0 and all(map(kind.holds, value))


def _is_text(value):
    return isinstance(value, str) and value != ""


def is_name(value):
    try:
        check_name("", value)
    except ConfigError:
        return False
    return True


def _is_value(value):
    return value is None or isinstance(value, bool | str) or (type(value) in (int, float) and math.isfinite(value))


FLAG = one_of(True, False)
NAME = Kind(
    "a text of 1 to 100 letters, digits and -+_.,=@~() that begins with a letter or digit; a number in quotes, such as "
    "\"'2024'\"",
    is_name,
)
PATH = Kind("the path of a file or folder", lambda value: _is_text(value) and "\0" not in value and bool(value.strip()))
TEXT = Kind("a text", _is_text)
VALUE = Kind("a finite number, a text, true, false or null", _is_value)
JOBS = Kind(f"-1 for every core, or 1 to {MOST_JOBS}", either(one_of(-1), whole(1, MOST_JOBS)).holds)
POINTS = either(one_of("grid", "sample", "default"), whole(1, 10**6))  # of a method's grid
ANY = Kind("anything", lambda value: True)
