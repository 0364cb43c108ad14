"""The commands: ``python -m scripts.NAME --help``."""

import gc
import os
import sys

from ufs_bench.runners.cli.boundary import guard

if sys.argv[0] == "-m":  # while Python looks for the module to run: Ctrl-C is handled during all slower imports, too
    guard()
    sys.path += [] if os.getcwd() in sys.path else [os.getcwd()]  # where a method of one's own may lie
    gc.set_threshold(100_000)  # imports make many objects and few cycles; looking for them takes a tenth of a start
    from ufs_bench.command import words_of  # here, as Ctrl-C is handled now

    words = [*sys.orig_argv, "-m", ""]
    words_of([words[words.index("-m") + 1].rpartition(".")[2]])  # which names the command that a mistyped one is like
