"""Writes what must not change: tables of papers, gains, verdicts, trial keys, bytes of fits.

PYTHONPATH=. python tests/project/golden.py        writes the files of golden/ anew
PYTHONPATH=. python tests/project/golden.py fits   those of the 200 fits only
PYTHONPATH=. python tests/project/golden.py check 10   fit every tenth again
"""

import csv
import hashlib
import io
import sys
from pathlib import Path

from runners import arithmetic

arithmetic.start()  # before numpy is imported

import pandas as pd

from runners.experiment.trial import stored_trial
from runners.store.identity import ARITHMETIC, versions
from runners.store.reference import PREFIX
from scripts.compare import compare_studies, controls_of, open_studies, shipped_names
from scripts.compare.headline import line_table
from scripts.core.conf import ROOT, find
from scripts.core.data import data_of
from scripts.core.published import PAPERS
from scripts.core.study import Study
from scripts.core.tables import paper_tables
from scripts.findings.plan import estimates
from scripts.make_table import make_table
from scripts.make_table.formats import to_csv
from scripts.reproduce import digests

HERE = Path(__file__).with_name("golden")  # of the files
RESULTS = ROOT / "results"
STUDIES = "dgufs fair fair_half fair_points fair_twice ground_truth jgufs kmeans_ufs rufs ufsol".split()
SPECS = {spec.name: (paper, spec) for paper in PAPERS for spec in paper_tables(paper)}
LINES = ["paper", "line", "cells", "own_cells", "partial", "absent", "value", "p", "random", "all_features"]
N_FITS, CPU_SECONDS = 200, 900


def opened(name):
    """Open a shipped study."""
    return Study.open(RESULTS, PREFIX + name)


def table(name):
    """Return a table of a paper with all variants, from the shipped results, as CSV."""
    paper, spec = SPECS[name]
    return to_csv(make_table(spec, opened(paper), "best_over_grid", True))


def gains():
    """Return the gains of all methods over random rankings on the data of the plan, as CSV."""
    found = estimates(opened("fair")).table
    return found[["mean", "low", "high", "p"]].to_csv(float_format="%.6g", lineterminator="\n")


def verdicts():
    """Return the five lines of every paper's comparison, as CSV."""
    studies = open_studies(RESULTS, shipped_names())
    lines = line_table(compare_studies(studies), controls_of(studies))
    columns = [name for name in LINES if name in lines]
    return lines[columns].to_csv(index=False, float_format="%.6g", lineterminator="\n")


def keys():
    """Return the number of trials of each shipped study, and one digest of all their keys, as CSV."""
    rows = ["study,trials,sha256"]
    for name in STUDIES:
        own = sorted(set(opened(name).trials["trial"]))
        rows.append(f"{name},{len(own)},{hashlib.sha256(' '.join(own).encode()).hexdigest()}")
    return "\n".join([*rows, ""])


def stored_fits():
    """Return the rows of the file of fits."""
    with open(HERE / "fits.csv", newline="") as file:
        return list(csv.DictReader(file))


def fit_again(rows):
    """Fit the given rows of the file of fits; yield each with the digests that the fit has now."""
    found = {}
    for row in rows:
        name, dataset = row["study"], row["dataset"]
        study = found.setdefault(name, opened(name))
        trials = study.trials[(study.trials["trial"] == row["trial"]) & (study.trials["method"] == row["method"])]
        if (name, dataset) not in found:
            found[name, dataset] = data_of(trials, study.data_dir)
        data, _ = found[name, dataset]
        if data is None:
            continue
        stored = trials.iloc[0].to_dict()
        trial = stored_trial(stored, find("method", row["method"])["target"])
        yield row, digests.digests(trial, data)


def write_fits():
    """Draw fits of all studies, short ones of every method first, and write their digests."""
    studies = [opened(name) for name in STUDIES]
    parts = [study.part(study.filled().trials["method"], study.filled().trials["dataset"]) for study in studies]
    rows = digests.fit(parts, N_FITS, CPU_SECONDS)
    frame = pd.DataFrame(rows, columns=list(digests.COLUMNS))
    frame["study"] = frame["study"].str.removeprefix(PREFIX)
    frame.to_csv(HERE / "fits.csv", index=False, lineterminator="\n")


def check_fits(step):
    """Fit every so many of the fits again; print how many were, and return a line for each with other bytes."""
    rows = [row for row in stored_fits()[::step] if row[ARITHMETIC] == versions()[ARITHMETIC]]
    again = list(fit_again(rows))
    print(f"{len(again)} fits of this arithmetic, whose data are here, were fitted again")
    different = [(row, [part for part in now if row[part] != now[part]]) for row, now in again]
    return [f"{row['study']} {row['dataset']} {row['method']}: other {parts}" for row, parts in different if parts]


def main(words):
    """Write all files, or only the fits, or check the fits."""
    if words[:1] == ["check"]:
        sys.exit("\n".join(check_fits(int(words[1]))) or 0)
    if not words:
        for name in SPECS:
            (HERE / f"{name}.csv").write_text(table(name), encoding="utf-8")
        for name, text in {"gains": gains, "verdicts": verdicts, "keys": keys}.items():
            (HERE / f"{name}.csv").write_text(text(), encoding="utf-8")
    if not words or "fits" in words:
        write_fits()


def numbers(text):
    """Return the cells of a CSV text."""
    return list(csv.reader(io.StringIO(text)))


if __name__ == "__main__":
    main(sys.argv[1:])
