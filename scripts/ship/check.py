"""Checks shipped cells: their files and rows, then scores, then drawn fits."""

import json
import subprocess
from collections import Counter
from contextlib import suppress

import pandas as pd
import pyarrow.parquet as pq

from ufs_bench.datasets import dataset_names
from ufs_bench.metrics.study import CAPPED
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.messages import StoreError, counted
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.parquet import SCHEMA
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.scripts.core.conf import names
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.refit import again
from ufs_bench.scripts.ship import ELSEWHERE, KINDS, REFUSED, UNVERIFIED, Finding, rows, scores

MOST_SHOWN, GIT_S = 30, 60
UNREADABLE = OSError, ValueError, TypeError, KeyError, AttributeError, StoreError  # what a damaged file ends in


def check_all(options):
    """Check what the options ask for, print what speaks against it, and fail where that is not allowed."""
    given = (options["study"] or "").removeprefix(PREFIX)
    base = None if options["base"] is None else commit_of(options["base"])
    found, frames = [], []
    for name in [given] if given else reference.shipped_studies():
        files = changed(name, base, options["methods"])
        print(f"{name}: {counted(len(files), 'file')}", flush=True)
        frame, own = check(name, files, options["datasets"])
        found += own
        if len(frame):
            frames.append(frame)
            if options["fetch"]:
                scores.fetch(frame, options["fetch"], options["data_dir"])
            wrong = scores.faults(frame, options["data_dir"], options["n_jobs"])
            found += [Finding(kind, name, method, dataset, *rest) for kind, dataset, method, *rest in wrong]
    if options["fits"] and frames:
        folders = options["results_dir"], options["data_dir"]
        found += run_again(pd.concat(frames), options["seed"], options["fits"], *folders, options["n_jobs"])
    elif frames:
        print("No fits were run again: fits=50 draws some.")
    lines = lines_of(found)
    print("\n".join(lines[:MOST_SHOWN]))
    if len(lines) > MOST_SHOWN:
        print(f"... and {len(lines) - MOST_SHOWN} more")
    counts = Counter(one.kind for one in found)
    n_fits = sum(frame["trial"].nunique() for frame in frames)
    print(f"{counted(n_fits, 'fit')}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS))
    if set(counts) - set(options["allow"] or []):
        raise ValueError("not all is accepted; what is said above says why.")


def lines_of(found):
    """Return findings as lines, refused ones first, one for all data sets of a method of which the same is said."""
    places = {}
    for one in sorted(found, key=lambda one: KINDS.index(one.kind)):
        places.setdefault(one if one.trial else one._replace(dataset=""), []).append(one.dataset)
    return [str(one) if one.trial or own == [""] else f"{one} ({', '.join(own)})" for one, own in places.items()]


def changed(name, base, methods=None):
    """Return the files of a study by method that differ from a commit; all where it is None or its protocol differs."""
    files = reference.files_of(name, methods)
    if base is None or _protocols_at(base).get(name) != reference.protocols()[name]:
        return files
    other = changed_files(name, base)
    return {method: path for method, path in files.items() if path.name in other}


def _protocols_at(base):
    """Return the protocols of the studies that are shipped at a commit."""
    with suppress(subprocess.CalledProcessError):  # none are
        return json.loads(_git("show", f"{base}:{_inside()}/{reference.PROTOCOLS}"))
    return {}


def commit_of(base):
    """Return the commit that HEAD and a commit or branch have in common last; a ValueError says that git has none."""
    try:
        return _git("merge-base", "HEAD", base).strip()
    except (OSError, subprocess.SubprocessError) as error:
        raise ValueError(
            f"base={base} and HEAD have no commit in common here: fetch it (a shallow clone lacks it), "
            "or check all with base=null."
        ) from error


def changed_files(name, base):
    """Return the files in the folder of a study that are not those of a commit, relative to it."""
    inside = f"{_inside()}/{name}"
    found = _git("diff", "--name-only", "--no-renames", "-z", base, "--", inside)
    found += _git("ls-files", "--others", "--exclude-standard", "-z", "--", inside)
    return {path.removeprefix(f"{inside}/") for path in found.split("\0") if path}


def _inside():
    return reference.SHIPPED.resolve().relative_to(ROOT.resolve()).as_posix()


def _git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, timeout=GIT_S, text=True)
    return done.stdout


def check(name, files, datasets=None):
    """Check the rows in files of a study, and return those that can be read, and a list of `Finding`."""
    frames, found = [reference.read(name, [], lists=True)], []
    for method, path in files.items():
        try:
            frame = read(name, method, path)
            own = frame if datasets is None else frame[frame["dataset"].isin(datasets)]
            wrong = list(rows.faults(own, reference.protocol_text(name)))
        except UNREADABLE as error:
            wrong = [(REFUSED, "", "", f"it cannot be read ({type(error).__name__}: {str(error).splitlines()[0]}).")]
        found += [Finding(kind, name, method, *rest) for kind, *rest in wrong]
        if not any(kind == REFUSED for kind, *_ in wrong):
            frames.append(own)
    return pd.concat(frames, ignore_index=True), found


def read(name, method, path):
    """Return the rows of a method's file; a ValueError says that it is not such a file."""
    if strange := [field.name for field in pq.read_schema(path) if field not in list(SCHEMA)]:
        raise ValueError(f"{', '.join(strange)} is no column of runners/store/tidy.py")
    frame = reference.read(name, [method], lists=True)
    unknown = set(frame["dataset"]) - set(dataset_names(truth=True))
    if method not in names("method") or frame.empty or set(frame["method"]) != {method} or unknown:
        raise ValueError("it must have rows of the method of its name, in conf/method, on data sets of conf/dataset")
    return frame


def run_again(frame, seed, number, results_dir, data_dir, n_jobs=1, say=print):
    """Run so many fits of shipped rows again, drawn without those that a cap ended; return the findings."""
    one_each = frame.drop_duplicates(["study", "trial"])
    one_each = one_each[~one_each["status"].isin(CAPPED)]
    picked, found = one_each.sample(min(number, len(one_each)), random_state=seed), []
    say(f"{len(picked)} of {len(one_each)} fits are run again, drawn by seed={seed}")
    for name, own in picked.groupby("study"):
        study = Study.open(results_dir, PREFIX + name, data_dir)
        trials = study.trials[study.trials["trial"].isin(own["trial"])]
        for one in again.run_again(study, trials, n_jobs, lambda line: say(f"  {line}")):
            place = name, *(one.row[key] for key in ("method", "dataset", "trial"))
            if one.here is None:
                found.append(Finding(UNVERIFIED, *place, f"its fit was not run again: {one.reason}"))
            elif not one.is_same:
                kind = ELSEWHERE if one.within and one.elsewhere else REFUSED
                found.append(Finding(kind, *place, f"run again, it is another: {one}"))
    say(f"  {len(picked) - len(found)} of {len(picked)} gave what is stored")
    return found
