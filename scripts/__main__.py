"""The list of all commands: ``python -m scripts``."""

import textwrap

from ufs_bench.scripts.core.conf import CONF, read
from ufs_bench.scripts.core.options import COMMANDS


def lines():
    """Return a line for each command: its name, and the first sentence of its help."""
    found = ["python -m scripts.NAME OPTION=VALUE ...; --help shows the options of one.", ""]
    width = max(map(len, COMMANDS)) + 2
    for name in COMMANDS:
        text = " ".join(read(CONF / f"{name}.yaml")["help"].partition("\n\n")[0].split())
        text = text.partition(". ")[0].removesuffix(".")
        found.append(textwrap.fill(name.ljust(width) + text, 110, subsequent_indent=" " * width))
    return found


if __name__ == "__main__":
    print("\n".join(lines()))
