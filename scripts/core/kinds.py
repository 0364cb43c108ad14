"""The kinds of values that an option may take."""

import math
from collections.abc import Callable
from typing import NamedTuple

from runners.method import ConfigError
from runners.reference import PREFIX
from runners.settings import check_name, shown


def typed(value):
    """Return a value as it is typed on a command line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return value if isinstance(value, str) and value.isidentifier() and len(value) <= 80 else shown(value)


class Kind(NamedTuple):
    """A kind of values that an option may take."""

    words: str  # the words after "must be"
    holds: Callable  # returns True for a value of this kind


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


def _is_name(value):
    try:
        check_name("", value)
    except ConfigError:
        return False
    return True


def _is_study(value):
    return _is_name(value.removeprefix(PREFIX) if isinstance(value, str) else value)


def _is_value(value):
    return value is None or isinstance(value, bool | str) or (type(value) in (int, float) and math.isfinite(value))


FLAG = one_of(True, False)
NAME = Kind(
    "a text of 1 to 100 letters, digits and -+_.,=@~() that begins with a letter or digit; a number in quotes, such as "
    "\"'2024'\"",
    _is_name,
)
PATH = Kind("the path of a file or folder", lambda value: _is_text(value) and "\0" not in value and bool(value.strip()))
TEXT = Kind("a text", _is_text)
STUDY = Kind(f"{NAME.words}, after reference/ where the study is shipped", _is_study)
VALUE = Kind("a finite number, a text, true, false or null", _is_value)
