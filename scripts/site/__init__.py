"""Static pages of the documentation and the shipped results: ``python -m scripts.site --help``."""

import shutil

from metrics.study import METRICS
from runners.reference import PREFIX, shipped_studies
from scripts.core.conf import ROOT
from scripts.core.published import PAPERS
from scripts.core.study import Study
from scripts.core.tables import OF_TABLES
from scripts.core.text import write
from scripts.make_report import make_report, part
from scripts.make_table import study_table
from scripts.make_table.formats import to_html
from scripts.site.pages import Pages, layout

MARK = ".ufs-bench-site"  # a folder that has it was made here, and may be emptied
TABLES = [name for name in OF_TABLES if name in METRICS]
BUTTONS = (
    "th button { all: unset; cursor: pointer; font-weight: 600; } th button::after { content: ' ↕'; opacity: .6; }"
)
# What the studies of no paper are, and the page that says what they show.
ABOUT = {
    "dgufs_minmax": "The DGUFS paper on features in [0, 1] ([another reading](docs/protocols.html))",
    "fair": "The same sizes, grids and budget for every method ([what it shows](docs/findings.html))",
    "ground_truth": "Data in which the relevant features are known ([what it shows](docs/ground_truth.html))",
}
BACK = '<p><a href="../../results.html">Results</a></p>'


def build(folder, studies=None):
    """Write the site, and return the files that were written, relative to its folder.

    The folder is made where it does not exist, and emptied where it holds an earlier site; a ValueError says that it
    holds something else.  Each of the studies, all shipped ones by default, has a report and its tables.
    """
    _empty(folder)
    pages = Pages(ROOT)
    for path, text in pages.written():
        write(text, folder / path)
    for path in pages.files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, folder / path)
    shown = [_study(folder, name) for name in (shipped_studies() if studies is None else studies)]
    write(layout("Results", _results(shown), "results.html"), folder / "results.html")
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name != MARK)


def _empty(folder):
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARK).exists():
            raise ValueError(f"{folder} holds files that are not of an earlier site: name another folder by --output.")
        shutil.rmtree(folder)
    write("", folder / MARK)


def _study(folder, name):
    """Write the report and the tables of a shipped study; return its name, its title and the titles of its tables."""
    study = Study.open(ROOT / "results", PREFIX + name)
    protocol = study.protocol["name"]
    # A paper chooses with the labels; what is no paper's is shown as a user without labels gets it.
    selection = "best_over_grid" if protocol in PAPERS else "largest_size"
    report = make_report(study, selection).replace('<p class="kicker">', f'{BACK}\n<p class="kicker">', 1)
    write(report, folder / "results" / name / "report.html")
    tables = {}
    for metric in TABLES:
        if study.summary[f"{metric}_mean"].notna().any():
            table = study_table(study, selection, metric)
            text = to_html(table).replace("</style>", f"{BUTTONS}\n</style>").replace("<h1>", f"{BACK}\n<h1>")
            script = f"<script>{part('sort.js')}document.querySelectorAll('table').forEach(makeSortable);</script>"
            write(text.replace("</html>", f"{script}\n</html>"), folder / "results" / name / f"{metric}.html")
            tables[metric] = METRICS[metric]
    partial = sum(map(bool, study.lacking.values()))
    counts = study.trials["method"].nunique(), study.trials["dataset"].nunique(), len(study.trials), partial
    return name, PAPERS.get(protocol), selection, counts, tables


def _results(shown):
    """Return the list of the shipped studies, in Markdown."""
    lines = [
        "# Results",
        "The studies that come with the repository. A report has every table, figure and fit; choose the name of "
        "a column to sort by it.",
    ]
    for name, paper, selection, (methods, datasets, fits, partial), tables in shown:
        unfinished = f"; cells that are not complete: {partial}" if partial else ""
        about = f"The protocol of the {paper} paper" if paper else ABOUT.get(name, "A protocol of its own")
        links = ", ".join(f"[{title}](results/{name}/{metric}.html)" for metric, title in tables.items())
        lines += [
            f"## {name}",
            f"{about}: {methods} methods, {datasets} data sets, {fits} fits{unfinished}. Selection: `{selection}`.",
            f"* [Report](results/{name}/report.html)\n* Tables: {links}",
        ]
    return "\n\n".join(lines)
