"""Answers words that Hydra would misread, and narrows the help."""

import contextlib
import io
import itertools
import re
import textwrap

COLUMNS = 100  # the width of the help, in characters
DEEPER = 12  # by how much further lines of an explanation are indented
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
        print("\n".join(map(narrow, entries(page.getvalue().rstrip()))), flush=True)


def entries(text):
    """Return the lines of a help, each paragraph and each explanation of several lines joined, if one is too long."""
    found = []
    for _, lines in itertools.groupby(text.splitlines(), key=_kind()):
        lines = list(lines)
        long = max(map(len, lines)) > COLUMNS
        found += [" ".join([lines[0], *map(str.strip, lines[1:])])] if long and len(lines) > 1 else lines
    return found


def _kind():
    """Return a key that is the same for lines that belong together: of a paragraph, or of an explanation."""
    numbers, before = itertools.count(), ["", 0]

    def key(line):
        indent = len(line) - len(line.lstrip())
        prose = indent == 0 and line.strip() and not re.match(r"=|-|python |\$", line)
        further = indent >= before[1] + DEEPER and before[0] not in ("", "prose")
        kind = "prose" if prose else "further" if further else "line" if line.strip() else ""
        begins = re.match(r"[\w/]+:", line)  # a group of options, say
        if kind != "further" and (begins or not kind == before[0] == "prose"):
            before[:] = kind, indent
            key.number = next(numbers)
        return key.number

    return key


def narrow(line):
    """Return a line of help as lines of at most `COLUMNS`; what explains a command goes below it."""
    indent = " " * (len(line) - len(line.lstrip()))
    parts = re.split(r" {3,}", line.strip(), maxsplit=1) if len(line) > COLUMNS else [line.strip()]
    return "\n".join(
        textwrap.fill(
            part, COLUMNS, initial_indent=indent + "      " * place, subsequent_indent=indent + "      " * bool(indent),
            break_long_words=False, break_on_hyphens=False,
        )
        for place, part in enumerate(parts)
    )  # fmt: skip
