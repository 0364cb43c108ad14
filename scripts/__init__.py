"""The commands: ``python -m scripts.NAME --help``."""

import sys

from runners.boundary import guard

if sys.argv[0] == "-m":  # while Python looks for the module to run: Ctrl-C is handled during imports, too
    guard()
