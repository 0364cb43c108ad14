"""The frame of every command line of ``key=value``: its options, their checks and its errors."""

import functools
import logging
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from omegaconf import OmegaConf

import ufs_bench.runners.place  # noqa: F401  # what ${root:} stands for
from ufs_bench.metrics.study import METRICS
from ufs_bench.metrics.study.selections import SELECTIONS
from ufs_bench.runners.cli.boundary import boundary, end
from ufs_bench.runners.cli.help import refused
from ufs_bench.runners.experiment.kinds import (
    ANY,
    FLAG,
    JOBS,
    NAME,
    PATH,
    TEXT,
    VALUE,
    Kind,
    check_fields,
    either,
    is_name,
    listed,
    mapping,
    number,
    one_of,
    one_or_more,
    optional,
    whole,
)
from ufs_bench.runners.messages import ConfigError, typed
from ufs_bench.runners.papers import PAPERS
from ufs_bench.runners.progress import Console
from ufs_bench.runners.store.reference import PREFIX
from ufs_bench.scripts.core.conf import CONF, composed, known, read

MOST = 10**9
STUDY = Kind(NAME.words, lambda value: is_name(value.removeprefix(PREFIX) if isinstance(value, str) else value))
METRIC = one_of(*METRICS)
FORMATS = {".csv": "csv", ".tex": "latex"}  # of a page, by its file's ending; Markdown otherwise


class Many(Kind):
    """One value or a list; commands get a list."""


def many(kind):
    """Return the kind that takes a value of this kind, or a list of them."""
    return Many(*one_or_more(kind))


BY_NAME = {
    **dict.fromkeys(["results_dir", "data_dir", "config_dir", "output", "table"], PATH),
    **dict.fromkeys(["study", "protocol"], STUDY),
    **dict.fromkeys(["method", "experiment", "figure"], NAME),
    **dict.fromkeys(["methods", "datasets", "dataset", "rows", "columns"], many(NAME)),
    "title": TEXT,
    "base": optional(TEXT),
    "size": whole(1, MOST),
    **dict.fromkeys(["longest", "fetch"], number(0, MOST)),
    "metric": METRIC,
    "selection": one_of(*SELECTIONS),
    "clusterer": one_of("kmeans", "learned"),
    "variants": one_of("base", "all"),
    "format": one_of("md", "csv"),
    "notes": one_of("none", "short", "full"),
    "test": one_of("nemenyi", "wilcoxon_holm"),
    "alpha": number(0, 1),
    "parameters": many(TEXT),
    "others": either(one_of("best", "default"), mapping(VALUE)),
    "grid": mapping(listed(VALUE)),
    "samples": many(whole(0, MOST)),
    "paper": one_of(*PAPERS),
    "n_jobs": JOBS,
    "watch": whole(1, 86_400),
    "allow": many(one_of("elsewhere", "unverified")),
}
BY_COMMAND = {
    "make_table": {"metric": one_of(*METRICS, "seconds"), "variants": FLAG, "format": one_of("md", "csv", "latex")},
    "make_figure": {"metric": one_or_more(METRIC), "method": many(NAME), "width": number(1, 50)},
    "features": {"dataset": NAME},
    "rank": {"study": many(STUDY)},
    "refit": {"what": one_of("again", "seeds", "restarts")},
    "cite": {"format": one_of("text", "bibtex")},
}
BY_TYPE = {bool: FLAG, int: whole(0, MOST), float: number(-MOST, MOST), str: TEXT, list: many(VALUE)}


def command(name):
    """Make a function of checked options a command line; a ValueError that it raises is printed as one line.

    conf/NAME.yaml has the options with their defaults, `BY_COMMAND` and `BY_NAME` the kinds of their values.
    """

    def decorate(function):
        @functools.wraps(function)
        def main(words=None):
            words = sys.argv[1:] if words is None else list(words)
            with program(), log_printed():
                if {"--help", "-h"} & set(words):
                    return print(help_of(name))
                return function(read_options(name, words))

        return main

    return decorate


@contextmanager
def program():
    """Handle all that may end a command; a ValueError becomes its answer."""
    with boundary():
        try:
            yield
        except ValueError as error:
            end(f"error: {error}", 1)


