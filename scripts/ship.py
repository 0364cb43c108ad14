"""Pack finished cells of a study into results/reference, which every checkout has and every command reads.

    python -m scripts.ship dgufs                     the cells of results/dgufs in which nothing is missing
    python -m scripts.ship dgufs --partial           the others, too, which tables then call partial
    python -m scripts.ship dgufs --results-dir DIR   from another folder of results

A cell is one file, packed again only where its rows have changed.  Then commit results/reference.
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
from runners.provenance import read_run
from runners.reference import ENDING, MANIFEST, PROTOCOL, SHIPPED, manifest
from runners.row import COLUMNS as FILES
from runners.store import cells_of
from scripts.core.entry import answers

COLUMNS = (
    "dataset method sha256 bytes trials asked unscored cpu_s code_fit code_evaluation git_sha versions started".split()
)
ALSO = ("seeds.csv", "stability.csv")  # the files of refits, where there are some


def ship(results_dir, study, partial=False):
    """Pack the cells of a study.

    Parameters
    ----------
    results_dir : path
    study : str
    partial : bool, default=False
        Also pack cells that lack trials of what their last run was asked for.

    Returns
    -------
    packed, kept, left_out : list of str
        Cells, as ``dataset/method``: packed now, unchanged since they were packed, and left out as partial.

    Raises
    ------
    ValueError
        Where the study has no cells, and where its protocol is not that of the shipped study of its name.
    """
    cells = cells_of(results_dir, study, None, None)
    if not cells:
        raise ValueError(f"the study {study!r} has no results in {results_dir}: check its name, or give --results-dir.")
    target = SHIPPED / study
    target.mkdir(parents=True, exist_ok=True)
    _claim(Path(results_dir, study, PROTOCOL), target / PROTOCOL)
    rows = {(row["dataset"], row["method"]): row for row in manifest(target)}
    packed, kept, left_out = [], [], []
    for path in cells:
        folder = path.parent
        cell, name = (folder.parent.name, folder.name), f"{folder.parent.name}/{folder.name}"
        trials, (asked, n_workers) = read_rows(path), read_run(folder)
        missing = set(asked or ()) - {row["trial"] for row in trials}
        if not trials or ((missing or n_workers) and not partial):
            left_out.append(name)
            continue
        archive, file = archive_of(folder), target / folder.parent.name / f"{folder.name}{ENDING}"
        if cell in rows and _holds(file, archive, rows[cell]["sha256"]):
            kept.append(name)
            continue
        data = _compressed(archive)
        row = _described(cell, data, trials, len(trials) + len(missing))
        file.parent.mkdir(exist_ok=True)
        replace_file(file, data)
        rows[cell] = row
        write_rows(target / MANIFEST, COLUMNS, [[rows[cell][name] for name in COLUMNS] for cell in sorted(rows)])
        packed.append(name)
    return packed, kept, left_out


def archive_of(folder):
    """Return the archive of a cell's CSVs, the same bytes for the same rows."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in (*(f"{name}.csv" for name in FILES), *ALSO):
            path = Path(folder, name)
            if path.exists():
                data = path.read_bytes()
                member = tarfile.TarInfo(name)  # without times and owners
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _holds(file, archive, sha256):
    data = file.read_bytes() if file.exists() else b""
    return hashlib.sha256(data).hexdigest() == sha256 and lzma.decompress(data) == archive


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


def _described(cell, data, trials, asked):
    codes = {name: sorted({row[name] for row in trials}) for name in ("code_fit", "code_evaluation", "versions")}
    if any(len(values) > 1 for values in codes.values()):
        raise StoreError(f"{'/'.join(cell)} mixes code or packages: run the cell again, so that all of it is of one.")
    spent = [float(row[name] or 0) for row in trials for name in ("fit_s", "eval_s")]
    seconds = sum(value for value in spent if not math.isnan(value))  # a fit without scores has no evaluation
    return {
        "dataset": cell[0],
        "method": cell[1],
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "trials": len(trials),
        "asked": asked,
        "unscored": sum(row["status"] in UNSCORED for row in trials),
        "cpu_s": f"{seconds:.1f}",
        **{name: values[0] for name, values in codes.items()},
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
    given = parser.parse_args()
    packed, kept, left_out = ship(given.results_dir, given.study, given.partial)
    total = sum(int(row["bytes"]) for row in manifest(SHIPPED / given.study))
    print(f"{len(packed)} cells packed, {len(kept)} unchanged, {len(left_out)} left out as they lack trials.")
    print(f"{SHIPPED / given.study}: {total / 1e6:.2f} MB")
    for name in left_out:
        print(f"  left out: {name}")


if __name__ == "__main__":
    with boundary(), answers():
        main()
