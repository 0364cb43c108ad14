"""Run methods on data sets: ``python run.py --help`` shows how."""

import os
import sys

from ufs_bench.runners.cli.boundary import boundary, check_printed, guard

if __name__ == "__main__":  # before all slower imports, so that Ctrl-C is handled during them, too
    guard("interrupted: finished trials are stored; the same command goes on from there")
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # makes Hydra raise its errors, which become a line here

import logging

import hydra

from ufs_bench.runners.cli.help import GROUPS, HELP, refused

logging.raiseExceptions = False  # a closed pipe, as to `head`, must not fill the screen with tracebacks


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config):
    """Run the cells that a command asks for."""
    from ufs_bench.runners.cli.cells import run  # here, as --help and Tab need none of it

    with boundary():  # inside, as Hydra adds lines to an error that leaves it
        run(config)


def read_words(words):
    """Return the words of a command line as Hydra reads them, after it was given what they name besides conf/."""
    from ufs_bench.runners.cli.choices import offer  # here, as --help and Tab need none of it
    from ufs_bench.runners.experiment.sweep import with_lists

    with boundary():
        # Options first, as argparse takes none between two words.
        return sorted(with_lists(offer(words)), key=lambda word: word not in ("-m", "--multirun"))


def end():
    """Print the tables of a sweep, and which cells were skipped or have a problem; return the exit status."""
    from ufs_bench.runners.cli.cells import runs, say_ends, studies

    complete = True
    if "-m" in sys.argv and not runs:
        sys.exit("error: nothing was run: a list of values is empty, as where glob(...) matches nothing.")
    for folder, cells in studies().items():
        from ufs_bench.scripts.make_table import print_table  # here, as it takes seconds

        complete &= print_table(folder, cells)
    status = say_ends() or int(not complete)
    check_printed()
    return status


if __name__ == "__main__":
    sys.path.append(os.getcwd())  # where a method of one's own may lie
    if answer := refused(sys.argv[1:], GROUPS):
        sys.exit(f"error: {answer}")
    if HELP & set(sys.argv):
        main()
        sys.exit()
    sys.argv[1:] = read_words(sys.argv[1:])
    main()
    sys.exit(end())
