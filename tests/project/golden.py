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
import warnings
from pathlib import Path

from ufs_bench.runners import arithmetic

arithmetic.start()  # before numpy is imported

import numpy as np
import pandas as pd

from ufs_bench.metrics.centred import centred
from ufs_bench.metrics.evaluate import evaluate, evaluate_labels
from ufs_bench.metrics.measures import DECIMALS
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.metrics.threads import one_thread
from ufs_bench.runners import code
from ufs_bench.runners.experiment.method import load_class
from ufs_bench.runners.experiment.trial import stored_trial
from ufs_bench.runners.papers import PAPERS
from ufs_bench.runners.store.identity import ARITHMETIC, versions
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.runners.workers.data import Data
from ufs_bench.scripts.compare import compare_studies, controls_of, open_studies, shipped_names
from ufs_bench.scripts.compare.headline import line_table
from ufs_bench.scripts.core.conf import ROOT, find
from ufs_bench.scripts.core.papers import paper_tables
from ufs_bench.scripts.core.refits import data_of
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.findings.plan import estimates
from ufs_bench.scripts.make_table import make_table
from ufs_bench.scripts.make_table.formats import to_csv

HERE = Path(__file__).with_name("golden")  # of the files
RESULTS = ROOT / "results"
STUDIES = "dgufs fair fair_half fair_points fair_twice ground_truth jgufs kmeans_ufs rufs ufsol".split()
SPECS = {spec.name: (paper, spec) for paper in PAPERS for spec in paper_tables(paper)}
LINES = ["paper", "line", "cells", "own_cells", "partial", "absent", "value", "p", "random", "all_features"]
N_FITS, CPU_SECONDS = 200, 900
EVALUATION = "evaluation"  # the name of its line in the file of code


PARTS = ("ranking", "scores", "trace", "labels", "evaluation")
COLUMNS = ("study", "dataset", "method", "trial", *PARTS, ARITHMETIC)
DIGITS = 16


def opened(name):
    """Open a shipped study."""
    return Study.open(RESULTS, PREFIX + name)


def table(name):
    """Return a table of a paper with all variants, from the shipped results, as CSV."""
    paper, spec = SPECS[name]
    return to_csv(make_table(spec, opened(paper), "best_over_grid", True))


def gains(plan=None):
    """Return the gains of all methods over random rankings on the data of the plan, as CSV."""
    found = (plan or estimates(opened("fair"))).table
    return found[["mean", "low", "high", "p"]].to_csv(float_format="%.6g", lineterminator="\n")


def verdicts(studies=None, comparison=None):
    """Return the five lines of every paper's comparison, as CSV."""
    studies = studies or open_studies(RESULTS, shipped_names())
    lines = line_table(compare_studies(studies) if comparison is None else comparison, controls_of(studies))
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
        yield row, digests(trial, data)


def rounds(trials, seed=0):
    """Return `N_FITS` scored trials, of every method of a study one, then a second; the short first of each round."""
    scored = trials[~trials["status"].isin(UNSCORED)].sort_values(["study", "method", "dataset", "trial"])
    drawn = scored.iloc[np.random.default_rng(seed).permutation(len(scored))]
    seconds = drawn["fit_s"] + drawn["eval_s"]
    drawn = drawn.assign(round=drawn.groupby(["study", "method"]).cumcount(), seconds=seconds)
    drawn = drawn.sort_values(["round", "seconds"], kind="stable")
    return drawn[drawn["seconds"].cumsum() <= CPU_SECONDS].head(N_FITS)


def digests(trial, data):
    """Return the digest of each of `PARTS` of a trial that is fitted and evaluated now, in this process."""
    scaled = Data.scaled(data, trial.protocol, trial.method)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = trial.selector().fit(scaled.fitted_on)
        sets = [selector.subset(size) for size in trial.sizes]
        how = data.y, trial.protocol, data.clusters, centred(scaled.X)
        scores = [evaluate(features, scaled.X, *how)[0] for features in sets]
    labels = getattr(selector, "labels_", None)
    if labels is not None:
        scores.append(evaluate_labels(labels, data.y, trial.protocol.nmi))
    scores = [np.round(values, DECIMALS) + 0.0 for values in scores]  # as they are stored, and without -0.0
    values = [selector.ranking_], [selector.scores_], [selector.trace_, selector.objective_], [labels], scores
    return {name: _digest(value) for name, value in zip(PARTS, values, strict=True)}


def _digest(arrays):
    found = hashlib.sha256()
    for array in arrays:
        if array is not None:
            array = np.ascontiguousarray(array)
            found.update(f"{array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return found.hexdigest()[:DIGITS]


def write_fits():
    """Draw fits of all studies, short ones of every method first, and write their digests."""
    rows = rounds(pd.concat([opened(name).filled().trials.assign(study=name) for name in STUDIES])).to_dict("records")
    here = {ARITHMETIC: versions()[ARITHMETIC]}
    frame = pd.DataFrame([row | now | here for row, now in fit_again(rows)], columns=list(COLUMNS))
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
