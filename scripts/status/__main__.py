"""``python -m scripts.status --help``."""

import sys
import time

from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.words import did_you_mean
from ufs_bench.scripts.core.command_lines import check_stored
from ufs_bench.scripts.core.conf import find, names
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.status import states
from ufs_bench.scripts.status.status_page import status_page

CLEAR = "\x1b[2J\x1b[H"


@command("status")
def main(options):
    """Print the state of the cells once, or repeatedly until nothing is left."""
    study, experiment, watch = options["study"], options["experiment"], options["watch"]
    if study is not None and experiment is not None:
        raise ConfigError(f"study={study} and experiment={experiment}: give one of them.")
    if experiment is not None and find("experiment", experiment) is None:
        near = did_you_mean(experiment, names("experiment"))
        raise ConfigError(f"experiment={experiment} is no file of conf/experiment.{near}")
    if study is not None and not states(options["results_dir"], study):
        check_stored(Study.find(options["results_dir"], study))
        study, experiment = None, study  # it has not begun
    while True:
        found = states(options["results_dir"], study, experiment)
        print((CLEAR if watch and sys.stdout.isatty() else "") + status_page(found), end="", flush=True)
        if not watch or all(state.stored >= state.n_trials for state in found):
            return
        time.sleep(watch)


if __name__ == "__main__":
    main()
