"""A study as one HTML file that opens from disk: ``python -m scripts.make_report --help``."""

import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from scripts.make_report.page import gather

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
NUMBER = r"[-+−]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?|nan"
VALUE = rf"({NUMBER})( ?(±|to|of|/) ?({NUMBER}))?( ?%)?"
NUMERIC = re.compile(rf"{VALUE}( \({VALUE} to {VALUE}\))?")
LIMIT = 6_000_000  # bytes of a page that opens at once and fits into a mail: 40 methods on a dozen data sets


def make_report(study, selection="best_over_grid"):
    """Return the page of a study as a text; `selection` is of its tables.

    The audit and the pixels need the data of the study; nothing is downloaded.  A ValueError says that nothing is
    stored under that name, or that it mixes protocols.
    """
    content = gather(study, selection)
    return template(FOLDER).render(
        **content,
        known={trial["trial"] for trial in content["trials"]},
        sections=[(name, text) for name, text in SECTIONS.items() if name != "comparison" or content["comparison"]],
        style=Markup(part("page.css")),
        script=Markup(part("sort.js") + part("page.js")),
    )


def template(folder):
    """Return the template of a page that is in a folder."""
    loader = jinja2.FileSystemLoader(folder)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    environment.tests["numeric"] = is_numeric
    return environment.get_template("page.html.j2")


def is_numeric(value):
    """Return True for numbers and what is read as one: 0.5, 41.2 ± 3, 12 %, 3 of 9, 2 (1 to 4); not for ""."""
    return NUMERIC.fullmatch(str(value).strip()) is not None


def part(name):
    """Return a file that the page is put together from."""
    return (FOLDER / name).read_text(encoding="utf-8")
