"""The pages of the web site that are made from conf/, docstrings and the shipped study: methods, data, leaderboard."""

import json
import re

import pandas as pd
from markupsafe import Markup

from ufs_bench.datasets import dataset_names
from ufs_bench.metrics.study import ALL, RANDOM
from ufs_bench.runners.messages import counted
from ufs_bench.scripts.cite import citations, classes, source_of
from ufs_bench.scripts.core.conf import CONF, ROOT, entry, family_of, find, printed, printed_family, unique_names
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import number, pipes, render
from ufs_bench.scripts.core.text import signed as printed_gain
from ufs_bench.scripts.docs.board import ENOUGH, KINDS, LEVEL, SHOWN, Board, numbers
from ufs_bench.scripts.findings.plan import CONFIRMATORY, WEIGHTS, datasets_of

STUDY = "reference/fair"  # what the leaderboard and the pages of methods and data sets show
REACH = 12  # points from the middle of a bar to its ends: most intervals are within
SIGNS = {1: "▲ gains", -1: "▼ loses", 0: ""}
DRAWN = 4  # methods in the chart at first, besides random rankings and all features


def method_pages():
    """Return the page, that each method of conf/method is on."""
    return {name: f"method/{names[0]}" for _, names in classes() for name in names}


def made_pages():
    """Return all pages that are made, in Markdown, by their names."""
    board = Board(Study.open(ROOT / "results", STUDY))
    pages = {"leaderboard": leaderboard_page(board), "data": _datasets(board)}
    pages |= {f"method/{names[0]}": _method(target, names, board) for target, names in classes()}
    return pages | {f"data/{name}": _dataset(name, board) for name in dataset_names()}


def leaderboard_page(board):
    """Return the page on which all methods stand."""
    found, tested, own_pages = numbers(board), board.tested, method_pages()
    return render(
        "docs/leaderboard.md.j2",
        rows=[row | {"page": own_pages.get(row["name"])} for row in board.rows],
        drawn={row["name"] for row in [row for row in board.rows if row["kind"] == "method"][:DRAWN]} | {ALL, RANDOM},
        scores=SHOWN, kinds=KINDS, sizes=list(WEIGHTS), weights=list(WEIGHTS.values()), level=f"{LEVEL:g}",
        n_datasets=len(tested), n_families=(n_families := len({family_of(name) for name in tested})),
        enough=min(ENOUGH, n_families), n_tested=0 if board.p is None else len(board.p),
        lacking=list(unique_names("method", sorted(own_pages.keys() - board.kinds.keys())).values()),
        gain=gain, study=board.study.own_name,
        numbers=Markup(json.dumps(found | {"reach": REACH}, separators=(",", ":")).replace("<", "\\u003c")),
    )  # fmt: skip


def gain(cell):
    """Return what a cell of the leaderboard holds: mean, interval with its bar, and the mark of the test."""
    mean, low, high = (cell[name] for name in ("mean", "low", "high"))
    if pd.isna(mean):
        return ""
    low, high = (mean, mean) if pd.isna(low) else (low, high)
    at = [f"{50 * (1 + max(-1, min(1, value / REACH))):.1f}" for value in (mean, low, high)]
    interval = f"<small>{signed(low)} to {signed(high)}</small>" if low != high else ""
    mark = f"<em>{SIGNS[cell['sign']]}</em>" if cell["sign"] else ""
    return f'<i class="bar" style="--m:{at[0]};--l:{at[1]};--h:{at[2]}"></i><b>{signed(mean)}</b>{mark}{interval}'


def signed(value):
    """Return a gain with its sign; "" where there is none."""
    return printed_gain(value).replace("-", "−")


