"""Download data sets, or list and verify those that are there.

python -m scripts.fetch_data --list                 what there is, and where it is found
python -m scripts.fetch_data --list umist           with origin, terms, citation and addresses
python -m scripts.fetch_data umist pie10p           download these two, unless they are there
python -m scripts.fetch_data --all --jobs 4         download everything that is missing
python -m scripts.fetch_data --verify               check the checksums, shapes and values of all that is there
"""

import sys
import traceback
from multiprocessing.pool import ThreadPool  # its threads end with the program: Ctrl-C does not wait for a download

from datasets import DataError, dataset_names, load_dataset, read_spec
from datasets.base import check_dataset
from datasets.load import CACHE, PACKAGE, addresses, cache_dir, candidates, user_dirs
from datasets.loaders import read_source
from datasets.spec import files_of
from runners.cli.boundary import boundary, guard
from runners.words import counted, did_you_mean
from scripts.core.programs import parser_of


def main(arguments=None):
    """Run the command line; the exit status is 1 where a data set failed and 2 for a wrong command."""
    parser = _parser()
    options = parser.parse_args(arguments)
    known = dataset_names()
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        near = "".join(did_you_mean(name, known) for name in unknown)
        parser.error(f"unknown: {', '.join(unknown)}.{near} The known data sets are {', '.join(known)}")
    if options.names and options.all:
        parser.error(f"--all is all data sets, and {counted(len(options.names), 'name')} was given: one or the other")
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs} must be at least 1")
    if not (options.names or options.all or options.list or options.verify):
        parser.error(f"name data sets, or --all; the known ones are {', '.join(known)}")
    names = list(dict.fromkeys(options.names)) or known
    try:
        user_dirs(options.data_dir)
        if options.list:
            return print_list(names, options.data_dir, details=bool(options.names))
    except DataError as error:
        print(error, file=sys.stderr)
        return 1
    if options.verify:
        return _over(names, lambda name: verify(name, options.data_dir, required=name in options.names), options.jobs)
    return _over(names, lambda name: bring(name, options.data_dir), options.jobs)


def bring(name, data_dir=None):
    """Download a data set unless it is there, and load it; return the word for the summary, and a line about it."""
    spec = read_spec(name)
    there = any(found.fault is None for found in candidates(spec, data_dir))
    dataset = load_dataset(spec, data_dir)
    line = f"{_shape(dataset)}, {_where(next(candidates(spec, data_dir)))}"
    if there:
        return "there", line
    return "downloaded", f"{line}\n  origin: {spec['origin']}\n  terms: {spec['terms']}\n  cite: {spec['citation']}"


def verify(name, data_dir=None, required=False):
    """Check every file of a data set, without changes; return the word for the summary, and a line about it."""
    spec = read_spec(name)
    found = list(candidates(spec, data_dir))
    faults = [f"{one.faulty}: {one.fault}" for one in found if one.fault]
    if faults:
        raise DataError("\n".join(faults))
    if not found and required:
        files = " or ".join(" and ".join(file["file"] for file in files_of(source)) for source in spec["sources"])
        fetched = any(map(addresses, spec["sources"]))
        raise DataError(
            f"not there: python -m scripts.fetch_data {name}"
            if fetched
            else f"not there: put {files} into UFS_DATA_DIR{_why(spec)}"
        )
    if not found:
        return "absent", "nothing to verify"
    datasets = [check_dataset(spec, *read_source(one.source, list(one.paths) or None)) for one in found]
    where = ", ".join(map(_where, found))
    return "right", f"{_shape(datasets[0])}, {where}, data_sha256 {datasets[0].sha}"


def print_list(names, data_dir=None, details=False):
    """Print the table of `names`, with origin, terms, citation and addresses if `details`; return 1 for a bad file."""
    specs, bad = [], []
    for name in names:
        try:
            specs.append(read_spec(name))
        except DataError as error:
            bad.append(str(error))
    places = [next(candidates(spec, data_dir), None) for spec in specs]
    print(f"{'data set':20}{'samples x features x classes':>30}  {'size':>9}  where")
    for spec, found in zip(specs, places, strict=True):
        where = _where(found) if found else "by hand" if "withheld" in spec else "download"
        print(f"{spec['name']:20}{_shape(spec):>30}  {_size(spec, found):>9}  {where}")
    print(f"{counted(len(specs), 'data set')}; downloads go to {cache_dir()}")
    print(*bad, sep="\n", end="\n" if bad else "", file=sys.stderr)
    for spec in specs if details else []:
        print(f"\n{spec['paper_name']}: {spec['origin']}\n  terms: {spec['terms']}\n  cite: {spec['citation']}")
        if "withheld" in spec:
            print(f"  by hand{_why(spec)}")
        for file in (file for source in spec["sources"] for file in files_of(source)):
            print(f"  {file['file']}, {file.get('checksum', 'checksum written when it is made')}")
            for address in addresses(file):
                print(f"    {address}")
    return int(bool(bad) or any(found is not None and found.fault is not None for found in places))


def _over(names, work, jobs):
    """Do `work` for every name, several at once; a failure does not stop the others."""

    def attempt(name):
        try:
            return name, *work(name)
        except DataError as error:
            return name, "FAILED", str(error)
        except Exception:  # an error with one data set must not stop the others
            return name, "FAILED", traceback.format_exc()

    outcomes = []
    with ThreadPool(min(jobs, len(names))) as pool:
        for name, word, line in pool.imap_unordered(attempt, names):
            outcomes.append((name, word))
            print(f"{name}: {word}, {line}", flush=True)
    words = sorted({word for _, word in outcomes})
    print("; ".join(f"{sum(word == other for _, other in outcomes)} {word}" for word in words))
    failed = sorted(name for name, word in outcomes if word == "FAILED")
    if failed:
        print(f"failed: {' '.join(failed)}")
    return int(bool(failed))


def _where(found):
    if found.fault:
        return f"BAD: {found.faulty}"
    if found.place == PACKAGE:
        ours = found.source.get("package", "").startswith("datasets/")
        return "ships with the suite" if ours else "in an installed package"
    more = f" and {len(found.paths) - 1} more" if len(found.paths) > 1 else ""
    return f"{'cache' if found.place == CACHE else 'data_dir'}: {found.paths[0].name}{more}"


def _why(spec):
    return f"; it is not offered for download: {spec['withheld']}" if "withheld" in spec else ""


def _size(spec, found):
    sizes = [[file.get("bytes") for file in files_of(source)] for source in spec["sources"] if addresses(source)]
    stated = [sum(one) for one in sizes if all(one)]
    if found is not None:
        stated = [sum(path.stat().st_size for path in found.paths)] if found.paths else []
    return f"{stated[0] / 1e6:.2f} MB" if stated else "-"


def _shape(of):
    if isinstance(of, dict):
        found = of["samples"], of["features"], of["classes"]
    else:
        found = of.n_samples, of.n_features, None if of.y is None else of.n_classes
    return " x ".join("?" if number is None else str(number) for number in found)


def _parser():
    parser = parser_of("scripts.fetch_data", __doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default with --list and --verify: all)")
    parser.add_argument("--all", action="store_true", help="all data sets")
    parser.add_argument("--list", action="store_true", help="print what there is; download nothing")
    parser.add_argument("--verify", action="store_true", help="check what is there; download and change nothing")
    parser.add_argument("--data-dir", metavar="FOLDER", help="a folder of files of your own [$UFS_DATA_DIR]")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="downloads at once [4]")
    return parser


if __name__ == "__main__":
    guard("interrupted: partial downloads are kept; the same command goes on from there")
    with boundary():
        status = main()
    sys.exit(status)
