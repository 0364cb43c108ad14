"""The options of a figure: those that its function has, checked, and put into the names of its files."""

import inspect

from ufs_bench.runners.messages import did_you_mean
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import check_names, printed
from ufs_bench.scripts.core.entry import defaults

# Options of every figure: where results are, where it goes, and what stands around it.
PLACES = {"figure", "draw", "study", "protocol", "output", "results_dir", "data_dir", "title", "note"}
NAMED = "method dataset metric clusterer selection others test size".split()  # those in the name of a file


def one(names, option="dataset"):
    """Return the single name that a figure draws."""
    names = several(names)
    if len(names) != 1:
        raise ValueError(f"{option}={','.join(names)} must be one name here: give one command for each.")
    return names[0]


def several(names):
    """Return a name or a list of names as a list."""
    return [names] if isinstance(names, str) else list(names or [])


def check_points(points, study, datasets, clusterer, selection, methods):
    """Raise MissingResults where a data set has no points to draw."""
    if lacking := [name for name in datasets if name not in set(points["dataset"])]:
        wanted = methods or sorted(study.summary["method"].unique())
        raise MissingResults(
            f"no scores are stored for dataset={','.join(lacking)}, clusterer={clusterer} and selection={selection}; "
            f"data sets of this study: {', '.join(study.summary['dataset'].unique()) or 'none'}.",
            [(method, name) for name in lacking for method in wanted],
        )


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


def file_name(options, settings):
    """Return the name of a figure's files, with the options that are not those of its own file."""
    known = defaults("make_figure", options["figure"])
    given = {name: _text(settings[name]) for name in NAMED if name in settings}
    return "_".join([options["figure"], *(text for name, text in given.items() if text != _text(known.get(name)))])


def _text(value):
    if isinstance(value, dict):
        return "_".join(f"{name}{_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "_".join(map(_text, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings_of(options, draw, study):
    """Return the settings of the function `draw`, which makes a figure, after a check of its options and names."""
    figure, parameters = options["figure"], dict(inspect.signature(draw).parameters)
    accepted, known = parameters.keys() - {"study"}, defaults("make_figure", figure)
    settings = {name: value for name, value in options.items() if name in accepted}
    for name in sorted(options.keys() - PLACES - accepted):
        if options[name] not in (known[name], [known[name]]):
            names = ", ".join(sorted(accepted))
            raise ValueError(f"figure={figure} has no option {name}.{did_you_mean(name, accepted)} It has: {names}.")
    needs = parameters.get("dataset")
    if needs is not None and needs.default is needs.empty and not settings["dataset"]:
        there = sorted(study.filled().trials["dataset"].unique())
        if len(there) > 1:
            raise ValueError(f"dataset must be given for figure={figure}: the study has {', '.join(there)}.")
        settings["dataset"] = there
    for group, option in (("dataset", "dataset"), ("method", "method"), ("method", "methods")):
        check_names(group, several(settings.get(option)), study.trials[group].unique())
    return settings
