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
from scripts.core.conf import ROOT, family_of, find, printed, printed_family, unique_names
from scripts.core.published import PAPERS
from scripts.core.text import pipes
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
    parts = [
        f"# {printed('method', names[0])}",
        first,
        _facts(target, names, board, places),
        *_with("What it computes", rest),
        *_with("Notes: departures from the paper, what goes wrong", found.get("Notes", "")),
        "## Parameters",
        _parameters(found.get("Parameters", "")),
        _settings(names),
        "## Cost",
        *_cost(names, board, places),
        "## Results",
        *_results([name for name in names if name in board.kinds], board, places),
        *_published(names, comparison, places),
        "## Run it",
        _commands(target, names),
        *_with("References", found.get("References", "")),
    ]
    return layout(printed("method", names[0]), "\n\n".join(filter(None, parts)) + "\n", address(names))


def _with(title, text):
    return [f"## {title}", text] if text else []


def _markdown(text):
    """Return a part of a docstring as Markdown."""
    return text.replace("]_", "]").replace(".. [", "[").replace("::\n", ":\n")


def _facts(target, names, board, places):
    kinds = [f"`{name}`" + (f" ({KINDS[board.kinds[name]]})" if name in board.kinds else "") for name in names]
    source, note = source_of(target), f"docs/methods/{target.split('.')[1]}"
    lines = [
        f"* `method=`: {', '.join(kinds)}",
        f"* From: {citations(names)}" if citations(names) else "",
        f"* Code: [`{source}`]({places(source)})",
        f"* [What we measured]({places(f'{note}.html')})" if (ROOT / f"{note}.md").exists() else "",
    ]
    return "\n".join(filter(None, lines))


def _parameters(text):
    """Return numpydoc's list of parameters as a list in Markdown."""
    entries = re.findall(r"^(\w[^\n]*) : ([^\n]*)\n((?:[ ]+[^\n]*\n?|\n(?=[ ]))*)", text + "\n", re.MULTILINE)
    lines = [f"* `{name}` ({kind.strip()}): {' '.join(words.split())}" for name, kind, words in entries]
    return "\n".join(lines) or "None."


def _settings(names):
    """Return a table of the defaults and the grid of every name."""
    rows = [["`method=`", "default", "grid"]]
    for name in names:
        content = find("method", name)
        # random rankings have a hundred values
        grid = [f"`{key}={_short(values)}`" for key, values in content["grid"].items()]
        params = [f"`{key}={value}`" for key, value in content["params"].items()]
        rows.append([f"`{name}`", ", ".join(params) or "none", ", ".join(grid) or "none"])
    return pipes(rows)


def _short(values):
    return values if len(values) < 12 else f"[{values[0]}, {values[1]}, ..., {values[-1]}]"


def _cost(names, board, places):
    """Return the growth over n and d from docs/large.md, and the seconds of the shipped fits."""
    rows = re.findall(
        r"^\| (\w+) +\| *([\d.]*) +\| ([^|]*?) *\| *([\d.]*) +\| ([^|]*?) *\|", LARGE.read_text(), re.MULTILINE
    )
    measured = {name: row for name, *row in reversed(rows)}  # the first table of the page is of dense data
    lines = []
    for name in names:
        if name in measured:
            n, largest_n, d, largest_d = measured[name]
            lines.append(
                f"* `{name}`: seconds grow as n^{n or '?'} (up to {largest_n}) and as d^{d or '?'} (up to {largest_d})."
            )
    if lines:
        lines = ["\n".join(lines), f"n samples, d features: measured on [made-up data]({places('docs/large.html')})."]
    elif set(names) & set(board.kinds):
        lines = ["How the seconds grow was not measured; the tables below have those on all data."]
    ends = []
    for name in (name for name in names if name in board.kinds):
        own = board.seconds[board.seconds.index.get_level_values("method") == name].droplevel("method")
        if len(own) and own.max() > 0:
            slowest = own.idxmax()
            size = find("dataset", slowest) or {}
            shape = f", {size['samples']} x {size['features']}" if size else ""
            ends.append(
                f"* `{name}` in `study={board.study.name}`: {own.median():.2g} CPU seconds a fit, the median over "
                f"{len(own)} data sets; at most {own.max():.2g} ({printed('dataset', slowest)}{shape})."
            )
    return [*lines, "\n".join(ends)]


