"""One BLAS thread, the ``--slow`` switch, and the place of the real data."""

import functools
import gc
import os
import sys

gc.disable()  # until all is collected: a quarter of the seconds of that

from ufs_bench.runners import arithmetic

os.environ.update(arithmetic.ONE_THREAD)  # before numpy is imported, so that workers inherit it

import logging
from pathlib import Path

import forked
import pytest
from hydra.core.config_store import ConfigStore

HERE = Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")
    parser.addoption(
        "--data-dir", default=os.environ.get("UFS_DATA_DIR"), help="folder of the real data sets [$UFS_DATA_DIR]"
    )
    parser.addoption(
        "--reference-dir", help="folder of the released programs' input/output pairs [<data-dir>/../reference]"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["commands"] = forked.address()  # one server for all workers of pytest-xdist


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        forked.join(config.workerinput["commands"])


def pytest_report_header(config):
    return "slow tests: run" if config.getoption("--slow") else "slow tests: left out; --slow runs them, too"


FIRST = [HERE / name for name in ("running", "commands", "selectors")]  # folders, by their longest files


def pytest_collection_modifyitems(config, items):
    """Put long files first, as one at the end keeps a worker alone; leave slow tests out.

    To skip 4,000 of them, one by one, took 5 % of the seconds.
    """
    place = functools.cache(lambda path: [folder not in path.parents for folder in FIRST])
    items.sort(key=lambda item: place(item.path))
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]  # keywords have the names of folders, too
    quick = [item for item in items if not item.get_closest_marker("slow")]
    if quick:
        config.hook.pytest_deselected(items=slow)
        items[:] = quick
    else:  # asked for by name: say why they are not run
        for item in slow:
            item.add_marker(pytest.mark.skip(reason="slow; run with --slow"))


def pytest_collection_finish():
    """Keep 13,000 collected tests out of the garbage collections, which took 4 % of the seconds."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module")
def new_workers():
    """End the workers of other tests: the memory of a fit has what was left in its worker."""
    from ufs_bench.runners.workers import pool  # here, as numpy has to be imported after the variables are set

    pool.close()


@pytest.fixture(autouse=True)
def trusted():
    """Forget that a class from outside the suite was imported here: after it every cell would need workers."""
    yield
    if outside := sys.modules.get("ufs_bench.runners.workers.outside"):
        outside.imported.clear()


@pytest.fixture(autouse=True)
def loggers():
    """Turn on again what a command of Hydra in this process has turned off: all loggers that it found."""
    for logger in logging.root.manager.loggerDict.values():
        logger.disabled = False  # a place that only holds others takes the attribute, too


@pytest.fixture(autouse=True)
def offered():
    """Forget data and methods that a command in this process has offered to Hydra: to others, dataset= is no group."""
    for group in ("dataset", "method"):
        ConfigStore.instance().repo.pop(group, None)


@pytest.fixture
def shipping(tmp_path, monkeypatch):
    """Return the folder that this test ships studies to, and in which shipped ones are found."""
    from ufs_bench.runners.store import reference
    from ufs_bench.scripts.ship import pack

    for module in (reference, pack):
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "reference")
    return tmp_path / "reference"


@pytest.fixture(scope="session")
def run_cells():
    """Return a function that runs in this process what ``python run.py -m`` runs with the same words."""
    from ufs_bench.runners.experiment.cell import Cell
    from ufs_bench.runners.experiment.sweep import cells_of_words

    def run(*words):
        for settings in cells_of_words(*map(str, words)):
            Cell(settings).run()

    return run


@pytest.fixture(scope="session")
def data_dir(request):
    """Return the folder of the real data sets, or skip the test."""
    folder = request.config.getoption("--data-dir")
    if not folder or not Path(folder).is_dir():
        pytest.skip("no real data: set UFS_DATA_DIR or pass --data-dir")
    return Path(folder)


@pytest.fixture(scope="session")
def reference(request):
    """Return a loader: ``reference("step02_lapscore")`` loads a released program's input and output, or skips.

    So do ``reference("modern/spec_umist60x40_s1")`` and ``reference("families/eog")``, from npz files.
    """
    import numpy as np
    from scipy.io import loadmat

    folder = request.config.getoption("--reference-dir")
    data = request.config.getoption("--data-dir")
    folder = Path(folder) if folder else Path(data).parent / "reference" if data else None
    if folder is None or not folder.is_dir():
        pytest.skip("no reference pairs: set UFS_DATA_DIR with ../reference beside it, or pass --reference-dir")

    def load(name):
        if name.startswith(("modern/", "families/")):
            return np.load(folder / f"{name}.npz")
        return loadmat(folder / f"{name}.mat")

    return load
