"""Pack finished cells of a study into results/reference, which every checkout has and every command reads.

    python -m scripts.ship dgufs                     the cells of results/dgufs in which nothing is missing
    python -m scripts.ship dgufs --partial           the others, too, which tables then call partial
    python -m scripts.ship dgufs --results-dir DIR   from another folder of results
    python -m scripts.ship ground_truth --by-method  one file for each method, not for each cell: for many small cells

A file is packed again only where its rows have changed.  Then commit results/reference.
"""

import argparse
import hashlib
import io
import json
import lzma
import math
import shutil
import tarfile
from pathlib import Path

from metrics.study import UNSCORED
from runners.boundary import boundary
from runners.files import StoreError, read_rows, replace_file, write_rows
from runners.provenance import Identity, read_run
from runners.reference import ENDING, MANIFEST, PROTOCOL, RESTORE, SHIPPED, manifest
from runners.row import COLUMNS as FILES
from runners.store import cells_of
from scripts.core.entry import answers

COLUMNS = "dataset method file sha256 trials asked unscored cpu_s code_fit code_evaluation git_sha started".split()
ALSO = ("seeds.csv", "stability.csv")  # the files of refits, where there are some


def ship(results_dir, study, partial=False, by_method=False):
    """Pack the cells of a study.

    Parameters
    ----------
    results_dir : path
    study : str
    partial : bool, default=False
        Also pack cells that lack trials of what their last run was asked for.
    by_method : bool, default=False
        One file holds all cells of a method.  A study stays as it was shipped first.

    Returns
    -------
    packed, kept, left_out : list of str
        Cells, as ``dataset/method``: packed now, unchanged since they were packed, and left out as partial.

    Raises
    ------
    ValueError
        Where the study has no cells, where its protocol is not that of the shipped study of its name, and where
        `by_method` is asked for and one file for each cell is shipped.
    StoreError
        For a cell of several versions of the code or of packages, and for a damaged file with cells that `results_dir`
        has not.
    """
    cells = cells_of(results_dir, study, None, None)
    if not cells:
        raise ValueError(f"the study {study!r} has no results in {results_dir}: check its name, or give --results-dir.")
    target = SHIPPED / study
    target.mkdir(parents=True, exist_ok=True)
    _claim(Path(results_dir, study, PROTOCOL), target / PROTOCOL)
    rows = {(row["dataset"], row["method"]): row for row in manifest(target)}
    if by_method and any("/" in row["file"] for row in rows.values()):
        raise ValueError(
            f"{target} has one file for each cell, which --by-method would leave behind: ship without it; or, with the "
            f"results of all {len(rows)} cells in {results_dir}, delete that folder first."
        )
    by_method = by_method or any("/" not in row["file"] for row in rows.values())
    files, left_out = {}, []
    for path in cells:
        dataset, method = cell = path.parts[-3:-1]
        trials, (asked, n_workers) = read_rows(path), read_run(path.parent)
        missing = set(asked or ()) - {row["trial"] for row in trials}
        if not trials or ((missing or n_workers) and not partial):
            left_out.append(f"{dataset}/{method}")
            continue
        file = f"{method}{ENDING}" if by_method else f"{dataset}/{method}{ENDING}"
        files.setdefault(file, {})[cell] = _described(cell, file, trials, len(trials) + len(missing)), path.parent
    packed, kept = [], []
    for file, found in files.items():
        before = {cell: row for cell, row in rows.items() if row["file"] == file}
        members = _members(target / file, {row["sha256"] for row in before.values()}, before.keys() - found.keys())
        changed = set()
        for cell, (_, folder) in found.items():
            prefix = f"{cell[0]}/" if by_method else ""
            csvs = {name: data for name, data in members.items() if name.startswith(prefix)}
            if csvs != (now := _csvs(folder, prefix)):
                changed.add(cell)
                members = {name: data for name, data in members.items() if name not in csvs} | now
        kept += [cell for cell in found if cell not in changed]
        if not changed:
            continue
        data = _compressed(_archive(members))
        (target / file).parent.mkdir(exist_ok=True)
        replace_file(target / file, data)
        rows |= {cell: found[cell][0] for cell in changed}
        for cell in before.keys() | changed:
            rows[cell]["sha256"] = hashlib.sha256(data).hexdigest()
        write_rows(target / MANIFEST, COLUMNS, [[rows[cell][name] for name in COLUMNS] for cell in sorted(rows)])
        packed += sorted(changed)
    return ["/".join(cell) for cell in packed], ["/".join(cell) for cell in kept], left_out