def _method(target, names, board):
    """Return the page of a class; its first part is the docstring, which Sphinx reads from the code."""
    module, _, name = target.rpartition(".")
    note = f"methods/{module.split('.')[1]}"
    shown = [one for one in names if one in board.kinds]
    rows = {row["name"]: row for row in board.rows}
    return render(
        "docs/method.md.j2",
        title=printed("method", names[0]), names=names, module=module, name=name, file=source_of(target),
        kinds={one: KINDS[board.kinds[one]] for one in shown}, sources=citations(names),
        note=note if (ROOT / f"docs/{note}.md").exists() else None,
        settings=_settings(names),
        cost={one: (own.median(), own.max(), printed("dataset", own.idxmax()))
              for one in shown if len(own := _of(board.study.seconds, one))},
        study=board.study.own_name, scores=SHOWN,
        results=[(one, board.titles[one], rows.get(one), _by_family(one, board), _by_data(one, board))
                 for one in shown],
        signed=signed,
    )  # fmt: skip


def _of(frame, method):
    """Return the part of a frame of (dataset, method) that is of one method, by data set."""
    return frame[frame.index.get_level_values("method") == method].droplevel("method")


def _settings(names):
    """Return the lines of a table of the defaults and the grid of every name."""
    rows = [["`method=`", "default", "grid"]]
    for name in names:
        content = find("method", name)
        grid = [f"`{key}={_short(values)}`" for key, values in content["grid"].items()]
        params = [f"`{key}={value}`" for key, value in content["params"].items()]
        rows.append([f"`{name}`", ", ".join(params) or "none", ", ".join(grid) or "none"])
    return rows


def _short(values):
    return values if len(values) < 12 else f"[{values[0]}, {values[1]}, ..., {values[-1]}]"  # of random rankings


def _by_family(name, board):
    """Return the lines of a table of the mean gains in every family of data, the best in ACC first."""
    own = _of(board.overall, name)
    own = own[own.index.isin(board.choice.datasets)].dropna(how="all")
    means = own.groupby(family_of).mean().sort_values("acc", ascending=False)
    counts = own.groupby(family_of).size()
    rows = [[printed_family(of), str(counts[of]), *map(signed, mean)] for of, mean in means.iterrows()]
    return [["family", "data sets", *SHOWN.values()], *rows]


def _by_data(name, board):
    """Return an HTML table of each score on all data at all sizes, with the mean gain, by the name of the score."""
    fits = board.study.trials
    fits = fits[(fits["method"] == name) & fits["is_default"]].drop_duplicates("dataset").set_index("dataset")
    titles = unique_names("dataset", fits.index)
    order = sorted(fits.index, key=lambda dataset: titles[dataset].lower())
    frames = board.scores, board.overall, board.study.seconds
    scores, gains, seconds = (_of(frame, name).reindex(order) for frame in frames)
    tables = {}
    for score in SHOWN:
        frame = scores[score].reindex(columns=list(WEIGHTS)).map(number, decimals=1)
        frame["gain"] = gains[score].map(signed)
        frame["n x d"] = [f"{fits.loc[one, 'n_samples']} x {fits.loc[one, 'n_features']}" for one in order]
        frame["seconds"] = seconds.map(lambda value: "" if pd.isna(value) else f"{value:.2g}")
        frame["ended"] = fits.loc[order, "status"].replace("converged", "").str.replace("_", " ")
        tables[score] = html_table(frame.set_axis([_data_link(one, titles[one]) for one in order]), "data set")
    return tables


def _data_link(name, title):
    return f'<a href="../data/{name}.html">{title}</a>' if entry("dataset", name, "sources") else title


def html_table(frame, corner):
    """Return a frame of texts as a table in a box that scrolls; docutils would take a minute for all of them."""
    table = frame.rename_axis(columns=corner).to_html(
        border=0, classes="table numbers", escape=False, index_names=False
    )
    head = f"<th>{corner}</th>"
    return f'<div class="scroll" tabindex="0">{table.replace("<th></th>", head, 1)}</div>'


