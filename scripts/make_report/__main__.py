"""``python -m scripts.make_report --help``."""

import sys
from pathlib import Path

import hydra

from metrics.study.summary import SELECTIONS
from scripts.core.conf import CONF
from scripts.core.study import Study
from scripts.make_report import LIMIT, make_report


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="make_report")
def main(config):
    """Write the report that `config` describes."""
    if config.selection not in SELECTIONS:
        sys.exit(f"selection={config.selection} must be one of {', '.join(SELECTIONS)}.")
    try:
        page = make_report(Study.open(config.results_dir, config.study, config.data_dir), config.selection)
    except ValueError as error:
        sys.exit(f"error: {error}")
    path = Path(config.output or Path(config.results_dir) / config.study / "report.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    size = path.stat().st_size
    print(f"{path} ({size / 1e6:.1f} MB)")
    if size > LIMIT:
        sys.exit(f"the page is larger than {LIMIT / 1e6:.0f} MB: report a study of fewer methods or data sets.")


if __name__ == "__main__":
    main()
