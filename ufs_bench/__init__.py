"""The suite from Python: ``from ufs_bench import NDFS, evaluate, load_dataset, run``; docs/python.md shows how.

In a checkout the parts of this package, such as `ufs_bench.methods`, are the folders beside it; in a wheel they are
inside.
"""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
if (ROOT.parent / "conf" / "method").is_dir():  # a checkout
    ROOT = ROOT.parent
    __path__.append(str(ROOT))

from ufs_bench.runners import arithmetic

arithmetic.start(sys.argv[1:])  # before numpy is imported

_API = ("Study", "as_dataset", "evaluate", "load_dataset", "open_study", "run")
__all__ = list(_API)


def __getattr__(name):
    """Import what is asked for: a function of the API, or the class of a method."""
    if name in _API:
        found = getattr(importlib.import_module("ufs_bench.api"), name)
    elif name[:1].isupper() and name in importlib.import_module("ufs_bench.methods").__all__:
        found = getattr(importlib.import_module("ufs_bench.methods"), name)
    else:
        raise AttributeError(f"module 'ufs_bench' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__():
    return __all__
