"""The options of a figure: read from the command line, checked, and put into the names of its files."""

import inspect

from ufs_bench.runners.words import did_you_mean
from ufs_bench.scripts.core.conf import check_names, composed, printed
from ufs_bench.scripts.core.entry import defaults

# Options of every figure: where results are, where it goes, and what stands around it.
PLACES = {"figure", "draw", "study", "protocol", "output", "results_dir", "data_dir", "title", "note"}
# Options that are part of a file's name where they differ from the figure's own file.
NAMED = "metric clusterer selection others test size".split()


def one(names, option="dataset"):
    """Return the single name that a figure draws."""
    names = several(names)
    if len(names) != 1:
        raise ValueError(f"{option}={','.join(names)} must be one name here: give one command for each.")
    return names[0]


def several(names):
    """Return a name or a list of names as a list."""
    return [names] if isinstance(names, str) else list(names or [])


def gaps(chosen, datasets, methods=None):
    """Return a line on the methods that lack a score on a data set, or a part of their fits; "" where none does.

    `chosen` is of `Study.select`, of one clusterer.  Without `methods` they are those that it has.
    """
    missing = chosen[chosen["mean"].notna()].set_index(["dataset", "method"])["n_missing"].to_dict()
    pairs = [(name, method) for name in datasets for method in methods or chosen["method"].unique()]
    said = {
        "No scores": [pair for pair in pairs if methods and pair not in missing],
        "Incomplete": [pair for pair in pairs if missing.get(pair)],
    }
    return "".join(f"\n{words}: {_listed(found, len(datasets) > 1)}." for words, found in said.items() if found)


def _listed(pairs, with_dataset):
    return ", ".join(
        printed("method", method) + (f" on {printed('dataset', name)}" if with_dataset else "")
        for name, method in pairs
    )


def usual(figure):
    """Return the settings of a figure without the command line: its file, the one it builds on, and the common ones."""
    return defaults("make_figure") | composed("figure", figure)


def file_name(figure, settings):
    """Return the name of a figure's files: method, data sets and options that differ from its own file."""
    known = usual(figure)
    parts = [figure]
    for name in ("method", "dataset"):
        value = settings.get(name)
        if value and (figure == known.get("draw") or value != known.get(name)):
            parts.append(_text(value))
    for name in NAMED:
        if name in settings and _text(settings[name]) != _text(known.get(name)):
            if name == "metric" and figure.startswith("acc_"):
                parts[0] = figure.replace("acc", settings[name], 1)
            else:
                parts.append(_text(settings[name]))
    return "_".join(parts)


def _text(value):
    if isinstance(value, dict):
        return "_".join(f"{name}{_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "_".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings_of(config, figure, draw, study):
    """Return the checked settings of a figure, which the function `draw` makes, from a configuration."""
    accepted = set(inspect.signature(draw).parameters) - {"study"}
    known = usual(figure)
    changed = {name for name in config.keys() - PLACES if config[name] != known.get(name)}
    settings = {name: value for name, value in config.items() if name in accepted}
    for given, own in (("method", "methods"), ("methods", "method")):
        if given in changed - accepted and own in accepted - changed:
            settings[own] = config[given]
            changed.remove(given)
    for name in sorted(changed - accepted):
        options = ", ".join(sorted(accepted))
        raise ValueError(f"figure={figure} has no option {name}.{did_you_mean(name, accepted)} It has: {options}.")
    there, needs = sorted(study.trials["dataset"].unique()), inspect.signature(draw).parameters.get("dataset")
    if needs is not None and needs.default is needs.empty and not several(settings["dataset"]):
        study.filled()  # or else it says that nothing is stored
        if len(there) > 1:
            raise ValueError(f"dataset must be given for figure={figure}: the study has {', '.join(there)}.")
        settings["dataset"] = there[0]
    if settings.get("methods") is not None:
        settings["methods"] = several(settings["methods"])
    for group, option in (("dataset", "dataset"), ("method", "method"), ("method", "methods")):
        check_names(group, several(settings.get(option)), study.trials[group].unique())
    return settings
