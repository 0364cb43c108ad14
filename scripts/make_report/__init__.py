"""A study as one HTML file that opens from disk: ``python -m scripts.make_report --help``."""

from scripts.core.views import raw, render
from scripts.make_report.content import gather

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
    return render(
        "make_report/page.html.j2",
        **content,
        known={trial["trial"] for trial in content["trials"]},
        sections=[(name, text) for name, text in SECTIONS.items() if name != "comparison" or content["comparison"]],
        style=raw("make_report/page.css"),
        script=raw("make_report/sort.js", "make_report/page.js"),
    )
