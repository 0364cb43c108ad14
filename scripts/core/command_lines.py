"""The command lines that fill the gaps of a study."""

import shlex
from pathlib import Path

import pandas as pd

from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import CAPPED, UNSCORED
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.runners.messages import did_you_mean
from ufs_bench.runners.place import place_of
from ufs_bench.runners.store.fits import FILE
from ufs_bench.runners.store.reference import shipped_studies
from ufs_bench.scripts.core.conf import find, names
from ufs_bench.scripts.core.text import COMPLETE, NO_LABELS, NOT_RUN


class MissingResults(ValueError):
    """Results are not stored; `cells` has the (method, data set) pairs that are wanted."""

    def __init__(self, message, cells=()):
        super().__init__(message)
        self.cells = list(cells)


def no_results(study):
    """Return an error: a study has no results, and which studies have some."""
    there = sorted({path.parts[-4] for path in Path(study.results_dir).glob(f"*/*/*/{FILE}")})
    shipped = [name for name in shipped_studies() if name not in there]
    hint = did_you_mean(study.own_name, there + shipped)
    known = ", ".join(there + [f"{name} (shipped)" for name in shipped]) or "none"
    return f"the study {study.own_name!r} has no results in {study.results_dir}.{hint} Studies there: {known}."


def check_stored(study):
    """Refuse a study that was asked for by its name and holds nothing, unless an experiment of that name fills it."""
    if study.trials.empty and find("experiment", study.own_name) is None:
        raise ValueError(no_results(study))


def with_commands(text, lines):
    """Return an error's text, with the commands below it that fill what is missing, if there are any."""
    head = ["To fill it:"] if any(line.startswith("python ") for line in lines) else []
    return "\n".join([str(text), *head, *(f"  {line}" for line in lines)])


def fill(cells, study, protocol, experiment=None):
    """Return the command lines that fill the cells which are not complete, and notes on them and on what has none.

    There is a line for each set of data sets that lack the same methods.  `cells` has method, dataset, clusterer and
    status.  The trials of the study name its protocol; `protocol` is a file of conf/protocol for a study that holds
    nothing yet.  Where nothing of a whole table is stored, the line is that of `experiment`, if there is such a file.
    A cell has no command where conf/ lacks its files.
    """
    methods, datasets = names("method"), [name for name in cells["dataset"].unique() if find("dataset", name)]
    open_cells = of_kmeans(cells[~cells["status"].isin([COMPLETE, NO_LABELS])])
    unknown = [name for name in dict.fromkeys(open_cells["method"]) if name not in methods]
    unknown += [name for name in dict.fromkeys(open_cells["dataset"]) if name not in datasets]
    runnable = open_cells[open_cells["method"].isin(methods) & open_cells["dataset"].isin(datasets)]
    notes = [f"{name} has no file in conf/: run it again as it was run before" for name in unknown]
    if (cells["status"] == NOT_RUN).all() and find("experiment", experiment):
        return [of_experiment(experiment, study)], notes
    protocol = study.protocol.get("name", protocol)
    settings = [f"protocol={protocol}", *([f"study={study.own_name}"] if study.own_name != protocol else [])]
    settings += overrides(protocol, study.protocol)
    capped = study.trials[study.trials["status"].isin(CAPPED)]
    capped, lines, groups = set(zip(capped["method"], capped["dataset"], strict=True)), [], {}
    for dataset in cells["dataset"].unique():  # in this order
        if wanted := tuple(runnable.loc[runnable["dataset"] == dataset, "method"]):
            groups.setdefault(wanted, []).append(dataset)
    for wanted, places in groups.items():
        sweep = ["-m"] if len(wanted) * len(places) > 1 else []
        words = ["python", "run.py", *sweep, *settings, f"method={','.join(wanted)}", f"dataset={','.join(places)}"]
        if capped & {(method, dataset) for method in wanted for dataset in places}:
            words.append(f"runner.retry=[{','.join(UNSCORED)}]")
        lines.append(shlex.join([*words, *place_of(study.results_dir)]))
    if lines and study.is_shipped:
        notes.append(f"nothing is written to what is shipped: they run in your own study={study.own_name}")
    return lines, notes


def of_experiment(experiment, study):
    """Return the command line that runs an experiment into the folder of results of a study."""
    return shlex.join(["python", "run.py", f"experiment={experiment}", *place_of(study.results_dir)])


def fill_pairs(pairs, study, protocol, grid=None):
    """Return the commands that fill (method, data set) cells of a study, for a figure or a test that lacks them.

    `protocol` is a file of conf/protocol, for a study that holds nothing yet; without either no command can be named.
    `grid` has values of parameters that the method's file does not search; one command each.
    """
    if not study.protocol and find("protocol", protocol) is None:
        return []
    frame = pd.DataFrame(pairs, columns=["method", "dataset"]).assign(clusterer="kmeans", status=NOT_RUN)
    lines, notes = fill(frame, study, protocol)
    if grid:
        lines = [
            f"{line} '+method.grid.{name}=[{','.join(map(str, values))}]'"
            for line in lines
            for name, values in grid.items()
        ]
    return lines + [f"({words})" for words in notes]


def overrides(protocol, stored):
    """Return the overrides that make ``protocol=NAME`` the protocol of the stored trials; none without a name."""
    content = find("protocol", protocol)
    return Protocol(**content).overrides(Protocol(**stored)) if content and stored else []
