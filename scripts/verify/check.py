"""Verifies cells of a shipped study without fits: files, then rows, then scores."""

import pandas as pd

from runners.store import reference
from runners.store.parquet import about
from scripts.verify import REFUSED, Finding, changed, files, scores, structure


def part(name, base, methods=None, datasets=None):
    """Return the (data set, method) of a study that are to be verified; the data set of a damaged file is ""."""
    new = None if base is None else changed.methods(name, base)
    return [
        (dataset, method)
        for method, path in reference.files_of(name).items()
        if (new is None or method in new) and (methods is None or method in methods)
        for dataset in files.datasets_of(path)
        if datasets is None or dataset in (*datasets, "")
    ]


def structural(name, wanted):
    """Return what `files` and `structure` find in a study; of files without a wanted cell only their places."""
    found = [Finding(REFUSED, name, method, "", "", words) for method, words in files.faults_of_study(name)]
    for method in sorted({method for _, method in wanted} - {one.method for one in found}):
        datasets = [dataset for dataset, other in wanted if other == method]
        found += [Finding(kind, name, method, *rest) for kind, *rest in _faults_of_method(name, method, datasets)]
    return found


def _faults_of_method(name, method, datasets):
    """Yield (kind, data set, trial, words) of what is wrong with the files of a method, and its rows on data sets."""
    path = reference.files_of(name)[method]
    if faults := list(files.faults_of_file(path)):
        yield from ((REFUSED, "", "", words) for words in faults)
        return
    frame = reference.read(name, [method], lists=True)
    if (frame["method"] != method).any():
        yield REFUSED, "", "", "it has rows of another method."
        return
    own = frame[frame["dataset"].isin(datasets)]
    yield from structure.faults(own, reference.protocol_text(name), about(path)["lacking"])
    yield from ((REFUSED, "", "", words) for words in files.faults_beside(name, path, frame))


def check(name, cells, data_dir, spent, folder=None, n_jobs=1, say=print, fetch=None):
    """Verify cells from `part` without fits; return their rows, but for refused files, and a list of `Finding`.

    `fetch` is how many MB the files of a data set may have that is downloaded, by default none; for the others see
    `scripts.verify.scores.faults`.
    """
    found = structural(name, cells)
    frame = _rows_of(name, cells, {one.method for one in found if one.kind == REFUSED})
    if fetch:
        scores.fetch(frame, fetch, data_dir, say)
    for kind, *rest in scores.faults(frame, data_dir, spent, folder, n_jobs, say) if len(frame) else ():
        found.append(Finding(kind, name, rest[1], rest[0], *rest[2:]))
    return frame, found


def _rows_of(name, wanted, bad):
    """Return the rows of cells of a study, but not those of files that are refused."""
    methods = sorted({method for _, method in wanted} - bad)
    frame = reference.read(name, methods, lists=True)
    cells = pd.MultiIndex.from_tuples(wanted, names=["dataset", "method"])
    return frame[pd.MultiIndex.from_frame(frame[["dataset", "method"]]).isin(cells)] if wanted else frame[:0]
