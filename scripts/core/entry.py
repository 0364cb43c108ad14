"""The frame of every command line of ``key=value``: its configuration, its checks and its errors."""

import functools
import os
import re
import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from runners.cli.boundary import end
from runners.cli.help import narrow_help, refused
from runners.errors import ConfigError
from runners.experiment.kinds import check_fields
from scripts.core.conf import CONF, read
from scripts.core.options import OPTIONS
from scripts.core.programs import program

FORMATS = {".csv": "csv", ".html": "html", ".tex": "latex"}  # of a page, by its file's ending; Markdown otherwise


def command(name, parts=None):
    """Make a function of checked options a command line; a ValueError that it raises is printed as one line.

    `scripts.core.options.OPTIONS` has the types of its options by its name, which is that of its configuration, too.
    `parts` has, by option, a function that makes and checks its value from a part of the configuration, before the
    other options are checked, as these may name something in it.
    """
    folder, file = CONF, name
    if (CONF / name).is_dir():  # in conf/ itself Hydra would take options such as dataset=... for groups
        folder, file = CONF / name, "config"

    def decorate(function):
        @hydra.main(version_base="1.3", config_path=str(folder), config_name=file)
        def composed(config: DictConfig):
            with program():
                made = {part: make(_plain(config.get(part))) for part, make in (parts or {}).items()}
                options = {option: value for option, value in _plain(config).items() if option not in made}
                needed = OPTIONS[name].keys() & read(folder / f"{file}.yaml").keys()
                if lacking := sorted(needed - options.keys()):
                    raise ConfigError(f"{lacking[0]} must be given: {lacking[0]}=...")
                if options.get("format", "") is None and "output" in options:
                    options["format"] = _format_of(options["output"], OPTIONS[name]["format"])
                check_fields(name, options, OPTIONS[name])
                if options.get("n_jobs") == -1:
                    from joblib import cpu_count  # here, as few commands need it

                    options["n_jobs"] = cpu_count()
                function(options | made)

        @functools.wraps(function)
        def main():
            if words := refused(sys.argv[1:]):
                end(f"error: {words}", 1)
            os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # makes Hydra raise its errors, which become a line here
            with program(), narrow_help(sys.argv[1:]):
                composed()

        return main

    return decorate


def _format_of(output, kind):
    """Return the format of a page, as the ending of its file says; Markdown where it says nothing."""
    ending = Path(str(output)).suffix
    found = FORMATS.get(ending, "md")
    if not kind.holds(found):
        raise ConfigError(f"output={output} asks by {ending} for format={found}, which must be {kind.words}.")
    return found


def is_typed(option):
    """Return True where the command line names an option, or a part of it."""
    words = HydraConfig.get().overrides.task
    return any(re.match(rf"[+~]*{option}(?=[=.@]|$)", word) for word in words)


def _plain(part):
    return OmegaConf.to_container(part, resolve=True) if OmegaConf.is_config(part) else part
