"""Every method at its default parameters, as Markdown: ``python -m scripts.method_table help``."""

import shlex

import pandas as pd

from datasets import dataset_names
from metrics.protocol import Protocol
from metrics.study import UNSCORED
from metrics.study.frames import params_of
from runners.place import place_of
from runners.store.row import from_json
from runners.words import did_you_mean
from scripts.core.conf import find, names
from scripts.core.entry import command
from scripts.core.study import Study
from scripts.core.text import deliver, mean_std
from scripts.core.views import render
from scripts.core.words import NOT_RUN

HEAD = ("Method", "ACC", "NMI", "ACC learned", "NMI learned", "fit s", "sweeps", "status", "peak MB", "objective")


def method_table(study, methods, datasets, options=()):
    """Return the tables, with notes on how to read them and the commands that fill their gaps, with these options."""
    sizes = {dataset: _largest(study, dataset) for dataset in datasets}
    chosen = {
        (method, name): _trial(study.trials, method, name, sizes[name]) for name in datasets for method in methods
    }
    tables = [
        (name, sizes[name], [HEAD, *(_cells(method, chosen[method, name], study, sizes[name]) for method in methods)])
        for name in datasets
    ]
    found = pd.DataFrame([trial for trial in chosen.values() if trial is not None], columns=study.trials.columns)
    shown = study.trials["method"].isin(methods) & study.trials["dataset"].isin(datasets)
    gaps = {key: trial for key, trial in chosen.items() if _is_gap(trial)}
    return render(
        "method_table.md.j2",
        tables=tables,
        study=study.name,
        days=[text[:10] for text in found["started"]],
        codes=sorted({sha[:7] + ("-dirty" if sha.endswith("-dirty") else "") for sha in found["git_sha"]}),
        machines=sorted({from_json(text or "{}").get("machine", "unknown machine") for text in found["versions"]}),
        n_old=shown.sum() - len(found),
        capped=[(*key, trial) for key, trial in gaps.items() if trial is not None],
        n_gaps=len(gaps),
        n_cells=len(chosen),
        commands=_commands(chosen, methods, datasets, options),
    )


def _largest(study, dataset):
    """Return the largest size of the protocol that is stored on a data set; None where there is none."""
    trials = study.trials[study.trials["dataset"] == dataset]
    stored = {size for sizes in trials["sizes"] for size in sizes}
    asked = Protocol(**study.protocol).sizes_on(dataset) if study.protocol else ()
    return max(stored.intersection(asked), default=None)


def _trial(trials, method, dataset, size):
    """Return the stored trial with today's default parameters, the one of this size if there is one, or None."""
    trials = trials[(trials["method"] == method) & (trials["dataset"] == dataset)]
    of_this_pair = (find("cell", f"{dataset}_{method}") or {}).get("method", {}).get("params", {})
    wanted = {**find("method", method)["params"], **of_this_pair}
    same = params_of(trials).map(lambda own: {name: own[name] for name in own if name != "n_clusters"} == wanted)
    trials = trials[same.astype(bool)].sort_values("started", kind="stable")
    sized = trials[trials["sizes"].map(lambda sizes: size in sizes).astype(bool)]
    trials = trials if sized.empty else sized
    return None if trials.empty else trials.iloc[-1]


def _cells(method, trial, study, size):
    """Return the texts of one line, in the columns of HEAD."""
    if trial is None or trial["status"] in UNSCORED:
        status = NOT_RUN if trial is None else trial["status"]
        return tuple({"Method": method, "status": status}.get(name, "-") for name in HEAD)
    sets = study.summary[study.summary["trial"] == trial["trial"]].set_index("clusterer")
    values = ["-"] * 4
    for place, clusterer in ((0, "kmeans"), (2, "learned")):
        found = sets.loc[sets.index == clusterer]
        found = found[found["n_selected"] == size] if (found["n_selected"] == size).any() else found.tail(1)
        for own in found.to_dict("records"):
            texts = (mean_std(own[f"{name}_mean"], own[f"{name}_std"], "±") for name in ("acc", "nmi"))
            values[place : place + 2] = [text or "-" for text in texts]
    trace = study.traces.get(trial["trial"], ())
    objective = f"{trace[0]:.5g} to {trace[-1]:.5g}" if len(trace) else "-"
    fit = f"{trial['fit_s']:.3f}", str(trial["n_iter"]), trial["status"], f"{trial['peak_mb']:.0f}"
    return method, *values, *fit, objective


def _is_gap(trial):
    return trial is None or trial["status"] in UNSCORED


def _commands(chosen, methods, datasets, options):
    """Return a command for each method with gaps; one command for all might let methods share a graph in memory."""
    words = ["python", "run.py", *options]
    gaps = {method: [name for name in datasets if _is_gap(chosen[method, name])] for method in methods}
    if len(methods) > 1 and all(trial is None for trial in chosen.values()):
        return [shlex.join(words)]
    return [
        shlex.join([*words, f"method={method}", f"dataset={','.join(gaps[method])}"])
        for method in methods
        if gaps[method]
    ]


@command("method_table")
def main(options):
    """Print the tables, or write them to a file."""
    sweep = find("experiment", "methods")["hydra"]["sweeper"]["params"]["dataset"].split(",")
    wanted = {}
    for option, known, usual in (("methods", names("method"), None), ("datasets", dataset_names(), sweep)):
        given = options[option]
        wanted[option] = [given] if isinstance(given, str) else given or usual or known
        for name in wanted[option]:
            if name not in known:
                raise ValueError(f"{option}={name} is unknown.{did_you_mean(name, known)}")
    study = Study.open(options["results_dir"], options["study"])
    name = study.own_name
    if name != "methods" and find("experiment", name):
        extra = [f"experiment={name}", "runner.points=default"]
    else:
        extra = ["experiment=methods", *([f"study={name}"] if name != "methods" else [])]
    extra += place_of(options["results_dir"])
    deliver(method_table(study, *wanted.values(), extra), options["output"])


if __name__ == "__main__":
    main()
