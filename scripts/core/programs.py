"""Ends a command in words, and keeps files up to date."""

import re
from contextlib import contextmanager

from ufs_bench.runners.cli.boundary import boundary, end
from ufs_bench.runners.code import ROOT


@contextmanager
def program():
    """Handle all that may end a command; a ValueError becomes its answer."""
    with boundary():
        try:
            yield
        except ValueError as error:
            end(f"error: {error}", 1)


def refuse(what, problems):
    """Raise a ValueError that lists what could not be done, if there is anything."""
    if problems:
        raise ValueError("\n".join([what, *(f"  {text}" for text in problems)]))


def filled(path, command, parts):
    """Return the text of a page with the parts that a command prints, by their names, between their marks."""
    text = path.read_text(encoding="utf-8")
    for name, printed in parts.items():
        mark = f"<!-- printed by python -m {command}: {name} -->"
        marks = re.compile(f"{re.escape(mark)}\n.*?<!-- end -->", re.DOTALL)
        text, n_parts = marks.subn(lambda _, whole=f"{mark}\n{printed}\n<!-- end -->": whole, text)
        if n_parts != 1:
            raise ValueError(f"{path.name} must have one part {mark}, not {n_parts}.")
    return text


def differing(texts):
    """Return those of some texts, by the paths of their files, that the files do not have."""
    return {path: text for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text}


def renewed(texts, check):
    """Write the files that differ from their texts, by path, and say of each what it is; return the exit status.

    With `check` nothing is written, and the status is 1 where something differs.
    """
    from ufs_bench.scripts.core.text import write  # here, as it imports pandas

    wrong = differing(texts)
    for path in texts:
        print(f"{path.relative_to(ROOT)}: {'the same' if path not in wrong else 'differs' if check else 'written'}")
    for path, text in () if check else wrong.items():
        write(text, path)
    return int(bool(wrong) and check)
