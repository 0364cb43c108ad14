"""The command ``ufs-bench``: ``ufs-bench method=mcfs data=my.csv`` is run.py, ``ufs-bench make_table`` a script.

It starts a process of its own, which finds our packages first: another package called `datasets` stays what it is for
every other program of the environment.
"""

import difflib
import os
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
# In a checkout the folders are beside this file; a wheel has them in a folder of its own (setup.py).
SUITE = HERE if (HERE / "conf" / "method").is_dir() else HERE / "ufs_bench_suite"
CLOSE = 0.75  # how like a command a word must be: a name of a method is for run.py


def words_of(words):
    """Return the words of the Python command that a command line of ``ufs-bench`` stands for."""
    name = words[0] if words else "--help"
    if name in commands():
        return ["-P", "-m", f"scripts.{name}", *words[1:]]
    if name.isidentifier() and (close := difflib.get_close_matches(name, commands(), 1, CLOSE)):
        raise SystemExit(f"error: there is no command {name}. Did you mean {close[0]}?")
    return [str(SUITE / "run.py"), *(words or [name])]


def commands():
    """Return the names of the commands of scripts/."""
    paths = [*(SUITE / "scripts").glob("[a-z]*.py"), *(SUITE / "scripts").glob("*/__main__.py")]
    return sorted(path.parent.name if path.stem == "__main__" else path.stem for path in paths)


def main():
    """Become the process that does what the command line says."""
    if sys.argv[1:] == ["--version"]:
        print(f"ufs-bench {version('ufs-bench')}")
        return
    words, environment = words_of(sys.argv[1:]), dict(os.environ)
    if "-m" in words[:2]:
        # What lies in the current folder, such as a method of one's own, is found, but never in the place of ours.
        paths = [str(SUITE), os.environ.get("PYTHONPATH"), os.getcwd()]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.execve(sys.executable, [sys.executable, *words], environment)
