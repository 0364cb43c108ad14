"""Checks shipped cells: files, then rows, then scores, then drawn fits."""

import subprocess
from collections import Counter
from pathlib import Path

import pandas as pd

from ufs_bench.metrics.study import CAPPED
from ufs_bench.runners.code import ROOT
from ufs_bench.runners.store import reference
from ufs_bench.runners.store.parquet import about
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.runners.words import counted
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.reproduce import NOT_RUN, SAME, reproduce
from ufs_bench.scripts.ship import ELSEWHERE, KINDS, REFUSED, UNVERIFIED, Finding, files, rows, scores

MOST_SHOWN, GIT_S = 30, 60


def check_all(options):
    """Check what the options ask for, print what speaks against it, and fail where that is not allowed."""
    given = (options["study"] or "").removeprefix(PREFIX)
    names = [given] if given else reference.shipped_studies()
    base = None if options["base"] is None else commit_of(options["base"])
    spent, folder = scores.Spent(options["budget"]), Path(options["results_dir"], ".evaluations")
    found = [] if given else [Finding(REFUSED, one, "", "", "", "it is no study.") for one in files.strangers()]
    kept = [reference.read(names[0], [], lists=True)]
    for name in names:
        cells = part(name, base, options["methods"], options["datasets"])
        print(f"{name}: {counted(len(cells), 'cell')}", flush=True)
        frame, own = check(name, cells, options["data_dir"], spent, folder, options["n_jobs"], print, options["fetch"])
        kept.append(frame)
        found += own
    print(f"{spent}.")
    frame = pd.concat(kept, ignore_index=True)
    if options["fits"] and len(frame):
        folders = options["results_dir"], options["data_dir"]
        found += run_again(frame, options["seed"], options["fits"], *folders, options["n_jobs"])
    else:
        print("No fits were run again: fits=50 draws some." if len(frame) else "Nothing is to be checked.")
    lines = lines_of(found)
    print("\n".join(lines[:MOST_SHOWN]))
    if len(lines) > MOST_SHOWN:
        print(f"... and {len(lines) - MOST_SHOWN} more")
    counts = Counter(one.kind for one in found)
    print(f"{counted(frame['trial'].nunique(), 'fit')}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS))
    if set(counts) - set(options["allow"] or []):
        raise ValueError("not all is accepted; what is said above says why.")


def lines_of(found):
    """Return findings as lines, refused ones first, one for all data sets of a method of which the same is said."""
    places = {}
    for one in sorted(found, key=lambda one: KINDS.index(one.kind)):
        places.setdefault(one if one.trial else one._replace(dataset=""), []).append(one.dataset)
    return [str(one) if one.trial or own == [""] else f"{one} ({', '.join(own)})" for one, own in places.items()]


def part(name, base, methods=None, datasets=None):
    """Return the (data set, method) of a study that are to be checked; the data set of a damaged file is ""."""
    there = reference.files_of(name, methods)
    if base is not None and reference.PROTOCOL not in (changed := changed_files(name, base)):
        there = {method: path for method, path in there.items() if path.name in changed}
    return [
        (dataset, method)
        for method, path in there.items()
        for dataset in files.datasets_of(path)
        if datasets is None or dataset in (*datasets, "")
    ]


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
    inside = (reference.SHIPPED / name).resolve().relative_to(ROOT.resolve()).as_posix()
    found = _git("diff", "--name-only", "--no-renames", "-z", base, "--", inside)
    found += _git("ls-files", "--others", "--exclude-standard", "-z", "--", inside)
    return {path.removeprefix(f"{inside}/") for path in found.split("\0") if path}


def _git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, timeout=GIT_S, text=True)
    return done.stdout


def check(name, cells, data_dir, spent, folder=None, n_jobs=1, say=print, fetch=None):
    """Check cells from `part` without fits; return their rows, but for refused files, and a list of `Finding`.

    `fetch` is how many MB the files of a data set may have that is downloaded, by default none; for the others see
    `scripts.ship.scores.faults`.
    """
    found = [Finding(REFUSED, name, method, "", "", words) for method, words in files.faults_of_study(name)]
    for method in sorted({method for _, method in cells} - {one.method for one in found}):
        datasets = [dataset for dataset, other in cells if other == method]
        found += [Finding(kind, name, method, *rest) for kind, *rest in _of_method(name, method, datasets)]
    bad = {one.method for one in found if one.kind == REFUSED}
    frame = reference.read(name, sorted({method for _, method in cells} - bad), lists=True)
    there = pd.MultiIndex.from_frame(frame[["dataset", "method"]])
    frame = frame[there.isin(cells)]
    if fetch:
        scores.fetch(frame, fetch, data_dir, say)
    for kind, dataset, method, *rest in scores.faults(frame, data_dir, spent, folder, n_jobs, say):
        found.append(Finding(kind, name, method, dataset, *rest))
    return frame, found


def _of_method(name, method, datasets):
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
    yield from rows.faults(own, reference.protocol_text(name), about(path)["lacking"])
    yield from ((REFUSED, "", "", words) for words in files.faults_beside(name, path, frame))


def run_again(frame, seed, number, results_dir, data_dir, n_jobs=1, say=print):
    """Run so many fits of shipped rows again, drawn without those that a cap ended; return the findings."""
    one_each = frame.drop_duplicates(["study", "trial"])
    one_each = one_each[~one_each["status"].isin(CAPPED)]
    picked, found = one_each.sample(min(number, len(one_each)), random_state=seed), []
    say(f"{len(picked)} of {len(one_each)} fits are run again, drawn by seed={seed}")
    for name, own in picked.groupby("study"):
        study = Study.open(results_dir, PREFIX + name, data_dir)
        trials = study.trials[study.trials["trial"].isin(own["trial"])]
        for one in reproduce(study, trials, n_jobs, lambda line: say(f"  {line}")):
            place = name, one.method, one.dataset, one.trial
            if one.outcome == NOT_RUN:
                found.append(Finding(UNVERIFIED, *place, f"its fit was not run again: {one.reason}"))
            elif one.outcome != SAME:
                kind = ELSEWHERE if one.within and not one.expected_same else REFUSED
                found.append(Finding(kind, *place, f"run again, it is {one.outcome}: {one.words}"))
    say(f"  {len(picked) - len(found)} of {len(picked)} gave what is stored")
    return found
