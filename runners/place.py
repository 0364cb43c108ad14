"""The folders of the suite and of results; with it, ``${root:}`` in files of conf/ has a meaning."""

import atexit
import functools
import shlex
import shutil
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
