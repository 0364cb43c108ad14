"""``python -m scripts.check_method --help``."""

import sys
import time
from pathlib import Path

from ufs_bench.datasets import DataError, dataset_names
from ufs_bench.metrics.threads import one_thread
from ufs_bench.runners.cli.choices import empty_method
from ufs_bench.runners.words import did_you_mean
from ufs_bench.scripts.check_method import Report, check_contract
from ufs_bench.scripts.check_method.contract import FAIL, KNOWN, OK, Finding, Method, in_one_line, load_methods
from ufs_bench.scripts.check_method.speed import DATASETS, WIDE, measure, open_data_set
from ufs_bench.scripts.core.entry import command


@command("check_method")
def main(options):
    """Check the method that the options name; the exit status is 1 if something fails."""
    method = _method(options)
    there = [*dataset_names(truth=True), WIDE]
    asked = [options["datasets"]] if isinstance(options["datasets"], str) else options["datasets"] or []
    if unknown := sorted(set(asked) - set(there)):
        raise ValueError(f"unknown data set {unknown[0]!r}.{_hint(unknown[0], [*dataset_names(), WIDE])}")
    started = time.perf_counter()
    report = Report(options["tracebacks"])
    print(f"{method.name}: {method.config.get('target')}")
    with one_thread():
        usable = check_contract(method, report)
    if usable and options["data"]:
        for name in asked or DATASETS:
            try:
                data = open_data_set(name, options["data_dir"])
            except DataError as error:
                report.add(f"{name} can be loaded", Finding(FAIL, in_one_line(error)))
            else:
                measure(method, load_methods(), data, report)
    counts = report.counts
    known = f", {counts[KNOWN]} known not to hold" if counts[KNOWN] else ""
    outcome = f"{counts[FAIL]} FAILED" if counts[FAIL] else "nothing failed"
    print(f"\n{method.name}: {outcome}, {counts[OK]} ok{known}; {time.perf_counter() - started:.0f} s")
    if counts[FAIL] and not options["tracebacks"]:
        print("tracebacks=true shows the tracebacks.")
    return int(counts[FAIL] > 0)


def _method(options):
    name, folder = options["method"], options["config_dir"] and Path(options["config_dir"])
    if name is None:
        raise ValueError("method must be given: method=NAME, a file of conf/method, or method=MODULE.CLASS.")
    if folder and not (folder / "method").is_dir():
        raise ValueError(f"config_dir={folder} must be a folder with a folder `method` in it.")
    methods = load_methods(folder)
    if name not in methods and "." in name:
        return Method(name.rpartition(".")[2], empty_method(name))
    if name not in methods:
        raise ValueError(f"there is no conf/method/{name}.yaml.{_hint(name, methods)}")
    method = methods[name]
    if not isinstance(method.config, dict) or not isinstance(method.config.get("target"), str):
        raise ValueError(f"conf/method/{name}.yaml must be a mapping with a target, such as methods.mcfs.MCFS.")
    return method


def _hint(name, known):
    return did_you_mean(name, known) or f" There are: {', '.join(known)}."


if __name__ == "__main__":
    sys.exit(main())
