"""A study as one HTML file that opens from disk: ``python -m scripts.make_report --help``."""

from pathlib import Path

from markupsafe import Markup

from scripts.core.views import environment
from scripts.make_report.content import gather

FOLDER = Path(__file__).parent
SECTIONS = {
    "overview": "Overview",
    "tables": "Tables",
    "figures": "Figures",
    "ranks": "Gains and ranks",
    "comparison": "Published cells",
    "unfinished": "Failed and missing",
    "times": "Times",
    "audit": "Audit",
    "trials": "Fits",
    "environment": "Environment",
}
LIMIT = 6_000_000  # bytes of a page that opens at once and fits into a mail: 40 methods on a dozen data sets


def make_report(study, selection="best_over_grid"):
    """Return the page of a study; a ValueError is about nothing stored, or several protocols."""
    content = gather(study, selection)
    return (
        environment(True, FOLDER)
        .get_template("page.html.j2")
        .render(
            **content,
            known={trial["trial"] for trial in content["trials"]},
            sections=[(name, text) for name, text in SECTIONS.items() if name != "comparison" or content["comparison"]],
            style=Markup(part("page.css")),
            script=Markup(part("sort.js") + part("page.js")),
        )
    )


def part(name):
    """Return a file that the page is put together from."""
    return (FOLDER / name).read_text(encoding="utf-8")
