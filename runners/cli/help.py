"""Answers words that Hydra would misread, and narrows the help."""

import contextlib
import io
import re
import textwrap

COLUMNS = 100  # the width of the help, in characters
# Hydra's own options; each may be shortened, as argparse allows.
FLAGS = (
    "--help --hydra-help --version --cfg --resolve --package --run --multirun --shell-completion --config-path "
    "--config-name --config-dir --experimental-rerun --info"
).split()


def refused(words):
    """Return the answer to the first option with dashes that is none of Hydra's, or to two values of an option.

    Of two values Hydra takes the last without a word.  None where all words are good.
    """
    for place, word in enumerate(words):
        name, given, value = word.partition("=")
        if not re.fullmatch(r"--[a-zA-Z][\w.-]*", name) or any(flag.startswith(name) for flag in FLAGS):
            continue
        following = words[place + 1 : place + 2]
        if not given and following and not following[0].startswith("-") and "=" not in following[0]:
            value = following[0]
        return f"options have no dashes here: write {name[2:].replace('-', '_')}={value or '...'}"
    typed = {}
    for word in words:
        name, given, _ = word.lstrip("+").partition("=")
        if given and not name.startswith("-") and typed.setdefault(name, word) != word:
            return f"{typed[name]} and {word} give {name} two values: leave one out."
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
