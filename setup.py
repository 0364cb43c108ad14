"""Puts the folders of the checkout into one folder of the wheel, so that no `datasets` or `scripts` is installed."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

INSIDE = "ufs_bench_suite"
PARTS = ("conf", "datasets", "methods", "metrics", "runners", "scripts", "results", "run.py", "CITATION.cff", "LICENSE")


class Suite(build_py):
    """Builds the modules as usual and, for a wheel, the folder with all others."""

    def run(self):
        """Copy the parts; an editable install finds them in the checkout."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, INSIDE)
        shutil.rmtree(target, ignore_errors=True)
        for part in map(Path, PARTS):
            if part.is_dir():
                shutil.copytree(part, target / part, ignore=_ignored)
            else:
                shutil.copy(part, target / part)


def _ignored(folder, names):
    """Return what is left out of a folder: caches, and of results all but the printed values and shipped studies."""
    own = {name for name in names if name == "__pycache__" or name.startswith(".")}
    if Path(folder) == Path("results"):
        own |= {name for name in names if name != "reference" and not name.startswith("published")}
    return own


setup(cmdclass={"build_py": Suite})
