"""The table that run.py prints after a sweep."""

import shutil

from ufs_bench.runners.cli.boundary import words_of
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.place import command_on
from ufs_bench.runners.store.fits import load_fits
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.make_table import study_table
from ufs_bench.scripts.make_table.formats import to_markdown

WIDEST = 120  # characters of a line, also on a wider terminal


def print_table(folder, cells):
    """Print the scores of some cells of a study, (data set, method), as far as stored.

    False is returned where it cannot, or where a cell of the study is damaged, which is named and left out.
    """
    results_dir, study, damaged = folder.parent, folder.name, []
    try:
        datasets, methods = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
        fits = load_fits(results_dir, study, damaged=damaged)
        for error in damaged:
            print(f"not in the table: {error}")
        part = Study.of(study, fits, results_dir).part(set(methods), set(datasets))
        if part.trials.empty:  # a line for each cell says why
            return not damaged
        stored = {group: set(part.trials[group]) for group in ("dataset", "method")}
        columns = [name for name in datasets if name in stored["dataset"]]
        rows = [name for name in methods if name in stored["method"]]
        table = study_table(part, rows=rows, columns=columns)
    except (ValueError, StoreError, OSError) as error:
        print(f"no table: {words_of(error) or error}")
        return False
    text = to_markdown(table, min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns), notes="short")
    print(f"\n{text}")
    print(f"With all notes, as csv, latex or html: {command_on('make_table', folder)}")
    return not damaged
