"""The words of messages: numbers with nouns, seconds, values, and the nearest of some names."""

import difflib
import math

QUOTES = "Put quotes within quotes around a text with brackets, braces or letters beyond ASCII: 'label=\"a (b)\"'."
MOST_BITS = 1024  # a longer number is printed in hexadecimal: Python refuses to print more than 4,300 digits


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
