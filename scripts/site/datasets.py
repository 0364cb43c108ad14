"""A page for every data set of conf/dataset: what it is, how methods rank on it, and what there is to gain."""

import re

import numpy as np

from datasets import DataError, dataset_names, load_dataset
from metrics.study import ALL, RANDOM
from scripts.core.conf import CONF, find, printed_family, unique_names
from scripts.core.text import pipes
from scripts.core.views import render
from scripts.findings.plan import CONFIRMATORY, WEIGHTS, datasets_of
from scripts.make_report.trials import png_of
from scripts.site import cells
from scripts.site.board import GAINS, SHOWN
from scripts.site.methods import addresses
from scripts.site.pages import layout

# What the terms of data begin with that allow pictures of them, with credit.
ALLOWING = ("CC BY", "MIT (")


def address(name):
    """Return the path of the page of a data set on the site."""
    return f"data/{name}.html"


def dataset_page(name, board, places, data_dir=None):
    """Return the page of a data set as HTML; `places` gives the link to a page of the site."""
    spec = find("dataset", name)
    own = board.scores.xs(name, level="dataset") if name in board.scores.index.get_level_values("dataset") else None
    has_methods = own is not None and not own.index.isin([RANDOM, ALL]).all()
    rows, lacking = _ranking(name, own, board) if has_methods else ([], [])
    page = render(
        "site/dataset.md.j2",
        name=name,
        spec=spec,
        about=_about(name),
        # The other addresses are copies.
        sources=[f"[{url.split('/')[2]}]({url})" for source in spec["sources"] for url in source.get("urls", [])[:1]],
        part="confirmatory" if name in datasets_of(CONFIRMATORY) else board.parts.get(name),
        picture=picture(name, spec, data_dir),
        places=places,
        address=address,
        board=board,
        shown=SHOWN,
        weights=[f"#ACC {size}" for size in WEIGHTS],
        of_gains=GAINS,
        gain=cells.gain,
        room=list(_room(own, board)) if has_methods else [],
        rows=rows,
        lacking=lacking,
    )
    return layout(spec["paper_name"], page, address(name))


def _about(name):
    """Return the comment that a file of conf/dataset begins with."""
    lines = (CONF / "dataset" / f"{name}.yaml").read_text(encoding="utf-8").split("\nname:")[0].splitlines()
    return " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))


def picture(name, spec, data_dir=None):
    """Return the mean image of every class, where the data are at hand and their terms allow a picture of them."""
    if not spec["image"] or not spec["terms"].startswith(ALLOWING):
        return []
    try:
        data = load_dataset(name, data_dir=data_dir, download=False)
    except DataError:
        return []
    if data.sha != spec["data_sha256"] or data.y is None:
        return []
    return [f'<p class="faces">{_drawn(data)}</p>', f"The mean image of each class. {spec['terms']}"]


def _drawn(data):
    faces = [data.image(np.asarray(data.X[data.y == label].mean(axis=0)).ravel()) for label in np.unique(data.y)]
    low, high = min(face.min() for face in faces), max(face.max() for face in faces)
    row = np.hstack([np.pad(255 * (face - low) / max(high - low, 1e-300), 1) for face in faces])
    source, (height, width) = png_of(row.round().astype(np.uint8), 16), row.shape
    return f'<img class="pixels" src="{source}" width="{width}" height="{height}" alt="Means of {len(faces)} classes">'


def _room(own, board):
    """Yield for each score its title, chart, sizes, lines and best methods: random rankings, all features, the best."""
    chosen = own.loc[[name for name in own.index if name in board.choice.methods]]
    for score, title in SHOWN.items():
        random = own[score].reindex([RANDOM]).loc[RANDOM].reindex(list(WEIGHTS)).dropna()
        sizes = list(random.index)
        best = chosen[score].reindex(columns=sizes)
        if best.isna().all(axis=None):
            continue
        series = [("Random rankings", list(random))]
        series += [("All features", list(own.loc[ALL, score].reindex(sizes)))] if ALL in own.index else []
        series.append(("Best method", list(best.max())))
        chart = cells.lines(series, sizes, f"{title} over the number of features")
        yield title, chart, [f"#{size}" for size in sizes], series, [board.titles[name] for name in best.idxmax()]


def _ranking(name, own, board):
    """Return the methods with scores at every size, best first, and the others with how their fits ended."""
    found = board.overall.xs(name, level="dataset").drop(index=[RANDOM], errors="ignore").dropna(how="all")
    rows = [
        {
            "title": board.titles[method] if method in addresses() else method,
            "page": addresses().get(method),
            "gains": gains,
            "scores": own.loc[method, "acc"].reindex(list(WEIGHTS)),
            "seconds": board.seconds.get((name, method), float("nan")),
            "kind": board.kinds[method],
        }
        for method, gains in found.sort_values("acc", ascending=False).iterrows()
    ]
    fits = board.study.trials
    fits = fits[(fits["dataset"] == name) & fits["is_default"]]
    ended = fits.drop_duplicates("method").set_index("method")["status"]
    lacking = sorted(set(fits["method"]) - set(found.index) - {RANDOM})
    return rows, [f"{board.titles[method]} ({ended[method].replace('_', ' ')})" for method in lacking]


def index(board):
    """Return the page that lists all data sets, in Markdown."""
    names = dataset_names()
    rows = [["Data set", "family", "n", "d", "classes", "terms", "best gain in ACC"]]
    for name, title in sorted(unique_names("dataset", names).items(), key=lambda pair: pair[1].lower()):
        spec = find("dataset", name)
        own = board.overall["acc"]
        own = own[(own.index.get_level_values("dataset") == name)].droplevel("dataset").dropna()
        own = own[own.index.isin(board.choice.methods)]
        best = f"{cells.signed(own.max())} ({board.titles[own.idxmax()]})" if len(own) else "not run"
        terms = re.split(r"[.;,(]\s|\s\(", spec["terms"])[0]
        shape = [str(spec[side]) for side in ("samples", "features", "classes")]
        family = printed_family(spec.get("family", name))
        rows.append([f"[{title}]({address(name)})", family, *shape, terms, best])
    return (
        f"# Data sets\n\n{len(names)} data sets. The last column is the method that gains most over random rankings, "
        f"chosen with the labels: what there is to gain.\n\n{pipes(rows)}\n"
    )