@contextmanager
def log_printed():
    """Print the messages of our own log, one a line, as long as a command runs."""
    loggers, handler = [*map(logging.getLogger, ("__main__", "ufs_bench"))], Console(sys.stdout)
    before = [one.level for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.setLevel(logging.INFO)
    try:
        yield
    finally:
        for one, level in zip(loggers, before, strict=True):
            one.removeHandler(handler)
            one.setLevel(level)


def help_of(name):
    """Return the help of a command: how it is called, and its options as they stand in its file."""
    head, _, options = (CONF / f"{name}.yaml").read_text(encoding="utf-8").partition("help: |\n")[2].partition("\n\n")
    while not options[:1].isalpha() and options:
        more, _, options = options.partition("\n\n")
        head = f"{head}\n\n{more}"
    lines = [line.removeprefix("  ") for line in head.splitlines()]
    return "\n".join([*lines, "", "Options and their defaults:", "", *(f"  {line}" for line in options.splitlines())])


def defaults(name, figure=None):
    """Return the options of a command as its file has them, and the file of a figure."""
    own = {key: value for key, value in read(CONF / f"{name}.yaml").items() if key != "help"}
    return own if figure is None else own | composed("figure", figure) | {"figure": figure}


def read_options(name, words):
    """Return the options of a command: the defaults of its file, and in their place what the command line says."""
    usual, given = defaults(name), parsed(words)
    if name == "make_figure":  # the file of a figure has further options
        usual = defaults(name, known("figure", str(given.get("figure", usual["figure"]))))
    options = OmegaConf.to_container(OmegaConf.create(usual | given), resolve=True)
    output, form = options.get("output"), options.get("format", "")
    if form is None and output is not None:
        options["format"] = FORMATS.get(Path(str(output)).suffix, "md")
    elif form is None:
        options["format"] = "md" if "format" in usual and "output" in usual else None
    what = f"figure={usual['figure']}" if name == "make_figure" else name
    return checked(what, usual, options, {key: kind_of(name, key, value) for key, value in usual.items()})


def checked(what, usual, options, kinds):
    """Return options after a check of their names and values; null is a value where it is the default."""
    allowed = {key: optional(kind) if usual[key] is None else kind for key, kind in kinds.items()}
    check_fields(what, options, allowed)
    for key, kind in kinds.items():
        if isinstance(kind, Many) and options[key] is not None and not isinstance(options[key], list):
            options[key] = [options[key]]
    if options.get("n_jobs") == -1:
        from joblib import cpu_count  # here, as few commands need it

        options["n_jobs"] = cpu_count()
    return options


def refuse_unused(command, options, names, beside):
    """Refuse options that have no effect beside another one."""
    usual = defaults(command)
    for name in names.split():
        if options[name] != usual[name]:
            raise ValueError(f"{name}={typed(options[name])} has no effect with {beside}: leave it out.")


def plain_options(doc, usual, words=None):
    """Return the options of a command without a file in conf/: `usual` with what the words say in their place.

    A value must have the type of the usual one; one value makes a list of one. --help prints `doc`.
    """
    words = sys.argv[1:] if words is None else list(words)
    if {"--help", "-h"} & set(words):
        print(doc)
        raise SystemExit(0)
    with program():
        kinds = {key: kind_of("", key, value) for key, value in usual.items()}
        return SimpleNamespace(**checked("this command", usual, usual | parsed(words), kinds))


def kind_of(command, name, usual):
    """Return the kind of an option by its command, its name or the type of its default; anything where none says it."""
    own = BY_COMMAND.get(command, {})
    if name in own:
        return own[name]
    return FLAG if isinstance(usual, bool) else BY_NAME.get(name) or BY_TYPE.get(type(usual), ANY)


def parsed(words):
    """Return option -> value of words, which are written as for run.py; `a,b` is a list here."""
    if answer := refused(words):
        end(f"error: {answer}", 1)
    return dict(map(_parsed, words))


def _parsed(word):
    from ufs_bench.runners.experiment.kinds import parse, plain  # here, as it takes long to import

    if "=" not in word:
        raise ConfigError(f"{word!r} is not an option: write OPTION=VALUE; --help shows all.")
    try:
        one = parse(word)
    except ConfigError:
        key, _, value = word.partition("=")
        return key, value  # a text that Hydra's grammar would want in quotes
    if one.type.name != "CHANGE":
        raise ConfigError(f"{word}: write {word.lstrip('+~')}, without a sign before it.")
    return one.key_or_group, plain(list(one.sweep_iterator()) if one.is_sweep_override() else one.value())
