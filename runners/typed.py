"""Answers words of a command line of ``key=value`` that Hydra does not know, and narrows its help.

Hydra answers a name that it does not know with a list of all, and a key with the advice to add it.
"""

import contextlib
import difflib
import io
import re
import textwrap

COLUMNS = 100  # of the help
# Hydra's own options; each may be shortened, as argparse allows.
FLAGS = (
    "--help --hydra-help --version --cfg --resolve --package --run --multirun --shell-completion --config-path "
    "--config-name --config-dir --experimental-rerun --info"
).split()


def nearest(name, known):
    """Return " Did you mean x?" for the nearest of the known names, or "" where none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]}?" if near else ""


def words_of_hydra(error):
    """Return what to say of a name or a key that Hydra does not know; None for its other errors."""
    file, options = getattr(error, "missing_cfg_file", None), getattr(error, "options", None)
    if file and options:
        group, _, name = file.rpartition("/")
        hint = nearest(name, options) or f" There are: {', '.join(options)}."
        return f"{group}={name}: there is no {group} of this name.{hint}"
    cause = error.__cause__
    key, there = getattr(cause, "full_key", None), getattr(cause, "parent_node", None)
    if key and "is not in struct" in str(cause) and hasattr(there, "keys"):
        *above, name = key.split(".")
        hint = nearest(name, known := [str(one) for one in there if one != "hydra"])
        what = f" of {'.'.join(above)}" if above else ""
        return f"{key} is no option{what}.{hint or ' There are: ' + ', '.join(known) + '.'}"
    return None


def refused(words):
    """Return what to say of the first word that is an option with dashes, and none of Hydra's; None without any.

    Parameters
    ----------
    words : list of str

    Returns
    -------
    str or None
    """
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
    """Print what a command prints in lines of `COLUMNS`, where its words ask for help; change nothing otherwise."""
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
