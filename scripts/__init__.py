"""The commands: ``python -m scripts.NAME --help``."""

import sys

from runners.boundary import guard

if sys.argv[0] == "-m":  # as Python has it while it looks for what to run: Ctrl-C is heard during the imports, too
    guard()
