"""The commit of the checkout."""

import functools
import os
import subprocess

from ufs_bench.runners.code import ROOT, code_of

# Of `git status`: all but pages and results, which commands write, and on which no fit rests.
CODE = ("--", ".", ":!*.md", ":!*.svg", ":!results", ":!CITATION.cff", ":!.zenodo.json")
GIT_S = 10  # seconds after which git is taken not to answer


def git_sha(selector=None):
    """Return the commit of the checkout; "unknown" outside git, and where git does not answer.

    It ends with ``-dirty`` where tracked files of `CODE` differ from the commit, or a method's class rests on an
    untracked file.
    """
    sha, tracked = _checkout()
    if selector is None or "-" in sha or sha == "unknown":
        return sha
    code = code_of(selector)
    clean = bool(code.digest) and all(
        file.is_relative_to(ROOT) and file.relative_to(ROOT).as_posix() in tracked for file, _ in code.files
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
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(ROOT.parent), "GIT_OPTIONAL_LOCKS": "0"}
    words, kept = ["git", *arguments], {"capture_output": True, "text": True, "check": True, "timeout": GIT_S}
    return subprocess.run(words, cwd=ROOT, env=environment, **kept).stdout.strip()
