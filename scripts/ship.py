"""Pack finished cells of a study into results/reference, which every checkout has and every command reads.

    python -m scripts.ship dgufs                     the cells of results/dgufs in which nothing is missing
    python -m scripts.ship dgufs --partial           the others, too, which tables then call partial
    python -m scripts.ship dgufs --results-dir DIR   from another folder of results
    python -m scripts.ship dgufs --no-traces         without the objective after every sweep, where a run makes it soon
    python -m scripts.ship ground_truth --further    what is selected on further data of known truth, without scores

There is one Parquet file for each method, with all its data sets; it is written again only where its rows have changed.
Nothing is written if `scripts.verify` would refuse a row or a cell by itself, one with some of its seeds, say.  Then
commit results/reference.
"""

import shutil
from itertools import groupby
from pathlib import Path

import pandas as pd

from runners.experiment.notes import read_run
from runners.store import reference
from runners.store.files import StoreError, replace_file
from runners.store.folder import cells_of, results_of
from runners.store.identity import Identity
from runners.store.parquet import from_one, packed
from runners.store.reference import PROTOCOL, SHIPPED
from runners.store.row import from_json
from runners.store.tidy import tidy
from runners.words import counted
from scripts.core.programs import parser_of, program
from scripts.core.refits import COLUMNS, read, ship_refits
from scripts.core.study import Study
from scripts.ground_truth.further import ship_further
from scripts.verify import REFUSED, structure


def ship(results_dir, study, partial=False, methods=None, traces=True):
    """Pack the cells of a study, of all its methods by default; return those packed now, unchanged, and left out.

    A cell, ``dataset/method``, is left out where it lacks trials of what its last run was asked for, unless `partial`.
    Without `traces`, the objectives after every sweep are left out, which a run makes again; their largest rise stays.
    A ValueError says that the study has no cells, or another protocol than the shipped study of its name; a StoreError
    is about a cell of several versions of the code or of packages, and a damaged file.
    """
    paths = cells_of(results_dir, study, None, None)
    paths = [path for path in paths if methods is None or path.parent.name in methods]
    if not paths:
        raise ValueError(f"the study {study!r} has no results in {results_dir}: check its name, or give --results-dir.")
    protocol, target = Path(results_dir, study, "protocol.json"), SHIPPED / study / PROTOCOL
    rules = protocol.read_text()
    if target.exists() and from_json(rules) != from_json(target.read_text()):
        raise ValueError(f"{protocol} is not the protocol of {target}: ship under another study's name.")
    frames, lacking, left_out = {}, {}, []
    for dataset, cells in groupby(paths, key=lambda path: path.parent.parent.name):  # read as one, which is quicker
        cells = list(cells)
        whole = tidy(results_of(cells, protocol.parent))
        for folder in [path.parent for path in cells]:
            own, (asked, n_workers) = whole[whole["method"] == folder.name], read_run(folder)
            own = own.assign(feature_set=from_one(own["feature_set"]))
            own = own if traces else own.assign(trace=None)
            missing = set(asked or ()) - set(own["trial"])
            if own.empty or ((missing or n_workers) and not partial):
                left_out.append(f"{dataset}/{folder.name}")
                continue
            if len({Identity.stored(row) for row in own[list(Identity._fields)].to_dict("records")}) > 1:
                raise StoreError(
                    f"{folder} mixes code, packages or machines: run the cell again, so that all of it is of one."
                )
            for kind, _, trial, words in structure.faults(own, rules, {dataset: len(missing)}):
                if kind == REFUSED:
                    raise StoreError(f"{folder}{f' {trial}' if trial else ''}: {words}")
            frames.setdefault(folder.name, {})[dataset] = own
            lacking.setdefault(folder.name, {})[dataset] = len(missing)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(protocol, target)
    new, kept = [], []
    for method, found in frames.items():
        changed = _add(study, method, found, lacking[method])
        new += [f"{dataset}/{method}" for dataset in changed]
        kept += [f"{dataset}/{method}" for dataset in found if dataset not in changed]
        for file in COLUMNS:
            there = [Path(results_dir, study, dataset, method, file) for dataset in found]
            refits = [read(path) for path in there if path.exists()]
            if refits := [rows for rows in refits if len(rows)]:
                ship_refits(study, file, method, pd.concat(refits), "dataset", list(found))
    return sorted(new), sorted(kept), sorted(left_out)


def _add(study, method, found, lacking):
    """Put the cells of a method, frames by data set, into its file; return the data sets of those that changed."""
    target = SHIPPED / study / f"{method}.parquet"
    before, lacked = {}, {}
    if target.exists():
        before = dict(iter(reference.read(study, [method], lists=True).groupby("dataset")))
        lacked = {dataset: count for (dataset, name), count in reference.lacking(study).items() if name == method}
    changed = [
        dataset
        for dataset, own in found.items()
        if dataset not in before or packed(own, lacking[dataset]) != packed(before[dataset], lacked.get(dataset, 0))
    ]
    if changed:
        lacked |= lacking
        frame = pd.concat((before | found).values(), ignore_index=True)
        replace_file(target, packed(frame, {name: count for name, count in sorted(lacked.items()) if count}))
    return changed


def main():
    """Pack the study that the command line names."""
    parser = parser_of("scripts.ship", __doc__)
    parser.add_argument("study", type=lambda word: word.removeprefix("study="))
    parser.add_argument("--results-dir", default=SHIPPED.parent)
    parser.add_argument("--partial", action="store_true", help="also cells that lack trials")
    parser.add_argument("--no-traces", action="store_true", help="leave out the objective after every sweep")
    parser.add_argument("--further", action="store_true", help="selections alone, on data that it lacks")
    given = parser.parse_args()
    if given.further:
        for method, count in ship_further(Study.open(given.results_dir, given.study).filled()).items():
            print(f"{method}: {counted(count, 'selection')} packed.")
        return
    new, kept, left_out = ship(given.results_dir, given.study, given.partial, traces=not given.no_traces)
    total = sum(path.stat().st_size for path in (SHIPPED / given.study).rglob("*") if path.is_file())
    print(f"{counted(len(new), 'cell')} packed, {len(kept)} unchanged, {len(left_out)} left out as they lack trials.")
    print(f"{SHIPPED / given.study}: {total / 1e6:.2f} MB")
    for name in left_out:
        print(f"  left out: {name}")


if __name__ == "__main__":
    with program():
        main()
