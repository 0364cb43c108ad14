"""Writes what must not change: tables of papers, gains, verdicts, trial keys, bytes of fits.

PYTHONPATH=. python tests/project/golden.py        writes the files of golden/ anew
PYTHONPATH=. python tests/project/golden.py fits   those of the 200 fits only
PYTHONPATH=. python tests/project/golden.py check 10   fit every tenth again
PYTHONPATH=. python tests/project/golden.py lines  print the list of code with the digests that the code has now
PYTHONPATH=. python tests/project/golden.py code   fit all again and, if none has other bytes, take the code that is
                                                   there for that of the shipped results (runners/code.py)
"""

import csv
import hashlib
import io
import sys
from pathlib import Path

from ufs_bench.runners import arithmetic

arithmetic.start()  # before numpy is imported

import pandas as pd

from ufs_bench.runners import code
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.store.identity import ARITHMETIC, versions
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.scripts.compare import compare_studies, controls_of, open_studies, shipped_names
from ufs_bench.scripts.compare.headline import line_table
from ufs_bench.scripts.core.conf import ROOT, find
from ufs_bench.scripts.core.data import data_of
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.tables import paper_tables
from ufs_bench.scripts.findings.plan import estimates
from ufs_bench.scripts.make_table import make_table
from ufs_bench.scripts.make_table.formats import to_csv
from ufs_bench.scripts.reproduce import digests

HERE = Path(__file__).with_name("golden")  # of the files
RESULTS = ROOT / "results"
STUDIES = "dgufs fair fair_half fair_points fair_twice ground_truth jgufs kmeans_ufs rufs ufsol".split()
SPECS = {spec.name: (paper, spec) for paper in PAPERS for spec in paper_tables(paper)}
LINES = ["paper", "line", "cells", "own_cells", "partial", "absent", "value", "p", "random", "all_features"]
N_FITS, CPU_SECONDS = 200, 900
EVALUATION = "evaluation"  # the name of its line in the file of code


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


def code_lines():
    """Return `runners.code.SAME` with the digests that the code has now, as CSV; for a process of its own."""
    with open(code.SAME, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    code._shipped = dict  # so that digests are those of the code
    for row in rows:
        own = row["name"] == EVALUATION
        row["digest"] = (code.code_of_evaluation() if own else code.code_of(load_class(row["name"]))).digest
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


def main(words):
    """Write all files, or only the fits, or check the fits."""
    if words[:1] == ["check"]:
        sys.exit("\n".join(check_fits(int(words[1]))) or 0)
    if words == ["lines"]:
        return print(code_lines(), end="")
    if words == ["code"]:
        if different := check_fits(1):
            sys.exit("\n".join(different))
        code.SAME.write_text(code_lines(), encoding="utf-8")
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
