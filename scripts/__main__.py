"""The list of all commands: ``python -m scripts``."""

import textwrap

from ufs_bench.scripts.core.conf import CONF, read


def lines():
    """Return a line for each command: its name, and the first sentence of its help."""
    found = ["python -m scripts.NAME OPTION=VALUE ...; --help shows the options of one.", ""]
    files = {path.stem: read(path) for path in sorted(CONF.glob("*.yaml"))}
    helps = {name: content["help"] for name, content in files.items() if "help" in content}
    width = max(map(len, helps)) + 2
    for name, words in helps.items():
        text = " ".join(words.partition("\n\n")[0].split())
        text = text.partition(". ")[0].removesuffix(".")
        found.append(textwrap.fill(name.ljust(width) + text, 110, subsequent_indent=" " * width))
    return found


if __name__ == "__main__":
    print("\n".join(lines()))
