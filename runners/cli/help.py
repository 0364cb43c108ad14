"""Answers words that Hydra would misread."""

import os
import re
from pathlib import Path

from ufs_bench.runners.messages import did_you_mean
from ufs_bench.runners.place import SUITE

GROUPS = ("method", "dataset", "protocol", "experiment")
HELP = {"--help", "-h"}
# Hydra's own options; each may be shortened, as argparse allows.
FLAGS = (
    "--help --hydra-help --version --cfg --resolve --package --run --multirun --shell-completion --config-path "
    "--config-name --config-dir --info"
).split()
RERUN = "--experimental-rerun"  # of files that Hydra has written, which it does not here
TAB = {f"{what}={shell}" for what in ("install", "uninstall") for shell in ("bash", "zsh", "fish")}


def refused(words, groups=()):
    """Return the answer to words that are no NAME=VALUE, an option with dashes that is none of Hydra's, or two values.

    Of two values Hydra takes the last without a word.  None where all words are good.  `groups` are those of conf/ that
    a word without an option may be meant for.
    """
    if bare := _bare(words):
        return f"{' '.join(bare)}: options have the form NAME=VALUE.{_meant(bare, groups)}"
    for place, word in enumerate(words):
        name, given, value = word.partition("=")
        if len(name) > 4 and RERUN.startswith(name):
            return f"{name} is not taken: give the words of the run again."
        if word in ("--shell-completion", "-sc") and not {*words} & TAB and "COMP_LINE" not in os.environ:
            return f"{word} takes one of {', '.join(sorted(TAB))}; docs/start.md shows how."
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
    found, before = [], ""
    for word in words:
        of_option = before.startswith("-") and before not in ("-m", "--multirun")
        if not of_option and re.fullmatch(r"\w[\w./-]*", word, re.ASCII):
            found.append(word)
        before = word
    return found


def _meant(bare, groups):
    """Say which options words without one may be meant for; "" for none."""
    names = {group: [path.stem for path in (SUITE / "conf" / group).glob("*.yaml")] for group in groups}
    meant = []
    for word in bare if groups else ():
        found = [group for group in groups if word in names[group]] + (["data"] if Path(word).is_file() else [])
        if not found:
            return did_you_mean(word, [name for group in groups for name in names[group]])
        meant.append(f"{found[0]}={word}")
    return f" Did you mean {' '.join(meant)}?" if meant else ""
