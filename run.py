"""Run methods on data sets: ``python run.py --help`` shows how."""

import logging
import os
import re
import signal
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one BLAS thread in this process and in every worker

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from datasets import DataError, DataMissing
from runners.cell import run_cell
from runners.method import ConfigError
from runners.store import StoreError

logging.raiseExceptions = False  # a reader that goes away, such as `head`, must not fill the screen
OmegaConf.register_new_resolver("root", lambda: str(Path(__file__).resolve().parent))
log = logging.getLogger(__name__)
cells, problems = [], []
missing, skipped = {}, {}  # data set -> why it cannot be had; data set -> number of cells left out


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config):
    """Run the cell that `config` describes; a cell that cannot run is reported, and a sweep goes on."""
    cells.append(f"{config.method.name} on {config.dataset.name}")
    try:
        launcher = HydraConfig.get().launcher.get("_target_", "")
        if not launcher.endswith("BasicLauncher") and config.runner.n_jobs != 1:
            raise ConfigError(f"the launcher {launcher} runs jobs in parallel already: set runner.n_jobs=1.")
        check_choices(config)
        if config.missing_data not in ("error", "skip"):
            raise ConfigError(f"missing_data={config.missing_data} must be error or skip.")
        if config.dataset.name in missing:  # another attempt to download it would take as long and end the same
            raise DataMissing(missing[config.dataset.name])
        if failed := run_cell(config):
            problems.append(f"{cells[-1]}: {failed} trials failed")
    except DataMissing as error:
        note_missing(config.dataset.name, str(error), skip=config.missing_data == "skip")
    except (ConfigError, DataError, StoreError) as error:
        problems.append(f"{cells[-1]}: {str(error).splitlines()[0]}")
        log.error("error: %s", error)


def check_choices(config):
    """Refuse what would be stored under another name, or would have no effect."""
    hydra_config = HydraConfig.get()
    for group in ("dataset", "method", "protocol"):
        choice, name = Path(hydra_config.runtime.choices[group]).name, config[group].name
        if choice != name:
            raise ConfigError(f"conf/{group}/{choice}.yaml: name is {name!r}, it must be that of the file.")
    grid = config.method.get("grid") or {}
    given = [re.match(r"\+*method\.params\.(\w+)=", override) for override in hydra_config.overrides.task]
    for name in [match[1] for match in given if match] if config.runner.points == "grid" else []:
        value = config.method.params[name]
        if name in grid and value not in grid[name]:
            raise ConfigError(
                f"method.params.{name}={value} would not be tried: method.grid.{name}={list(grid[name])} is. "
                f"Set 'method.grid.{name}=[{value}]', too."
            )


def note_missing(dataset, why, skip):
    """Say once that a data set cannot be had, and count the cell as skipped or as one with a problem."""
    reason = why.splitlines()[0].rstrip(":")
    if dataset not in missing:
        log.info("skipped: %s", reason) if skip else log.error("error: %s", why)
    missing[dataset] = why
    if skip:
        skipped[dataset] = skipped.get(dataset, 0) + 1
    else:
        problems.append(f"{cells[-1]}: {reason}")


def report():
    """Print what was skipped and what has a problem; the exit status."""
    for dataset, count in skipped.items():
        print(f"skipped: {missing[dataset].splitlines()[0].rstrip(':')}: {count} of {len(cells)} cells")
    if len(cells) > 1 and problems:
        print("\n".join([f"\n{len(problems)} of {len(cells)} cells have a problem:", *problems]), file=sys.stderr)
    if cells and sum(skipped.values()) == len(cells):
        print("nothing was run: no data set of this sweep could be had", file=sys.stderr)
        return 1
    return int(bool(problems))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\ninterrupted: finished trials are stored; the same command goes on from there")
    sys.exit(report())
