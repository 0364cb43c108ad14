"""Packs finished cells of a study into results/reference: one Parquet file for each method, with all its data sets."""

import json
from itertools import groupby
from pathlib import Path

import pandas as pd

from ufs_bench.runners.experiment.notes import read_run
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.files import replace_file
from ufs_bench.runners.store.fits import cells_of, load_fits, read_fits
from ufs_bench.runners.store.identity import Identity
from ufs_bench.runners.store.parquet import from_one, packed
from ufs_bench.runners.store.reference import PROTOCOLS, SHIPPED, protocols
from ufs_bench.runners.store.row import from_json
from ufs_bench.runners.store.tidy import tidy
from ufs_bench.scripts.core.refits import OF_TRIALS, joined, read, write
from ufs_bench.scripts.ship import REFUSED, rows


def ship(results_dir, study, partial=False, methods=None, datasets=None, traces=True):
    """Pack the cells of a study, by default all; return those packed now, unchanged, and left out.

    A cell, ``dataset/method``, is left out where it lacks trials of what its last run was asked for, unless `partial`.
    Without `traces`, the objectives after every sweep are left out, which a run makes again; their largest rise stays.
    A ValueError says that the study has no cells, or another protocol than the shipped study of its name; a StoreError
    is about a cell of several versions of the code or of packages, and a damaged file.
    """
    paths = cells_of(results_dir, study)
    paths = [path for path in paths if methods is None or path.parent.name in methods]
    paths = [path for path in paths if datasets is None or path.parent.parent.name in datasets]
    if not paths:
        raise ValueError(f"the study {study!r} has no results in {results_dir}: check its name, or give results_dir.")
    found, known = {fit["protocol"] for path in paths for fit in read_fits(path)}, protocols()
    if len(found) > 1 or (study in known and found - {reference.protocol_text(study)}):
        raise ValueError(f"the fits are not all of the protocol of {SHIPPED / study}: ship under another study's name.")
    rules = "".join(found)
    frames, lacking, left_out = {}, {}, []
    for dataset, cells in groupby(paths, key=lambda path: path.parent.parent.name):  # read as one, which is quicker
        cells = list(cells)
        whole = tidy(load_fits(results_dir, study, dataset))
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
            for kind, _, trial, words in rows.faults(own, rules):
                if kind == REFUSED:
                    raise StoreError(f"{folder}{f' {trial}' if trial else ''}: {words}")
            frames.setdefault(folder.name, {})[dataset] = own
            lacking.setdefault(folder.name, {})[dataset] = len(missing)
    if frames:
        (SHIPPED / study).mkdir(parents=True, exist_ok=True)
        if study not in known:
            text = json.dumps(known | {study: from_json(rules)}, sort_keys=True, indent=1)
            replace_file(SHIPPED / PROTOCOLS, f"{text}\n".encode())
    new, kept = [], []
    for method, found in frames.items():
        changed = _add(study, method, found, lacking[method])
        new += [f"{dataset}/{method}" for dataset in changed]
        kept += [f"{dataset}/{method}" for dataset in found if dataset not in changed]
    _ship_refits(Path(results_dir, study), SHIPPED / study, [cell.split("/") for cell in new + kept])
    return sorted(new), sorted(kept), sorted(left_out)


def _ship_refits(folder, target, cells):
    """Put the refits of some cells, (data set, method), in the place of those that are shipped of them."""
    for kind in OF_TRIALS:
        own, before = (
            (rows, pd.MultiIndex.from_frame(rows[["dataset", "method"]]).isin([*map(tuple, cells)]))
            for rows in (read(folder, kind), read(target, kind))
        )
        if own[1].any():
            write(target, kind, joined(before[0][~before[1]], own[0][own[1]]))


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
