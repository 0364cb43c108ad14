"""The folders of the suite and of results, and the commit; with it, ``${root:}`` in files of conf/ has a meaning."""

import atexit
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from omegaconf import OmegaConf

PREFIX = "reference/"  # of the name of a shipped study
SUITE = Path(__file__).resolve().parents[1]


def is_checkout():
    """Return True for a checkout; a wheel has the shipped results without their lists."""
    return (SUITE / "pyproject.toml").exists()


def home():
    """Return the folder of results/: the checkout, or the current folder where the suite was installed from a wheel."""
    return SUITE if is_checkout() else Path.cwd()


def place_of(results_dir):
    """Return the words of a command line that name a folder of results; none for that of the suite, and for None."""
    if results_dir is None or Path(results_dir).resolve() == home() / "results":
        return []
    return [f"results_dir={results_dir}"]


def command_on(script, study, *words):
    """Return the command line of a script on the study with this folder."""
    return shlex.join(["python", "-m", f"scripts.{script}", f"study={study.name}", *words, *place_of(study.parent)])


@functools.cache
def _scratch():
    """Return a folder of this process that goes with it: Hydra writes one file in a sweep, which nobody reads."""
    folder = tempfile.mkdtemp(prefix="ufs-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


OmegaConf.register_new_resolver("root", lambda: str(home()), replace=True)
OmegaConf.register_new_resolver("scratch", _scratch, replace=True)


# Of `git status`: all but pages and results, which commands write, and on which no fit rests.
CODE = ("--", ".", ":!*.md", ":!*.svg", ":!results", ":!CITATION.cff", ":!.zenodo.json")
GIT_S = 10  # seconds after which git is taken not to answer


def git_sha(code=None):
    """Return the commit of the checkout; "unknown" outside git, and where git does not answer.

    It ends with ``-dirty`` where tracked files of `CODE` differ from the commit, or the `Code` of a method has an
    untracked file.
    """
    sha, tracked = _checkout()
    if code is None or "-" in sha or sha == "unknown":
        return sha
    clean = bool(code.digest) and all(
        file.is_relative_to(SUITE) and file.relative_to(SUITE).as_posix() in tracked for file, _ in code.files
    )
    return sha if clean else f"{sha}-dirty"


@functools.cache
def _checkout():
    """Return the commit, with ``-dirty`` where tracked `CODE` differs from it, and the names of the tracked files."""
    try:
        sha = _git("rev-parse", "HEAD")
        dirty = "-dirty" if _git("status", "--porcelain", "--untracked-files=no", *CODE) else ""
        return sha + dirty, frozenset(_git("ls-files").splitlines())
    except (OSError, subprocess.SubprocessError):
        return "unknown", frozenset()


def _git(*arguments):
    # A repository around an installed copy is not that of this code.  A process that is killed leaves no lock there.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(SUITE.parent), "GIT_OPTIONAL_LOCKS": "0"}
    words, kept = ["git", *arguments], {"capture_output": True, "text": True, "check": True, "timeout": GIT_S}
    return subprocess.run(words, cwd=SUITE, env=environment, **kept).stdout.strip()
