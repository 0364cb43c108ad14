"""Answers words that Hydra would misread, and narrows the help."""

import contextlib
import io
import itertools
import re
import textwrap
from pathlib import Path

from ufs_bench.runners.place import SUITE
from ufs_bench.runners.words import did_you_mean

GROUPS = ("method", "dataset", "protocol", "experiment")
COLUMNS = 100  # the width of the help, in characters
DEEPER = 12  # by how much further lines of an explanation are indented
# Hydra's own options; each may be shortened, as argparse allows.
FLAGS = (
    "--help --hydra-help --version --cfg --resolve --package --run --multirun --shell-completion --config-path "
    "--config-name --config-dir --experimental-rerun --info"
).split()


def refused(words):
    """Return the answer to words that are no NAME=VALUE, an option with dashes that is none of Hydra's, or two values.

    Of two values Hydra takes the last without a word.  None where all words are good.
    """
    if bare := _bare(words):
        return f"{' '.join(bare)}: options have the form NAME=VALUE.{_meant(bare)}"
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


def _bare(words):
    """Return the words without a value, but for options of Hydra and what follows one that takes a value."""
    pairs = zip(["", *words], words, strict=False)
    of_option = [before.startswith("-") and before not in ("-m", "--multirun") for before, _ in pairs]
    return [
        word
        for word, follows in zip(words, of_option, strict=True)
        if not follows and re.fullmatch(r"\w[\w./-]*", word, re.ASCII)
    ]


def _meant(bare):
    """Say which options words without one may be meant for; "" for none."""
    names = {group: [path.stem for path in (SUITE / "conf" / group).glob("*.yaml")] for group in GROUPS}
    meant = []
    for word in bare:
        groups = [group for group in GROUPS if word in names[group]]
        groups += ["data"] if Path(word).is_file() else []
        if not groups:
            return did_you_mean(word, [name for group in GROUPS for name in names[group]])
        meant.append(f"{groups[0]}={word}")
    return f" Did you mean {' '.join(meant)}?"


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
    found, kind, indent = [], "", 0
    for line in text.splitlines():
        own, deep = _kind(line), len(line) - len(line.lstrip())
        of_paragraph = own == kind == "prose" and not re.match(r"[\w/]+:", line)  # a group of options, say
        if of_paragraph or (kind == "line" and deep >= indent + DEEPER):
            found[-1].append(line)
        else:
            found.append([line])
            kind, indent = own, deep
    joined = [" ".join([lines[0], *map(str.strip, lines[1:])]) for lines in found]
    each = [[one] if max(map(len, lines)) > COLUMNS else lines for one, lines in zip(joined, found, strict=True)]
    return list(itertools.chain.from_iterable(each))


def _kind(line):
    if not line.strip():
        return ""
    return "line" if re.match(r"\s|=|-|python |\$", line) else "prose"


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
