"""A study as one HTML file that opens from disk: ``python -m scripts.make_report --help``."""

import sys
from pathlib import Path

import hydra
import jinja2
from markupsafe import Markup

from metrics.summary import SELECTIONS
from scripts._conf import CONF
from scripts._report import gather

FOLDER = Path(__file__).with_name("report")
SECTIONS = {
    "overview": "Overview",
    "tables": "Tables",
    "comparison": "Published cells",
    "figures": "Figures",
    "ranks": "Ranks",
    "audit": "Audit",
    "times": "Times",
    "trials": "Fits",
    "environment": "Environment",
}
LIMIT = 3_000_000  # bytes of a page that opens at once, and that a mail takes


def make_report(results_dir, study, selection="best_over_grid", data_dir=None):
    """The page of a study.

    Parameters
    ----------
    results_dir : path
    study : str
    selection : str, default="best_over_grid"
        One of `metrics.summary.SELECTIONS`, for the tables.
    data_dir : path, optional
        For the audit and the pixels; nothing is downloaded.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        When nothing is stored under that name, or it mixes protocols.
    """
    content = gather(results_dir, study, selection, data_dir)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("page.html.j2").render(
        **content,
        known={trial["trial"] for trial in content["trials"]},
        sections=[(name, text) for name, text in SECTIONS.items() if name != "comparison" or content["comparison"]],
        style=Markup((FOLDER / "page.css").read_text(encoding="utf-8")),
        script=Markup((FOLDER / "page.js").read_text(encoding="utf-8")),
    )


@hydra.main(version_base="1.3", config_path=str(CONF), config_name="make_report")
def main(config):
    """Write the report that `config` describes."""
    if config.selection not in SELECTIONS:
        sys.exit(f"selection={config.selection} must be one of {', '.join(SELECTIONS)}.")
    try:
        page = make_report(config.results_dir, config.study, config.selection, config.data_dir)
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
