"""The class that a configuration names."""

import difflib
import importlib


class ConfigError(ValueError):
    """A configuration that cannot be run, found before any work."""


def load_class(target):
    """The class that a dotted name such as ``methods.mcfs.MCFS`` means."""
    module, _, name = target.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"method.target={target!r} cannot be imported: {error}") from error


def did_you_mean(name, known):
    """The nearest of the known names as a sentence after a space; nothing where none is near."""
    close = difflib.get_close_matches(str(name), list(known), 1)
    return f" Did you mean {close[0]}?" if close else ""