def _dataset(name, board):
    """Return the page of a data set: what it is, how much there is to gain, and how methods rank on it."""
    spec = find("dataset", name)
    comment = (CONF / f"dataset/{name}.yaml").read_text("utf-8").split("\nname:")[0]
    urls = [url for source in spec["sources"] for url in source.get("urls", [])[:1]]  # the others are copies
    of_data = board.scores.index.get_level_values("dataset") == name
    own = board.scores[of_data].droplevel("dataset")
    has_methods = not own.index.isin([RANDOM, ALL]).all()
    return render(
        "docs/dataset.md.j2",
        name=name, spec=spec, about=" ".join(line.lstrip("# ") for line in comment.splitlines() if line[:1] == "#"),
        family=printed_family(spec.get("family", name)),
        hosts=sorted({f"[{url.split('/')[2]}]({url})" for url in urls}),
        same=(spec.get("same_source_as"), printed("dataset", spec.get("same_source_as") or name)),
        part="confirmatory" if name in datasets_of(CONFIRMATORY) else board.parts.get(name),
        room=_room(own, board) if has_methods else [],
        ranking=_ranking(name, own, board) if has_methods else "", study=board.study.own_name,
    )  # fmt: skip


def _room(own, board):
    """Return the lines of a table of random rankings, all features and the best method, by score and size."""
    rows = [["score in percent", *map(str, WEIGHTS)]]
    controls = own.reindex([RANDOM, ALL])
    methods = own[own.index.isin(board.choice.methods)]
    for score, title in SHOWN.items():
        best = methods[score].reindex(columns=list(WEIGHTS)).dropna(axis=1, how="all")
        found = {"random rankings": controls.loc[RANDOM, score], "all features": controls.loc[ALL, score]}
        for label, of in (found | {"best method": best.max()}).items():
            rows.append([f"{title}, {label}", *(f"{of[size]:.1f}" if size in best else "" for size in WEIGHTS)])
        rows.append(["which is", *(board.titles[best[size].idxmax()] if size in best else "" for size in WEIGHTS)])
    return rows


def _ranking(name, own, board):
    """Return an HTML table of all methods on a data set, by their gain in ACC."""
    gains = board.overall.xs(name, level="dataset").drop(index=[RANDOM], errors="ignore").dropna(how="all")
    gains = gains.sort_values("acc", ascending=False)
    frame = gains.map(signed).set_axis([f"gain in {title}" for title in SHOWN.values()], axis=1)
    frame = frame.join(
        own["acc"].reindex(gains.index, columns=list(WEIGHTS)).map(number, decimals=1).add_prefix("ACC ")
    )
    frame["seconds"] = [f"{board.study.seconds.get((name, method), float('nan')):.2g}" for method in gains.index]
    frame["kind"] = [KINDS[board.kinds[method]] for method in gains.index]
    pages = method_pages()
    links = [
        f'<a href="../{pages[method]}.html">{board.titles[method]}</a>' if method in pages else board.titles[method]
        for method in gains.index
    ]
    return html_table(frame.set_axis(links), "method")


def _datasets(board):
    """Return the page that lists all data sets."""
    rows = [["data set", "family", "n", "d", "classes", "terms", "best gain in ACC"]]
    gains = board.overall["acc"].dropna()
    for name, title in sorted(unique_names("dataset", dataset_names()).items(), key=lambda pair: pair[1].lower()):
        spec = find("dataset", name)
        own = gains[gains.index.get_level_values("dataset") == name].droplevel("dataset")
        own = own[own.index.isin(board.choice.methods)]
        best = f"{signed(own.max())} ({board.titles[own.idxmax()]})" if len(own) else "not run"
        terms = re.split(r"[.;,(]\s|\s\(", spec["terms"])[0]
        shape = [str(spec[side]) for side in ("samples", "features", "classes")]
        rows.append([f"[{title}](data/{name}.md)", printed_family(spec.get("family", name)), *shape, terms, best])
    return (
        f"# Data sets\n\n{counted(len(rows) - 1, 'data set')}. The last column names the method that gains most over "
        f"random rankings. It is chosen with the labels: it shows what there is to gain.\n\n{pipes(rows)}\n"
    )
