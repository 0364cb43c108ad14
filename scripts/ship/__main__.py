"""``python -m scripts.ship --help``."""

import sys

from runners.store.reference import SHIPPED
from runners.words import counted
from scripts.core.entry import command
from scripts.core.study import Study
from scripts.ground_truth.further import ship_further
from scripts.ship.pack import ship
from scripts.versus.runs import divided


def main():
    """Check, hand in or pack what the command line names."""
    handed, sys.argv[1:] = divided(sys.argv[1:])
    command("ship")(lambda options: _answer(options, handed))()


def _answer(options, handed):
    # Each is imported here, as packing needs neither K-means nor the findings.
    if options["check"]:
        from scripts.ship.check import check_all

        return check_all(options)
    if options["method"]:
        from scripts.ship.hand_in import hand_in

        return hand_in(options, handed)
    if not options["study"]:
        raise ValueError("study must be given: study=NAME packs a study, check=true checks what is packed.")
    return _pack(options)


def _pack(options):
    name, folder = options["study"], options["results_dir"]
    if options["further"]:
        for method, count in ship_further(Study.open(folder, name).filled()).items():
            print(f"{method}: {counted(count, 'selection')} packed.")
        return
    cells = options["methods"], options["datasets"]
    new, kept, left_out = ship(folder, name, options["partial"], *cells, traces=options["traces"])
    total = sum(path.stat().st_size for path in (SHIPPED / name).rglob("*") if path.is_file())
    print(f"{counted(len(new), 'cell')} packed, {len(kept)} unchanged, {len(left_out)} left out as they lack trials.")
    print(f"{SHIPPED / name}: {total / 1e6:.2f} MB")
    for cell in left_out:
        print(f"  left out: {cell}")


if __name__ == "__main__":
    main()
