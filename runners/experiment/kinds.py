"""The kinds of values that options and configurations take, and the refusal of others."""

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.words import did_you_mean, shown, typed

MOST_JOBS = 1024
FOLDER = re.compile(r"\w(?:[\w.,+=@()~-]{0,98}[\w,+=@()~-])?")  # a folder's name in any system, without wildcards


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


class Kind(NamedTuple):
    """A kind of values that an option may take."""

    words: str  # the words after "must be"
    holds: Callable  # returns True for a value of this kind


def check_fields(what, content, kinds, needed=(), prefix=""):
    """Refuse unknown fields, missing ones, and values of another kind, of what has them, such as "the runner"."""
    known = ", ".join(kinds)
    for name in content:
        if name not in kinds:
            raise ConfigError(f"{what} has no option {typed(name)}.{did_you_mean(name, kinds)} It has: {known}.")
    if lacking := [name for name in needed if name not in content]:
        raise ConfigError(f"{what} lacks {', '.join(lacking)}. It has: {known}.")
    for name, value in content.items():
        if not (kind := kinds[name]).holds(value):
            options = re.findall(r"\w+", kind.words) if kind.words.startswith("one of ") else ()
            raise ConfigError(f"{prefix}{name}={typed(value)} must be {kind.words}.{did_you_mean(value, options)}")


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
