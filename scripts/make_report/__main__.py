"""``python -m scripts.make_report --help``."""

import sys
from pathlib import Path

from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import write
from ufs_bench.scripts.make_report import LIMIT, make_report


@command("make_report")
def main(options):
    """Write the report that the options describe."""
    study = Study.find(options["results_dir"], options["study"])
    page = make_report(study, options["selection"])
    path = Path(options["output"] or study.output_dir / "report.html")
    write(page, path)
    size = path.stat().st_size
    print(f"{path} ({size / 1e6:.1f} MB)")
    if size > LIMIT:
        print(
            f"note: it is larger than {LIMIT / 1e6:.0f} MB, so it opens slowly, and few mails take it", file=sys.stderr
        )


if __name__ == "__main__":
    main()