def _results(shown, board, places):
    if not shown:
        return [f"No fit of it is in `study={board.study.name}` yet."]
    parts = []
    rows = {row["name"]: row for row in board.rows}
    for number, name in enumerate(shown):
        parts.append(f"### {board.titles[name]}: `{name}`" if len(shown) > 1 else "")
        if name in rows:
            row = rows[name]
            parts.append(
                "Default parameters, gains over random rankings in points: the mean over sizes and "
                f"{row['n_families']} families, with 95 % intervals ([leaderboard]({places('leaderboard.html')}))."
                + ("" if row["enough"] else " **These are too few to compare it with the others.**")
            )
            parts.append(_span(row, len(board.tested)))
            parts.append("**Where it helps**, family by family:")
            parts.append(_families(name, board))
        parts.append(_all_data(name, board, places, number))
    return parts


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
        [
            printed_family(family),
            cells.value(sizes[family], "{:.0f}"),
            *(cells.gain(mean, whole=True) for mean in row),
        ]
        for family, row in means.iterrows()
    ]
    return cells.table(["Family", "#Data sets", *(f"#{title}" for title in SHOWN.values())], rows, "data board")


def _all_data(name, board, places, number):
    """Return the scores on all data sets at all sizes, a folded table for each score; the first says how fits went."""
    own = board.scores[board.scores.index.get_level_values("method") == name].droplevel("method")
    titles = unique_names("dataset", list(own.index))
    fits = board.study.trials
    fits = fits[(fits["method"] == name) & fits["is_default"]].drop_duplicates("dataset").set_index("dataset")
    titles |= unique_names("dataset", [dataset for dataset in fits.index if dataset not in titles])
    parts = []
    for score, title in SHOWN.items():
        rows = []
        for dataset in sorted(fits.index, key=lambda dataset: titles[dataset].lower()):
            fit, scores = fits.loc[dataset], own[score].reindex([dataset]).iloc[0].reindex(list(WEIGHTS))
            row = [
                cells.link(places(f"data/{dataset}.html"), titles[dataset]) if find("dataset", dataset) else dataset,
                *map(cells.value, scores),
                cells.gain(board.overall[score].get((dataset, name), float("nan")), whole=True),
            ]
            went = [
                *(cells.value(fit[side], "{:.0f}") for side in ("n_samples", "n_features")),
                cells.value(board.seconds.get((dataset, name), float("nan")), "{:.2g}"),
                cells.text("" if fit["status"] == "converged" else fit["status"].replace("_", " ")),
            ]
            rows.append(row + went if score == "acc" else row)
        head = ["Data set", *(f"#{size}" for size in WEIGHTS), "#Gain"]
        head += ["#n", "#d", "#Seconds", "Ended"] if score == "acc" else []
        opened = " open" if score == "acc" and number == 0 else ""
        summary = f"{title} in percent on all data at all sizes"
        parts.append(f"<details{opened}><summary>{summary}</summary>{cells.table(head, rows, 'data board')}</details>")
    return "\n".join(parts)


def _published(names, comparison, places):
    """Return what came of the published scores and claims of a method."""
    rows = of_kmeans(comparison[comparison["method"].isin(names)])
    parts = []
    if len(rows):
        counts = count(rows, ["paper", "method"])
        told = [[PAPERS[paper], f"`{name}`", *(str(int(row[verdict])) for verdict in VERDICTS), str(int(row["hollow"]))]
                for (paper, name), row in counts.iterrows()]  # fmt: skip
        parts += [
            f"Published scores of ACC and NMI beside ours ([rules]({places('docs/reading.html')}), "
            f"[all cells]({places('docs/reproduction.html')})):",
            pipes([["printed in", "ours", *VERDICTS, "hollow"], *told]),
        ]
    claims = [claim for claim in CLAIMS if claim.paper in names]
    if claims:
        stored, told = load(), []
        for claim in claims:
            words = [f"{variant} {word}".strip() for variant, (word, _) in verdicts(claim, stored).items()]
            told.append([f"[{claim.says}]({places('docs/claims.html')}#{claim.name})", "; ".join(words)])
        parts += ["Claims of its paper:", pipes([["claim", "measured"], *told])]
    return ["## What is published", *parts] if parts else []


def _commands(target, names):
    module, _, cls = target.rpartition(".")
    return f"""```
python run.py method={names[0]} dataset=digits
python run.py -m experiment=fair method={",".join(names)}
```

The second is what this page shows; `data=FILE` in the place of `dataset=` takes your own data. As an estimator of
scikit-learn:

```python
from {module} import {cls}
```"""


def comparisons():
    """Return the published cells beside ours, of all shipped studies of papers."""
    names = shipped_names()
    return compare_studies(open_studies(ROOT / "results", names, names))
