"""Runs the cells of a command one after the other, and has each end noted."""

import functools
import logging
from contextlib import suppress

from hydra.core.hydra_config import HydraConfig

from ufs_bench.runners.cli.boundary import lacks_room, words_of
from ufs_bench.runners.cli.choices import check_choices, check_protocol
from ufs_bench.runners.cli.report import MOST_CELLS, Report
from ufs_bench.runners.errors import ConfigError, StoreError
from ufs_bench.runners.experiment.sweep import LISTS, cells_of, typed_words
from ufs_bench.runners.words import counted

log = logging.getLogger(__name__)
report = Report()  # notes how the cells of this command end


class Held(Exception):
    """Another process holds a cell, and other cells can be done first."""


def run(config):
    """Run the cells that a composed configuration asks for; all of them are composed before the first is run."""
    hydra = HydraConfig.get()
    words, is_sweep = typed_words(hydra), any(config[option] is not None for option in LISTS.values())
    cells = cells_of(config, hydra)
    plan = cells[0].runner.plan
    check_protocol(cells[0].protocol)
    if config.shard is not None:
        if not is_sweep:
            raise ConfigError("shard= is a part of a sweep: add -m or experiment=NAME.")
        cells = _part_of(config.shard, cells)
        log.info("shard %s: %s", config.shard, counted(len(cells), "cell"))
    if is_sweep and plan:
        log.info("a plan of %s:", counted(len(cells), "cell"))
        report.is_summed = len(cells) > MOST_CELLS
    report.start(len(cells) if is_sweep else 0)
    left, wait = cells, not is_sweep
    while left and not report.is_full:
        held = [settings for settings in left if _run_cell(settings, words, is_sweep, wait)]
        wait = held == left  # nothing else is left to do: wait for the first of them
        left = held


def _run_cell(settings, words, is_sweep, wait):
    """Do what is asked for of a cell; one that cannot run is reported, and a sweep goes on, unless a disk is full.

    With `wait=False` a cell is left alone where another process holds it; the result is True then.
    """
    if report.is_full:
        return False
    # Imported here, as these take seconds, and --help and Tab need none of them.
    from ufs_bench.datasets import DataError, DataMissing
    from ufs_bench.runners.code import CodeChanged
    from ufs_bench.runners.experiment.cell import Cell

    dataset, place, cell = settings.dataset["name"], report.begin(settings), Cell(settings)
    try:
        check_choices(settings, words)
        if dataset in report.missing:  # another attempt to download it would take as long and fail again
            raise DataMissing(report.missing[dataset])
        if settings.runner.plan:
            report.planned(place, cell.plan(_times))
        elif is_sweep and (line := _finished(cell)):
            log.info("%s%s", place, line)
        else:
            report.begun(settings)
            report.ended(settings, cell.run(place, None if wait else _leave))
    except Held:
        report.put_aside(place, settings)
        return True
    except DataMissing as error:
        report.left_out(settings, str(error), place)
    except (ConfigError, DataError, StoreError, CodeChanged, OSError, MemoryError) as error:
        report.is_full |= lacks_room(error)
        ends = " The sweep ends here: the same command goes on with it." if report.is_full and is_sweep else ""
        report.failed(settings, f"{words_of(error)}{ends}", place)
    return False


def _finished(cell):
    """Return the line about a cell in which nothing is left to do; None where a run has to look."""
    with suppress(ValueError, StoreError, OSError):
        return cell.finished()


def _leave():
    raise Held


@functools.cache
def _times(*given):
    """Return the seconds of stored fits, which a plan reads once a method."""
    from ufs_bench.runners.experiment.plan import Times

    return Times(*given)


def _part_of(shard, cells):
    """Return the cells of one part of a sweep."""
    from ufs_bench.runners.experiment.plan import shard_of
    from ufs_bench.runners.store.reference import shipped_costs  # here, as it reads tables

    names = [(settings.dataset["name"], settings.method_file["name"]) for settings in cells]
    return [cells[place] for place in shard_of(names, shard, shipped_costs(cells[0].study))]
