"""The shipped studies that the pages speak of, and what takes seconds to compute of them, once a process."""

import functools

import pytest

from ufs_bench.scripts.compare import compare_studies, open_studies, shipped_names
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.findings.plan import estimates


@pytest.fixture(scope="session")
def shipped():
    """Return a function that opens a shipped study by its name."""
    return functools.cache(lambda name: Study.open(ROOT / "results", f"reference/{name}"))


@pytest.fixture(scope="session")
def fair(shipped):
    return shipped("fair")


@pytest.fixture(scope="session")
def plan(fair):
    """Return the gains over random rankings on the data of the plan."""
    return estimates(fair)


@pytest.fixture(scope="session")
def studies():
    """Return the shipped studies of the papers."""
    return open_studies(ROOT / "results", shipped_names())


@pytest.fixture(scope="session")
def comparison(studies):
    """Return what is printed in the papers beside what is shipped."""
    return compare_studies(studies)
