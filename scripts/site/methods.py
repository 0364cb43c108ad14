"""A page for every class of conf/method: what it computes, what it costs, how it fares, and how to run it."""

import functools
import inspect
import re

from metrics.study.frames import of_kmeans
from runners.experiment.method import load_class
from scripts.claims import CLAIMS
from scripts.claims.core.claims_page import verdicts
from scripts.claims.core.store import load
from scripts.compare import compare_studies, open_studies, shipped_names
from scripts.compare.verdicts import VERDICTS, count
from scripts.core.conf import ROOT, entry, family_of, find, printed, printed_family, unique_names
from scripts.core.published import PAPERS
from scripts.core.views import render
from scripts.findings.plan import WEIGHTS
from scripts.method_notes import citations, classes, sections, source_of
from scripts.site import cells
from scripts.site.board import KINDS, SHOWN
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
        span=lambda row: _span(row, len(board.tested)),
        families=lambda name: _families(name, board),
        all_data=lambda name, number: _all_data(name, board, places, number),
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


def _span(row, n_tested):
    own = row["cells"].values()
    states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in row["states"].items())
    head = [*(f"#Gain in {title}" for title in SHOWN.values()), "#Data sets"]
    known = f"{row['n_datasets']} of {n_tested}" + (f" ({states})" if states else "")
    bars = [cells.gain(cell["mean"], cell["low"], cell["high"], cell["sign"]) for cell in own]
    return cells.table(["", *head], [[row["title"], *bars, cells.text(known)]], "board")


def _families(name, board):
    """Return a table of the mean gain on every family, best first."""
    own = board.overall[board.overall.index.get_level_values("method") == name].droplevel("method")
    own = own[own.index.isin(board.choice.datasets)].dropna(how="all")
    means = own.groupby(family_of).mean().sort_values("acc", ascending=False)
    sizes = own.groupby(family_of).size()
    rows = [
        [printed_family(family), cells.value(sizes[family], "{:.0f}"), *(cells.gain(mean, whole=True) for mean in row)]
        for family, row in means.iterrows()
    ]
    return cells.table(["Family", "#Data sets", *(f"#{title}" for title in SHOWN.values())], rows, "data board")


def _all_data(name, board, places, number):
    """Return the scores on all data sets at all sizes, a folded table for each score; the first says how fits went."""
    own, gains, seconds = (
        frame[frame.index.get_level_values("method") == name].droplevel("method")
        for frame in (board.scores, board.overall, board.seconds)
    )
    titles = unique_names("dataset", list(own.index))
    fits = board.study.trials
    fits = fits[(fits["method"] == name) & fits["is_default"]].drop_duplicates("dataset").set_index("dataset")
    titles |= unique_names("dataset", [dataset for dataset in fits.index if dataset not in titles])
    datasets = sorted(fits.index, key=lambda dataset: titles[dataset].lower())
    first = [
        cells.link(places(f"data/{dataset}.html"), titles[dataset]) if entry("dataset", dataset, "name") else dataset
        for dataset in datasets
    ]
    ends = [
        [
            *(cells.value(fit[side], "{:.0f}") for side in ("n_samples", "n_features")),
            cells.value(took, "{:.2g}"),
            cells.text("" if fit["status"] == "converged" else fit["status"].replace("_", " ")),
        ]
        for fit, took in zip(fits.loc[datasets].to_dict("records"), seconds.reindex(datasets), strict=True)
    ]
    parts = []
    for score, title in SHOWN.items():
        scores = own[score].reindex(index=datasets, columns=list(WEIGHTS)).to_numpy()
        bars = [cells.gain(gain, whole=True) for gain in gains[score].reindex(datasets)]
        rows = [[named, *map(cells.value, row), bar] for named, row, bar in zip(first, scores, bars, strict=True)]
        head = ["Data set", *(f"#{size}" for size in WEIGHTS), "#Gain"]
        if score == "acc":
            head += ["#n", "#d", "#Seconds", "Ended"]
            rows = [row + end for row, end in zip(rows, ends, strict=True)]
        opened = " open" if score == "acc" and number == 0 else ""
        summary = f"{title} in percent on all data at all sizes"
        parts.append(f"<details{opened}><summary>{summary}</summary>{cells.table(head, rows, 'data board')}</details>")
    return "\n".join(parts)


def _published(names, comparison):
    """Return the lines of a table of what came of the published scores of a method."""
    rows = of_kmeans(comparison[comparison["method"].isin(names)])
    told = [["printed in", "ours", *VERDICTS, "hollow"]]
    for (paper, name), row in count(rows, ["paper", "method"]).iterrows() if len(rows) else ():
        told.append([PAPERS[paper], f"`{name}`", *(str(int(row[word])) for word in (*VERDICTS, "hollow"))])
    return told


def _claims(names, places):
    """Return the lines of a table of what came of the claims of a method's paper."""
    stored, told = load(), [["claim", "measured"]]
    for claim in (claim for claim in CLAIMS if claim.paper in names):
        words = [f"{variant} {word}".strip() for variant, (word, _) in verdicts(claim, stored).items()]
        told.append([f"[{claim.says}]({places('docs/claims.html')}#{claim.name})", "; ".join(words)])
    return told


def comparisons():
    """Return the published cells beside ours, of all shipped studies of papers."""
    return compare_studies(open_studies(ROOT / "results", shipped_names()))
