"""Reads and writes words of a command line in Hydra's grammar, such as ``dataset=umist,orl``."""

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob
from hydra.errors import HydraException

from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.words import QUOTES


def parse(word):
    """Return a word as Hydra's parser reads it; a ConfigError says that it cannot be read."""
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
