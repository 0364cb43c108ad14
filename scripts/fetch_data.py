"""Download data sets, or list those that are there: ``python -m scripts.fetch_data --help``."""

import sys
import traceback
from collections import Counter

from ufs_bench.datasets import DataError, dataset_names, load_dataset, read_spec
from ufs_bench.datasets.load import CACHE, PACKAGE, addresses, cache_dir, candidates, user_dirs
from ufs_bench.datasets.spec import files_of
from ufs_bench.runners.cli.boundary import guard
from ufs_bench.runners.messages import counted, did_you_mean
from ufs_bench.scripts.core.entry import command

ALL = "all"  # in the place of names


@command("fetch_data")
def main(options):
    """Do what the options say; the exit status is 1 if a data set failed."""
    known, wanted = dataset_names(), options["dataset"] or []
    for name in wanted if wanted != [ALL] else ():
        if name not in known:
            raise ValueError(
                f"dataset={name}: there is no such data set.{did_you_mean(name, known)} list=true shows all."
            )
    if not (wanted or options["list"]):
        raise ValueError(f"name data sets by dataset=NAME,NAME, or dataset=all; there are {', '.join(known)}")
    named = list(dict.fromkeys(wanted)) if wanted != [ALL] else []
    names, folder = named or known, options["data_dir"]
    user_dirs(folder)
    if options["list"]:
        return print_list(names, folder, details=bool(named))
    return bring_all(names, folder)


def bring(name, data_dir=None):
    """Download a data set unless it is there, and load it; return the word for the summary, and a line about it."""
    spec = read_spec(name)
    there = any(found.fault is None for found in candidates(spec, data_dir))
    dataset = load_dataset(spec, data_dir)
    line = f"{_shape(dataset)}, {_where(next(candidates(spec, data_dir)))}, data_sha256 {dataset.sha}"
    if there:
        return "there", line
    return "downloaded", f"{line}\n  origin: {spec['origin']}\n  terms: {spec['terms']}\n  cite: {spec['citation']}"


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
            print(f"  by hand; it is not offered for download: {spec['withheld']}")
        for file in (file for source in spec["sources"] for file in files_of(source)):
            print(f"  {file['file']}, {file.get('checksum', 'checksum written when it is made')}")
            for address in addresses(file):
                print(f"    {address}")
    return int(bool(bad) or any(found is not None and found.fault is not None for found in places))


def bring_all(names, data_dir):
    """Bring data sets one after the other; a failure does not stop the others, and makes the exit status 1."""
    words, failed = Counter(), []
    for name in names:
        try:
            word, line = bring(name, data_dir)
        except DataError as error:
            word, line = "FAILED", str(error)
        except Exception:  # an error with one data set must not stop the others
            word, line = "FAILED", traceback.format_exc()
        words[word] += 1
        failed += [name] * (word == "FAILED")
        print(f"{name}: {word}, {line}", flush=True)
    print("; ".join(f"{count} {word}" for word, count in sorted(words.items())))
    if failed:
        print(f"failed: {' '.join(sorted(failed))}")
    return int(bool(failed))


def _where(found):
    if found.fault:
        return f"BAD: {found.faulty}"
    if found.place == PACKAGE:
        ours = found.source.get("package", "").startswith("datasets/")
        return "ships with the suite" if ours else "in an installed package"
    more = f" and {len(found.paths) - 1} more" if len(found.paths) > 1 else ""
    return f"{'cache' if found.place == CACHE else 'data_dir'}: {found.paths[0].name}{more}"


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


if __name__ == "__main__":
    guard("interrupted: what is complete is kept; the same command goes on from there")
    sys.exit(main())
