"""``python -m scripts.make_report --help``."""

from pathlib import Path

from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import write
from ufs_bench.scripts.make_report import make_report


@command("make_report")
def main(options):
    """Write the report that the options describe."""
    study = Study.find(options["results_dir"], options["study"])
    path = Path(options["output"] or study.output_dir / "report.html")
    write(make_report(study, options["selection"]), path)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
