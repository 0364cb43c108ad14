"""The values of options and configurations: their kinds, the refusal of others, and how they are typed."""

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from ufs_bench.runners.messages import QUOTES, ConfigError, did_you_mean, shown, typed

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
POINTS = either(one_of("grid", "default"), whole(1, 10**6))  # of a method's grid
ANY = Kind("anything", lambda value: True)


# --- words of a command line in Hydra's grammar, such as dataset=umist,orl


def parse(word):
    """Return a word as Hydra's parser reads it; a ConfigError says that it cannot be read."""
    from hydra.core.override_parser.overrides_parser import OverridesParser  # here, as it takes long to import
    from hydra.errors import HydraException

    try:
        return OverridesParser.create().parse_override(word)
    except HydraException as error:
        raise ConfigError(f"{word} cannot be read: {str(error).splitlines()[0]}. {QUOTES}") from error


def has_several(word):
    """Return True for a word with several values, such as ``runner.points=1,2``; False for one that cannot be read."""
    try:
        return "=" in word and parse(word).is_sweep_override()
    except ConfigError:  # Hydra says so in its turn
        return False


def value_of(word):
    """Return the single value that a word sets."""
    override = parse(word)
    if override.is_sweep_override():
        raise ConfigError(f"{word} has several values, and this option takes one.")
    return plain(override.value())


def names_of(word, known):
    """Return the names in a word such as ``dataset=a,b``, or those of the known names that fit ``dataset=glob(a*)``."""
    from hydra.core.override_parser.types import Glob  # here, as it takes long to import

    override = parse(word)
    value = override.value()
    if isinstance(value, Glob):
        found = value.filter(list(known))
    else:
        found = plain(list(override.sweep_iterator()) if override.is_discrete_sweep() else value)
        found = [str(one) for one in (found if isinstance(found, list) else [found])]
    group = override.key_or_group
    if not found:
        raise ConfigError(f"{word} matches nothing: there is no {group} of such a name.")
    return found


def plain(value):
    """Return a value of Hydra's parser without the marks of its quotes."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {plain(key): plain(one) for key, one in value.items()}
    return value if value is None or isinstance(value, bool | int | float) else str(getattr(value, "text", value))


def quoted(text):
    """Return a text as Hydra reads it back, whatever is in it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def read_back(name):
    """Return a name as Hydra reads it back, in quotes where it would be a number or a word such as null."""
    return name if isinstance(value_of(f"name={name}"), str) else quoted(name)
