"""Run methods on data sets: ``python run.py --help`` shows how."""

import os
import sys

from ufs_bench.runners.cli.boundary import check_printed, guard

if __name__ == "__main__":  # before all slower imports, so that Ctrl-C is handled during them, too
    guard("interrupted: finished trials are stored; the same command goes on from there")
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # makes Hydra raise its errors, which become a line here

import functools
import logging
import tempfile
from pathlib import Path

import hydra
from omegaconf import OmegaConf

from ufs_bench.runners.cli.cells import register, report, run_job
from ufs_bench.runners.cli.choices import offer
from ufs_bench.runners.cli.help import narrow_help, refused
from ufs_bench.runners.cli.report import remove_unused
from ufs_bench.runners.errors import ConfigError
from ufs_bench.runners.experiment.settings import read_names
from ufs_bench.runners.progress import hide_bar

logging.raiseExceptions = False  # a closed pipe, as to `head`, must not fill the screen with tracebacks


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config):
    """Run one cell; `runners.cli.cells.Cells` goes through a sweep."""
    run_job(config)


def end():
    """Print the tables of a sweep, and which cells were skipped or have a problem; return the exit status."""
    hide_bar()
    lacking = False
    for folder, cells in report.studies().items():
        from ufs_bench.scripts.make_table.of_sweep import print_table  # here, as it takes seconds

        lacking |= not print_table(folder, cells)
    status = report.close() or int(lacking)
    for folder in report.refused & _MADE:
        remove_unused(folder)
    check_printed()
    return status


@functools.cache
def _scratch():
    """Return a temporary folder for Hydra's own files under a plan, which leaves nothing behind."""
    return tempfile.TemporaryDirectory(prefix="plan-")


_MADE = set()  # the folders of cells that were not there before this command


def _folder(part, *, _root_):
    """Return a folder of Hydra, which is made before `main` runs: a wrong name ends the command here."""
    try:
        names = read_names(_root_)
    except ConfigError as error:
        sys.exit(f"error: {error}")
    if OmegaConf.select(_root_, "runner.plan") is True:
        names = names._replace(results_dir=Path(_scratch().name))
    elif not names.folder.exists():
        _MADE.add(names.folder)
    study = names.folder.parents[1]
    return str({"cell": names.folder, "study": study, "inside": names.folder.relative_to(study)}[part])


OmegaConf.register_new_resolver("folder", _folder)

if __name__ == "__main__":
    sys.path.append(os.getcwd())  # where a method of one's own may lie
    if words := refused(sys.argv[1:]):
        sys.exit(f"error: {words}")
    try:
        # Options first, as argparse takes none between two words.
        sys.argv[1:] = sorted(offer(sys.argv[1:]), key=lambda word: word not in ("-m", "--multirun"))
    except ValueError as error:
        sys.exit(f"error: {error}")
    register()
    with narrow_help(sys.argv[1:]):
        main()
    sys.exit(end())
