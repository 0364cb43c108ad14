"""The shipped studies that the pages speak of."""

import functools

import pytest

from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.study import Study


@pytest.fixture(scope="module")
def shipped():
    """Return a function that opens a shipped study by its name, once."""
    return functools.cache(lambda name: Study.open(ROOT / "results", f"reference/{name}"))
