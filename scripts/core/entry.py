"""The frame of every command line of ``key=value``: its options, their checks and its errors."""

import functools
import logging
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from omegaconf import OmegaConf

import ufs_bench.runners.place  # noqa: F401  # what ${root:} stands for
from ufs_bench.runners.cli.boundary import end
from ufs_bench.runners.cli.help import entries, narrow, refused
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.kinds import check_fields
from ufs_bench.runners.progress import Console
from ufs_bench.runners.words import did_you_mean
from ufs_bench.scripts.core.conf import CONF, composed, names, read
from ufs_bench.scripts.core.options import GROUPS, OPTIONS
from ufs_bench.scripts.core.programs import program

FORMATS = {".csv": "csv", ".html": "html", ".tex": "latex"}  # of a page, by its file's ending; Markdown otherwise


class Options(dict):
    """The options of a command; `typed` has the names of those that the command line gives."""

    typed = frozenset()


def command(name, parts=None):
    """Make a function of checked options a command line; a ValueError that it raises is printed as one line.

    conf/NAME.yaml has the options with their defaults, `scripts.core.options.OPTIONS` their types.  `parts` has, by
    option, a function that makes and checks its value from the options, before the others are checked, as these may
    name something in it.
    """

    def decorate(function):
        @functools.wraps(function)
        def main(words=None):
            words = sys.argv[1:] if words is None else list(words)
            with program():
                if {"--help", "-h"} & set(words):
                    return print(help_of(name))
                if answer := refused(words):
                    end(f"error: {answer}", 1)
                options = read_options(name, words)
                made = {part: make(options) for part, make in (parts or {}).items()}
                check(name, options, made)
                options.update(made)
                with log_printed():
                    return function(options)

        return main

    return decorate


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
    lines = (CONF / f"{name}.yaml").read_text(encoding="utf-8").partition("help: |\n")[2].splitlines()
    n_head = next((place for place, line in enumerate(lines) if line[:1].isalpha()), len(lines))
    head = [line.removeprefix("  ") for line in lines[:n_head]]
    page = [*head, "Options and their defaults:", "", *(f"  {line}" for line in lines[n_head:])]
    return "\n".join(map(narrow, entries("\n".join(page).rstrip())))


def read_options(name, words):
    """Return the `Options` of a command line: those of the command's file, with what the words say in their place."""
    given = [_parsed(word, next(iter(OPTIONS[name]), "OPTION")) for word in words]
    options, group, typed = defaults(name), GROUPS.get(name), set()
    if group:
        chosen = str(dict(given).get(group.option, options[group.option]))
        content = _content(group, chosen)
        own = {group.option: chosen} | content if group.is_flat else {group.option: {"file": chosen} | content}
        options = options | own
        typed = {key for key, _ in given if key == group.option}
        given = [(key, value) for key, value in given if key != group.option]
    tree = OmegaConf.create(options)
    for key, value in given:
        OmegaConf.update(tree, key, value, force_add=True)
    found = Options(OmegaConf.to_container(tree, resolve=True))
    found.typed = frozenset(part for key, _ in given for part in (key, key.partition(".")[0])) | typed
    return found


def _content(group, chosen):
    """Return what a file of a group has, with the one that it builds on; for a table it may be a file of the user."""
    if not group.is_flat and chosen.endswith(".yaml"):
        content = read(chosen)
        return content if isinstance(content, dict) else {}
    if chosen not in names(group.folder):
        known = names(group.folder)
        hint = did_you_mean(chosen, known) or f" There are: {', '.join(known)}."
        raise ConfigError(f"{group.option}={chosen}: there is no {group.option} of this name.{hint}")
    return composed(group.folder, chosen)


def defaults(name):
    """Return the options of a command as its file has them."""
    return {key: value for key, value in read(CONF / f"{name}.yaml").items() if key != "help"}


def plain_options(doc, usual, words=None):
    """Return the options of a command without a file in conf/: `usual` with what the words say in their place.

    A value must have the type of the usual one; one value makes a list of one. --help prints `doc`.
    """
    words = sys.argv[1:] if words is None else list(words)
    if {"--help", "-h"} & set(words):
        print(doc)
        raise SystemExit(0)
    if answer := refused(words):
        end(f"error: {answer}", 1)
    options = dict(usual)
    for key, value in (_parsed(word, next(iter(usual))) for word in words):
        if key not in usual:
            end(f"error: there is no option {key}.{did_you_mean(key, usual)} There are: {', '.join(usual)}.", 1)
        kind = type(usual[key])
        value = [value] if kind is list and not isinstance(value, list) else value
        if usual[key] is not None and not isinstance(value, (kind, int) if kind is float else kind):
            end(f"error: {key}={value} must be of the kind of {usual[key]}.", 1)
        options[key] = value
    return SimpleNamespace(**options)


def _parsed(word, first):
    """Return the option and the value of a word, which is written as for run.py; `a,b` is a list here."""
    from hydra.core.override_parser.overrides_parser import OverridesParser  # here, as it takes long to import
    from hydra.errors import HydraException

    if "=" not in word:
        raise ConfigError(f"{word!r} is not an option: write OPTION=VALUE, such as {first}={word}; --help shows all.")
    try:
        read_word = OverridesParser.create().parse_overrides([word])[0]
    except HydraException:
        key, _, value = word.partition("=")
        return key, value  # a text that Hydra's grammar would want in quotes
    if read_word.type.name != "CHANGE":
        raise ConfigError(f"{word}: write {word.lstrip('+~')}, without a sign before it.")
    if read_word.is_sweep_override():
        return read_word.key_or_group, [_plain(value) for value in read_word.sweep_iterator()]
    return read_word.key_or_group, _plain(read_word.value())


def _plain(value):
    """Return a value of Hydra's parser without the marks of its quotes."""
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_plain(own) for own in value]
    return getattr(value, "text", value)


def check(name, options, made):
    """Refuse options that the command does not have, and values of another kind than it takes."""
    others = {key: value for key, value in options.items() if key not in made}
    if lacking := sorted(OPTIONS[name].keys() & defaults(name).keys() - options.keys()):
        raise ConfigError(f"{lacking[0]} must be given: {lacking[0]}=...")
    if others.get("format", "") is None and "output" in others:
        options["format"] = others["format"] = _format_of(others["output"], OPTIONS[name]["format"])
    check_fields(name, others, OPTIONS[name])
    if options.get("n_jobs") == -1:
        from joblib import cpu_count  # here, as few commands need it

        options["n_jobs"] = cpu_count()


def _format_of(output, kind):
    """Return the format of a page, as the ending of its file says; Markdown where it says nothing."""
    ending = Path(str(output)).suffix
    found = FORMATS.get(ending, "md")
    if not kind.holds(found):
        raise ConfigError(f"output={output} asks by {ending} for format={found}, which must be {kind.words}.")
    return found
