"""A page for every class of conf/method: what it computes, what it costs, how it fares, and how to run it."""

import functools
import inspect
import re

import pandas as pd

from metrics.study.frames import of_kmeans
from runners.experiment.method import load_class
from scripts.compare.verdicts import VERDICTS, count
from scripts.core.conf import ROOT, entry, family_of, find, printed, printed_family, unique_names
from scripts.core.published import FOLDER, PAPERS
from scripts.core.views import render
from scripts.findings.plan import WEIGHTS
from scripts.method_notes import citations, classes, sections, source_of
from scripts.site import cells
from scripts.site.board import GAINS, KINDS, SHOWN
from scripts.site.pages import layout

LARGE = ROOT / "docs/large.md"


def address(names):
    """Return the path of the page of a class on the site; `names` has those in conf/method that use it."""
    return f"methods/{names[0]}.html"


@functools.cache
def addresses():
    """Return the path of the page that each method of conf/method is on."""
    return {name: address(names) for _, names in classes() for name in names}


def method_page(target, names, board, comparison, places):
    """Return the page of a class as HTML; `places` gives the link to a page of the site."""
    found = {title: _markdown(text) for title, text in sections(inspect.getdoc(load_class(target))).items()}
    first, _, rest = found[""].partition("\n\n")
    title, note = printed("method", names[0]), f"docs/methods/{target.split('.')[1]}"
    shown = [name for name in names if name in board.kinds]
    page = render(
        "site/method.md.j2",
        title=title,
        first=first,
        rest=rest,
        found=found,
        target=target,
        names=names,
        shown=shown,
        board=board,
        kinds=KINDS,
        places=places,
        sources=citations(names),
        file=source_of(target),
        note=note,
        has_note=(ROOT / f"{note}.md").exists(),
        parameters=_parameters(found.get("Parameters", "")),
        settings=_settings(names),
        growth=[(name, *_growth()[name]) for name in names if name in _growth()],
        costs=list(_costs(shown, board)),
        rows={row["name"]: row for row in board.rows},
        families={name: _families(name, board) for name in shown},
        all_data={name: _all_data(name, board) for name in shown},
        scores=SHOWN,
        sizes=[f"#{size}" for size in WEIGHTS],
        of_gains=GAINS,
        of_scores=[f"#{title}" for title in SHOWN.values()],
        gain=cells.gain,
        published=_published(names, comparison),
        claims=_claims(names, places),
    )
    return layout(title, page, address(names))


def _markdown(text):
    """Return a part of a docstring as Markdown."""
    return text.replace("]_", "]").replace(".. [", "[").replace("::\n", ":\n")


def _parameters(text):
    """Return the name, the type and the words of each parameter in numpydoc's list."""
    entries = re.findall(r"^(\w[^\n]*) : ([^\n]*)\n((?:[ ]+[^\n]*\n?|\n(?=[ ]))*)", text + "\n", re.MULTILINE)
    return [(name, kind.strip(), " ".join(words.split())) for name, kind, words in entries]


def _settings(names):
    """Return the lines of a table of the defaults and the grid of every name."""
    rows = [["`method=`", "default", "grid"]]
    for name in names:
        content = find("method", name)
        # random rankings have a hundred values
        grid = [f"`{key}={_short(values)}`" for key, values in content["grid"].items()]
        params = [f"`{key}={value}`" for key, value in content["params"].items()]
        rows.append([f"`{name}`", ", ".join(params) or "none", ", ".join(grid) or "none"])
    return rows


def _short(values):
    return values if len(values) < 12 else f"[{values[0]}, {values[1]}, ..., {values[-1]}]"


@functools.cache
def _growth():
    """Return exponent and largest size, of n and of d, by method, from docs/large.md."""
    rows = re.findall(
        r"^\| (\w+) +\| *([\d.]*) +\| ([^|]*?) *\| *([\d.]*) +\| ([^|]*?) *\|", LARGE.read_text(), re.MULTILINE
    )
    return {name: row for name, *row in reversed(rows)}  # the first table of the page is of dense data


def _costs(shown, board):
    """Yield the seconds of the shipped fits of methods: name, median, number of data sets, and the most with where."""
    for name in shown:
        own = board.seconds[board.seconds.index.get_level_values("method") == name].droplevel("method")
        if len(own) and own.max() > 0:
            slowest = own.idxmax()
            size = find("dataset", slowest) or {}
            shape = f", {size['samples']} x {size['features']}" if size else ""
            yield name, own.median(), len(own), own.max(), f"{printed('dataset', slowest)}{shape}"


def _families(name, board):
    """Return the printed name of every family, the number of its data sets, and the mean gains there, best first."""
    own = board.overall[board.overall.index.get_level_values("method") == name].droplevel("method")
    own = own[own.index.isin(board.choice.datasets)].dropna(how="all")
    means = own.groupby(family_of).mean().sort_values("acc", ascending=False)
    sizes = own.groupby(family_of).size()
    return [(printed_family(family), sizes[family], mean) for family, mean in means.iterrows()]


def _all_data(name, board):
    """Return every data set that a method was run on, with its fit, its scores at all sizes and the mean gains."""
    fits = board.study.trials
    fits = fits[(fits["method"] == name) & fits["is_default"]].drop_duplicates("dataset").set_index("dataset")
    titles = unique_names("dataset", fits.index)
    datasets = sorted(fits.index, key=lambda dataset: titles[dataset].lower())
    scores, gains, seconds = (
        frame[frame.index.get_level_values("method") == name].droplevel("method").reindex(datasets)
        for frame in (board.scores, board.overall, board.seconds)
    )
    return [
        {
            **fits.loc[dataset, ["n_samples", "n_features", "status"]],
            "title": titles[dataset],
            "page": f"data/{dataset}.html" if entry("dataset", dataset, "name") else None,
            "seconds": seconds[dataset],
            "scores": {score: scores.loc[dataset, score].reindex(WEIGHTS) for score in SHOWN},
            "gains": gains.loc[dataset],
        }
        for dataset in datasets
    ]


def _published(names, comparison):
    """Return the lines of a table of what came of the published scores of a method."""
    rows = of_kmeans(comparison[comparison["method"].isin(names)])
    told = [["printed in", "ours", *VERDICTS, "hollow"]]
    for (paper, name), row in count(rows, ["paper", "method"]).iterrows() if len(rows) else ():
        told.append([PAPERS[paper], f"`{name}`", *(str(int(row[word])) for word in (*VERDICTS, "hollow"))])
    return told


def _claims(names, places):
    """Return the lines of a table of what came of the claims of a method's paper."""
    claims = pd.read_csv(FOLDER / "claims_measured.csv").query("paper in @names")
    page = places("docs/claims.html")
    return [["claim", "measured"], *([f"[{row.says}]({page})", row.verdict] for row in claims.itertuples())]
