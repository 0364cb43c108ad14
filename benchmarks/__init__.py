"""Measurements: ``python -m benchmarks.NAME --help``."""

import os

from ufs_bench.runners import arithmetic

os.environ.update(arithmetic.ONE_THREAD)  # before numpy is imported
