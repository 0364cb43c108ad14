"""``python -m scripts.check_method --help``."""

import sys
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from datasets import DataError, dataset_names
from runners.cli.boundary import boundary, words_of
from runners.cli.choices import empty_method
from runners.words import did_you_mean
from scripts import check_method
from scripts.check_method import Report, check_contract
from scripts.check_method.contract import FAIL, KNOWN, OK, Finding, Method, in_one_line, load_methods
from scripts.check_method.speed import WIDE, data_sets_at_hand, measure, open_data_set
from scripts.core.programs import parser_of


def main(arguments=None):
    """Run the command line."""
    parser = _parser()
    options = parser.parse_args(arguments)
    method = _method(parser, options)
    there = [*dataset_names(truth=True), WIDE]
    unknown = sorted(set(options.datasets or []) - set(there))
    if unknown:
        parser.error(f"unknown data set {unknown[0]!r}.{_hint(unknown[0], [*dataset_names(), WIDE])}")
    started = time.perf_counter()
    report = Report(options.verbose)
    print(f"{method.name}: {method.config.get('target')}")
    with threadpool_limits(1):
        usable = check_contract(method, report)
    if usable and not options.no_data:
        for name in options.datasets or data_sets_at_hand(options.data_dir):
            try:
                data = open_data_set(name, options.data_dir)
            except DataError as error:
                report.add(f"{name} can be loaded", Finding(FAIL, in_one_line(error)))
            else:
                measure(method, load_methods(), data, report)
    counts = report.counts
    known = f", {counts[KNOWN]} known not to hold" if counts[KNOWN] else ""
    outcome = f"{counts[FAIL]} FAILED" if counts[FAIL] else "nothing failed"
    print(f"\n{method.name}: {outcome}, {counts[OK]} ok{known}; {time.perf_counter() - started:.0f} s")
    if counts[FAIL] and not options.verbose:
        print("--verbose shows the tracebacks.")
    return int(counts[FAIL] > 0)


def _method(parser, options):
    if options.config_dir and not (options.config_dir / "method").is_dir():
        parser.error(f"--config-dir {options.config_dir} must be a folder with a folder `method` in it.")
    try:
        methods = load_methods(options.config_dir)
    except ValueError as error:
        sys.exit(f"error: {words_of(error) or error}")
    if options.name not in methods and "." in options.name:
        return Method(options.name.rpartition(".")[2], empty_method(options.name))
    if options.name not in methods:
        parser.error(f"there is no conf/method/{options.name}.yaml.{_hint(options.name, methods)}")
    method = methods[options.name]
    if not isinstance(method.config, dict) or not isinstance(method.config.get("target"), str):
        sys.exit(f"error: conf/method/{options.name}.yaml must be a mapping with a target, such as methods.mcfs.MCFS.")
    return method


def _hint(name, known):
    return did_you_mean(name, known) or f" There are: {', '.join(known)}."


def _parser():
    parser = parser_of("scripts.check_method", check_method.__doc__)
    parser.add_argument("name", metavar="NAME", help="a file of conf/method, or the dotted name of a class")
    parser.add_argument("--config-dir", metavar="FOLDER", type=Path, help="a folder of your own files beside conf/")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="instead of the three [those on this machine]")
    parser.add_argument("--data-dir", metavar="FOLDER", help="a folder of data files of your own [$UFS_DATA_DIR]")
    parser.add_argument("--no-data", action="store_true", help="the contract alone")
    parser.add_argument("--verbose", action="store_true", help="print tracebacks")
    return parser


if __name__ == "__main__":
    with boundary():
        status = main()
    sys.exit(status)
