"""The commands: ``python -m scripts.NAME --help``."""

import gc
import sys

from runners import arithmetic
from runners.cli.boundary import guard

arithmetic.start()  # before a command imports numpy
if sys.argv[0] == "-m":  # while Python looks for the module to run: Ctrl-C is handled during imports, too
    guard()
    gc.set_threshold(100_000)  # imports make many objects and few cycles; looking for them takes a tenth of a start
