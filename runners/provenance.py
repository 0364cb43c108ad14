"""Where a number comes from: the code, the packages and the machine."""

import functools
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "joblib", "numba")
ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def git_sha():
    """Commit of the checkout, with ``-dirty`` where tracked files differ from it; "unknown" outside git."""
    try:
        sha = _git("rev-parse", "HEAD")
        return sha + "-dirty" if _git("status", "--porcelain", "--untracked-files=no") else sha
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


@functools.cache
def versions():
    """Versions of Python and of the packages that the numbers depend on, and the machine they ran on."""
    from threadpoolctl import threadpool_info

    found = {name: version(name) for name in PACKAGES}
    blas = sorted({f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info() if lib["user_api"] == "blas"})
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {"python": platform.python_version(), **found, "blas": ", ".join(blas), "machine": machine}


def _git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()
