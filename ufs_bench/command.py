"""The command ``ufs-bench``: ``ufs-bench method=mcfs data=my.csv`` is run.py, ``ufs-bench make_table`` a script."""

import difflib
import os
import sys

from ufs_bench import ROOT

CLOSE = 0.75  # how like a command a word must be: a name of a method is for run.py


def words_of(words: list[str]) -> list[str]:
    """Return the words of the Python command that a command line of ``ufs-bench`` stands for."""
    name = words[0] if words else "--help"
    if name in commands():
        return ["-P", "-m", f"ufs_bench.scripts.{name}", *words[1:]]
    if name.isidentifier() and (close := difflib.get_close_matches(name, commands(), 1, CLOSE)):
        raise SystemExit(f"error: there is no command {name}. Did you mean {close[0]}?")
    return ["-P", str(ROOT / "run.py"), *(words or [name])]


def commands() -> list[str]:
    """Return the names of the commands of scripts/."""
    paths = [*(ROOT / "scripts").glob("[a-z]*.py"), *(ROOT / "scripts").glob("*/__main__.py")]
    return sorted(path.parent.name if path.stem == "__main__" else path.stem for path in paths)


def main() -> None:
    """Become the process that does what the command line says."""
    if sys.argv[1:] == ["--version"]:
        from importlib.metadata import version  # here, as it takes long to import

        print(f"ufs-bench {version('ufs-bench')}")
        return
    os.execv(sys.executable, [sys.executable, *words_of(sys.argv[1:])])
