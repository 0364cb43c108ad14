"""Puts the folders of the checkout into the package of a wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKAGE = "ufs_bench"
PARTS = ("conf", "datasets", "methods", "metrics", "runners", "scripts", "results", "run.py", "CITATION.cff", "LICENSE")


class Suite(build_py):
    """Builds the package as usual and, for a wheel, its parts."""

    def run(self):
        """Copy the parts; an editable install finds them in the checkout."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, PACKAGE)
        for part in map(Path, PARTS):
            if part.is_dir():
                shutil.copytree(part, target / part, ignore=_ignored, dirs_exist_ok=True)
            else:
                shutil.copy(part, target / part)


def _ignored(folder, names):
    """Return what is left out of a folder: caches, and of results all but the printed values and shipped studies."""
    own = {name for name in names if name == "__pycache__" or name.startswith(".")}
    if Path(folder) == Path("results"):
        own |= {name for name in names if name != "reference" and not name.startswith("published")}
    return own


setup(cmdclass={"build_py": Suite})
