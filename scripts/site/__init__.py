"""Static pages of the documentation and the shipped results: ``python -m scripts.site --help``."""

import shutil
from functools import partial

from runners.store.reference import PREFIX, shipped_studies
from runners.words import counted
from scripts.compare import compare_studies, open_studies, shipped_names
from scripts.core.conf import ROOT, names
from scripts.core.published import PAPERS
from scripts.core.study import Study
from scripts.core.text import write
from scripts.core.views import render
from scripts.make_report import make_report
from scripts.make_report.figures import themed
from scripts.method_notes import classes
from scripts.site import datasets, methods, reports
from scripts.site.board import Board
from scripts.site.leaderboard import leaderboard
from scripts.site.pages import Pages, framed, layout, relative
from scripts.site.search import index_of

MARK = ".ufs-bench-site"  # a folder that has it was made here, and may be emptied
LIMIT = 500_000  # bytes of a page that a browser opens at once
BOARD = "fair"  # the shipped study of the leaderboard, and of the pages of methods and data sets
# What the studies of no paper are, and the page that says what they show.
ABOUT = {
    "fair_points": "`fair` at three points of eight grids, on small new data ([what for](docs/plan.html))",
    **{
        f"fair_{told}": f"`fair` with {told} as many clusters as classes ([what for](docs/findings.html))"
        for told in ("half", "twice")
    },
    "fair": "The same sizes, grids and budget for every method ([what it shows](docs/findings.html))",
    "ground_truth": "Data in which the relevant features are known ([what it shows](docs/ground_truth.html))",
}
BACK = '<p><a href="../../results.html">Results</a></p>'
# The parts of a report that the list of results links to.
PARTS = {"report": "overview", "tables": "tables", "figures": "figures", "ranks": "gains and ranks", "audit": "audit"}


def build(folder, studies=None):
    """Write the site, and return the files that were written, relative to its folder.

    The folder is made where it does not exist, and emptied where it holds an earlier site; a ValueError says that it
    holds something else.  Each of the studies, all shipped ones by default, has a report.
    """
    _empty(folder)
    pages = Pages(
        ROOT, {f"conf/{group}/{name}.yaml": address(group, name) for group in PLACES for name in names(group)}
    )
    written = dict(pages.written())
    board = Board(Study.open(ROOT / "results", PREFIX + BOARD))
    written |= of_board(board)
    for path in pages.files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".svg"):
            write(themed((ROOT / path).read_text(encoding="utf-8")), folder / path)
        else:
            shutil.copyfile(ROOT / path, folder / path)
    shown = [_study(folder, name) for name in (shipped_studies() if studies is None else studies)]
    results = render("site/results.md.j2", board=BOARD, studies=shown)
    written["results.html"] = layout("Results", results, "results.html")
    found = {path: text for path, text in written.items() if path.endswith(".html") and path != "CHANGELOG.html"}
    written["search-index.js"] = index_of(found)
    written["search.html"] = framed("Search", render("site/search.html.j2"), "search.html", ["site/search.js"])
    for path, text in written.items():
        write(text, folder / path)
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name != MARK)


def of_board(board):
    """Return the leaderboard, its numbers, and the pages of all methods and data sets, by their paths."""
    page, found = leaderboard(board, address)
    pages = {"leaderboard.html": page, "leaderboard.json": found}
    pages["datasets.html"] = layout("Data sets", datasets.index(board), "datasets.html")
    comparison = compare_studies(open_studies(ROOT / "results", shipped_names()))
    for target, users in classes():
        path = methods.address(users)
        pages[path] = methods.method_page(target, users, board, comparison, partial(relative, page=path))
    for name in names("dataset"):
        path = datasets.address(name)
        pages[path] = datasets.dataset_page(name, board, partial(relative, page=path))
    return pages


PLACES = {"method": lambda name: methods.addresses().get(name), "dataset": datasets.address}


def address(group, name):
    """Return the path of the page of a method or a data set on the site; None where there is none."""
    return PLACES[group](name)


def _empty(folder):
    if folder.exists() and any(folder.iterdir()):
        if not (folder / MARK).exists():
            raise ValueError(f"{folder} holds files that are not of an earlier site: name another folder by --output.")
        shutil.rmtree(folder)
    write("", folder / MARK)


def _study(folder, name):
    """Write the report of a shipped study, and return what the list of results says of it."""
    study = Study.open(ROOT / "results", PREFIX + name)
    protocol = study.protocol["name"]
    # A paper chooses with the labels; what is no paper's is shown as a user without labels gets it.
    selection = "best_over_grid" if protocol in PAPERS else "largest_size"
    report = make_report(study, selection).replace('<p class="kicker">', f'{BACK}\n<p class="kicker">', 1)
    files = reports.split(report)
    for file, text in files.items():
        write(text, folder / "results" / name / file)
    about = f"The protocol of the {PAPERS[protocol]} paper" if protocol in PAPERS else ABOUT.get(name)
    nouns = {"method": "method", "dataset": "data set"}
    counts = [counted(study.trials[group].nunique(), noun) for group, noun in nouns.items()]
    return {
        "name": name,
        "about": about or "A protocol of its own",
        "counts": [*counts, counted(len(study.trials), "fit")],
        "n_partial": sum(map(bool, study.lacking.values())),
        "selection": selection,
        "parts": {part: words for part, words in PARTS.items() if f"{part}.html" in files},
    }
