"""Runs one method under the protocol of a study, by ``run.py``."""

import re
import subprocess
import sys
from pathlib import Path

from ufs_bench.datasets.load import at_hand
from ufs_bench.runners.cli.choices import quoted
from ufs_bench.runners.words import did_you_mean
from ufs_bench.scripts.core.command_lines import overrides
from ufs_bench.scripts.core.conf import ROOT, find
from ufs_bench.scripts.core.text import listed
from ufs_bench.scripts.rank.choice import choose, is_control

OF_RUN = re.compile(r"[+~]*(method[.@]|runner[.@=]|cell=)")
FOLDERS = ("--config-dir", "-cd")
ENDED = (0, 1)  # exit statuses of a run that came to its end; 1 where trials failed


def divided(words):
    """Return the words of a command line that run.py is handed as they are, options first, and the others."""
    folders, handed, own, words = [], [], [], list(words)
    while words:
        word = words.pop(0)
        if word.partition("=")[0] in FOLDERS:
            folders += [word, *([words.pop(0)] if "=" not in word and words else [])]
        else:
            (handed if OF_RUN.match(word) else own).append(word)
    return folders + handed, own


def data_sets(study, wanted=None, data_dir=None):
    """Return the data sets of a study that are here, one a source or the wanted, and sentences on what is left out."""
    stored = sorted(study.trials["dataset"].unique())
    if unknown := [name for name in wanted or () if name not in stored]:
        raise ValueError(
            f"datasets: {unknown[0]} is not in study={study.own_name}.{did_you_mean(unknown[0], stored)} "
            f"There are: {', '.join(stored)}."
        )
    here = [name for name in wanted or stored if at_hand(name, data_dir)]
    if not here:
        raise ValueError(
            f"none of the data sets of study={study.own_name} is on this machine: set data_dir or UFS_DATA_DIR, or run "
            f"python -m scripts.fetch_data dataset={','.join(wanted or stored)}."
        )
    away = [name for name in wanted or stored if name not in here]
    said = [f"Not here: {', '.join(away)}; python -m scripts.fetch_data dataset=all gets them."] if away else []
    if wanted:
        return sorted(set(here)), said
    choice = choose(study.part(study.trials["method"].unique(), here))
    return choice.datasets, [text for text in choice.left_out if "same source" in text] + said


def most_points(study, datasets):
    """Return the largest number of grid points that a method of the study has on one of these data sets."""
    trials = study.trials[study.trials["dataset"].isin(datasets)]
    trials = trials[~trials["method"].map(is_control).astype(bool)]
    if trials.empty:
        raise ValueError(f"study={study.own_name} has controls only: name a study with methods.")
    return int(trials.groupby(["dataset", "method"])["params"].nunique().max())


def timed(study, datasets):
    """Return the data sets that tell a plan what a method takes: with most samples, most features, most of both."""
    shapes = study.trials.groupby("dataset")[["n_samples", "n_features"]].first().loc[datasets]
    return sorted({*shapes.idxmax(), shapes.prod(axis=1).idxmax()})


def fit(study, own, label, handed, datasets, options):
    """Fit a method under the protocol of a study, and store that as the study `own`; with plan=true only say the plan.

    A method that was never fitted is fitted at its default parameters on the largest data sets before the plan is made.
    A SystemExit ends the command after a plan, and where run.py refuses the words that it is handed, or is stopped.
    """
    protocol = study.protocol["name"]
    if find("protocol", protocol) is None:
        raise ValueError(f"study={study.own_name} has protocol={protocol}, which is no file of conf/protocol.")
    words = [sys.executable, str(ROOT / "run.py"), "-m", *handed]
    words += [f"protocol={protocol}", *overrides(protocol, study.protocol)]
    words += [f"method={options['method']}"] if options["method"] is not None else []
    words += [f"study={own}", "missing_data=skip"]
    given = {name: options[name] for name in ("results_dir", "data_dir") if options[name] is not None}
    words += [f"{name}={quoted(folder)}" for name, folder in given.items()]
    whole = [*words, f"dataset={','.join(datasets)}", f"runner.points={options['points']}"]
    if not list(Path(options["results_dir"], own).glob(f"*/{label}/trials.csv")):
        first = timed(study, datasets)
        print(f"First the default parameters on the largest data sets, {listed(first)}:", file=sys.stderr, flush=True)
        _run_to_end([*words, f"dataset={','.join(first)}", "runner.points=default"])
    plan = _run([*whole, "runner.plan=true"])
    if plan or options["plan"]:
        raise SystemExit(plan)
    _run_to_end(whole)


def _run_to_end(words):
    if (status := _run(words)) not in ENDED:
        raise SystemExit(status)


def _run(words):
    """Run a command with all it says on the standard error, and return its exit status."""
    with subprocess.Popen(words, stdout=2) as process:
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
