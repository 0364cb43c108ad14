"""The one bar of a sweep on a terminal; where none is shown, the lines of its cells are printed in its place."""

import logging
import sys

_bar = None  # tqdm's, while it is shown


class Console(logging.StreamHandler):
    """The handler of what is printed: beside a bar, warnings and errors above it, and no line of a single cell.

    What is not printed is in ``run.log`` of the cell all the same.
    """

    def emit(self, record):
        """Print a record, unless the bar stands for it."""
        if _bar is None:
            super().emit(record)
        elif record.levelno >= logging.WARNING:
            _bar.write(self.format(record), file=sys.stderr)


def show(n_cells):
    """Show a bar of the cells of a sweep, where standard output and standard error are a terminal's."""
    global _bar
    if sys.stdout.isatty() and sys.stderr.isatty():
        from tqdm import tqdm  # here, as --help and Tab need none

        _bar = tqdm(total=n_cells, unit="cell", dynamic_ncols=True, leave=False)


def is_shown():
    """Return True while there is a bar."""
    return _bar is not None


def begin(cell):
    """Name the cell that has its turn."""
    if _bar is not None:
        _bar.set_description(cell, refresh=False)
        _bar.set_postfix_str("")


def within(done, total, unscored):
    """Show how far the cell is: "3 of 25 trials", where `total` is a text, and how many fits have no scores."""
    if _bar is not None:
        words = [f"{done} of {total}", *(f"{count} {status}" for status, count in unscored.items())]
        _bar.set_postfix_str(", ".join(words))


def end_cell():
    """Count a cell that is done with."""
    if _bar is not None:
        _bar.update()
        _bar.refresh()  # also within the tenth of a second in which tqdm draws once


def hide():
    """Take the bar away."""
    global _bar
    if _bar is not None:
        _bar.close()
        _bar = None