def _csvs(folder, prefix):
    """Return the bytes of a cell's CSVs by their names in the archive."""
    names = (*(f"{name}.csv" for name in FILES), *ALSO)
    return {f"{prefix}{name}": Path(folder, name).read_bytes() for name in names if Path(folder, name).exists()}


def _members(file, sha256, needed):
    """Return what a shipped file holds; nothing where it is new, or damaged and none of its cells is needed."""
    data = file.read_bytes() if file.exists() else b""
    if {hashlib.sha256(data).hexdigest()} != sha256:
        if needed:
            raise StoreError(f"{file} is not the file that its manifest lists: {RESTORE}.")
        return {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def _archive(members):
    """Return the archive of these files, the same bytes for the same rows; those of a kind are next to each other."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(members, key=lambda name: (name.rpartition("/")[2], name)):
            member = tarfile.TarInfo(name)  # without times and owners
            member.size = len(members[name])
            archive.addfile(member, io.BytesIO(members[name]))
    return buffer.getvalue()


def _compressed(archive):
    # The dictionary of preset 9 has 64 MB, and to clear it takes longer than to compress a cell, which has some 100 kB.
    size = 1 << (len(archive) - 1).bit_length()
    return lzma.compress(archive, filters=[{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": min(size, 2**26)}])


def _claim(source, target):
    """Copy the protocol of a study; refuse one that is not that of the shipped cells."""
    if not target.exists():
        shutil.copy(source, target)
    elif json.loads(source.read_text()) != json.loads(target.read_text()):
        raise ValueError(f"{source} is not the protocol of {target}: ship under another study's name.")


def _described(cell, file, trials, asked):
    identities = sorted({Identity.stored(row) for row in trials})
    if len(identities) > 1:
        raise StoreError(
            f"{'/'.join(cell)} mixes code, packages or machines: run the cell again, so that all of it is of one."
        )
    spent = [float(row[name] or 0) for row in trials for name in ("fit_s", "eval_s")]
    seconds = sum(value for value in spent if not math.isnan(value))  # a fit without scores has no evaluation
    return {
        "dataset": cell[0],
        "method": cell[1],
        "file": file,
        "trials": len(trials),
        "asked": asked,
        "unscored": sum(row["status"] in UNSCORED for row in trials),
        "cpu_s": f"{seconds:.1f}",
        "code_fit": identities[0].code_fit,
        "code_evaluation": identities[0].code_evaluation,
        "git_sha": " ".join(sorted({row["git_sha"] for row in trials})),
        "started": min(row["started"] for row in trials),
    }


def main():
    """Pack the study that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.ship", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", type=lambda word: word.removeprefix("study="))
    parser.add_argument("--results-dir", default=SHIPPED.parent)
    parser.add_argument("--partial", action="store_true", help="also cells that lack trials")
    parser.add_argument("--by-method", action="store_true", help="one file for each method")
    given = parser.parse_args()
    packed, kept, left_out = ship(given.results_dir, given.study, given.partial, given.by_method)
    total = sum(path.stat().st_size for path in (SHIPPED / given.study).rglob("*") if path.is_file())
    print(f"{len(packed)} cells packed, {len(kept)} unchanged, {len(left_out)} left out as they lack trials.")
    print(f"{SHIPPED / given.study}: {total / 1e6:.2f} MB")
    for name in left_out:
        print(f"  left out: {name}")


if __name__ == "__main__":
    with boundary(), answers():
        main()
