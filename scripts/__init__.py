"""The commands: ``python -m scripts.NAME --help``."""

import gc
import sys

from runners.cli.boundary import guard

if sys.argv[0] == "-m":  # while Python looks for the module to run: Ctrl-C is handled during all slower imports, too
    guard()
    gc.set_threshold(100_000)  # imports make many objects and few cycles; looking for them takes a tenth of a start

from runners import arithmetic

arithmetic.start()  # before a command imports numpy
