"""The command ``ufs-bench``: ``ufs-bench method=mcfs data=my.csv`` is run.py, ``ufs-bench make_table`` a script.

It starts a process of its own, which finds our packages first: another package called `datasets` stays what it is for
every other program of the environment.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# In a checkout the folders are beside this file; a wheel has them in a folder of its own (setup.py).
SUITE = HERE if (HERE / "conf" / "method").is_dir() else HERE / "ufs_bench_suite"


def words_of(words):
    """Return the words of the Python command that a command line of ``ufs-bench`` stands for."""
    name = words[0] if words else ""
    if name.isidentifier() and any(
        (SUITE / "scripts" / place).exists() for place in (f"{name}.py", f"{name}/__main__.py")
    ):
        return ["-P", "-m", f"scripts.{name}", *words[1:]]
    return [str(SUITE / "run.py"), *words]


def main():
    """Become the process that does what the command line says."""
    words, environment = words_of(sys.argv[1:]), dict(os.environ)
    if "-m" in words[:2]:
        # What lies in the current folder, such as a method of one's own, is found, but never in the place of ours.
        paths = [str(SUITE), os.environ.get("PYTHONPATH"), os.getcwd()]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.execve(sys.executable, [sys.executable, *words], environment)
