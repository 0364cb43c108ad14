"""The options of a figure: those that its function has, checked, and put into the names of its files."""

import inspect

from ufs_bench.runners.messages import did_you_mean
from ufs_bench.scripts.core.conf import check_names
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
