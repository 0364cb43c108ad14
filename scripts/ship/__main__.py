"""``python -m scripts.ship --help``."""

from ufs_bench.runners.messages import counted, typed
from ufs_bench.runners.store.reference import SHIPPED
from ufs_bench.scripts.core.entry import command, refuse_unused
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.ship.pack import ship

OF_CHECK = "base fits seed allow fetch n_jobs"
UNUSED = {
    "check": "partial traces further method",
    "method": f"methods datasets partial traces further {OF_CHECK}",
    "study": OF_CHECK,
}


@command("ship")
def main(options):
    """Check, hand in or pack what the command line names."""
    if (what := next(filter(options.get, UNUSED), None)) is not None:
        refuse_unused("ship", options, UNUSED[what], f"{what}={typed(options[what])}")
    # Each is imported here, as packing needs neither K-means nor the findings.
    if options["check"]:
        from ufs_bench.scripts.ship.check import check_all

        return check_all(options)
    if options["method"]:
        from ufs_bench.scripts.ship.hand_in import hand_in

        return hand_in(options)
    if not options["study"]:
        raise ValueError("study must be given: study=NAME packs a study, check=true checks what is packed.")
    return _pack(options)


def _pack(options):
    name, folder = options["study"], options["results_dir"]
    if options["further"]:
        from ufs_bench.scripts.ground_truth import ship_further

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
