"""The suite from Python: ``from ufs_bench import NDFS, evaluate, load_dataset, run``; docs/python.md shows how.

In a checkout the parts of this package, such as `ufs_bench.methods`, are the folders beside it; in a wheel they are
inside.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent
if (ROOT.parent / "conf" / "method").is_dir():  # a checkout
    ROOT = ROOT.parent
    __path__.append(str(ROOT))

from ufs_bench.runners import arithmetic

arithmetic.start()  # before numpy is imported

if TYPE_CHECKING:  # imported when they are asked for, by `__getattr__`
    from ufs_bench.api import as_dataset, compare, evaluate, load_dataset, open_study, run
    from ufs_bench.lists import list_datasets, list_methods, list_protocols
    from ufs_bench.study import Study

__all__ = [
    "Study",
    "as_dataset",
    "compare",
    "evaluate",
    "list_datasets",
    "list_methods",
    "list_protocols",
    "load_dataset",
    "open_study",
    "run",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for: a function of the API, or the class of a method."""
    if name in __all__:
        module = "lists" if name.startswith("list_") else "study" if name == "Study" else "api"
        found = getattr(importlib.import_module(f"ufs_bench.{module}"), name)
    elif name[:1].isupper() and name in importlib.import_module("ufs_bench.methods").__all__:
        found = getattr(importlib.import_module("ufs_bench.methods"), name)
    else:
        raise AttributeError(f"module 'ufs_bench' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
