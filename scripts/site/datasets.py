"""A page for every data set of conf/dataset: what it is, how methods rank on it, and what there is to gain."""

import base64
import io
import re

import numpy as np

from datasets import DataError, dataset_names, load_dataset
from metrics.study import ALL, RANDOM
from scripts.core.conf import CONF, find, printed, printed_family, unique_names
from scripts.core.text import pipes
from scripts.findings.plan import CONFIRMATORY, WEIGHTS, datasets_of
from scripts.site import cells
from scripts.site.board import SHOWN
from scripts.site.methods import addresses
from scripts.site.pages import layout

# What the terms of data begin with that allow pictures of them, with credit.
ALLOWING = ("CC BY", "MIT (")
TALL = 96  # pixels of a picture on the page


def address(name):
    """Return the path of the page of a data set on the site."""
    return f"data/{name}.html"


def dataset_page(name, board, places, data_dir=None):
    """Return the page of a data set as HTML; `places` gives the link to a page of the site."""
    spec = find("dataset", name)
    own = board.scores.xs(name, level="dataset") if name in board.scores.index.get_level_values("dataset") else None
    parts = [
        f"# {spec['paper_name']}",
        _about(name),
        _facts(name, spec, board, places),
        *picture(name, spec, data_dir),
        "## Get it",
        f"```\npython -m scripts.fetch_data {name}\npython run.py method=mcfs dataset={name}\n```",
    ]
    if own is None or own.index.isin([RANDOM, ALL]).all():
        parts += ["## Methods", f"`study={board.study.name}` has no method on it yet."]
    else:
        parts += _room(own, board)
        parts += _ranking(name, own, board, places)
    return layout(spec["paper_name"], "\n\n".join(filter(None, parts)) + "\n", address(name))


def _about(name):
    """Return the comment that a file of conf/dataset begins with."""
    lines = (CONF / "dataset" / f"{name}.yaml").read_text(encoding="utf-8").split("\nname:")[0].splitlines()
    return " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))


def _facts(name, spec, board, places):
    image = spec["image"]
    shape = f", images of {image['height']} x {image['width']} pixels" if image else ""
    part = "confirmatory" if name in datasets_of(CONFIRMATORY) else board.parts.get(name)
    same = spec.get("same_source_as")
    sources = [
        f"[{url.split('/')[2]}]({url})" for source in spec["sources"] for url in source.get("urls", [])[:1]
    ]  # the others are copies
    lines = [
        f"* {spec['samples']} samples, {spec['features']} features, {spec['classes']} classes{shape}",
        f"* Family: {spec.get('family', name).replace('_', ' ')}",
        f"* From: {spec['citation']}; {spec['origin']}"
        + (f" ({', '.join(dict.fromkeys(sources))})" if sources else ""),
        f"* Terms: {spec['terms']}",
        *([f"* Of the same source as [{printed('dataset', same)}]({places(address(same))})"] if same else []),
        *([f"* Part of the [plan]({places('docs/plan.html')}): {part}"] if part else []),
        f"* `dataset={name}`",
    ]
    return "\n".join(lines)


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
    from PIL import Image  # here, as only pages on images need it

    faces = [data.image(np.asarray(data.X[data.y == label].mean(axis=0)).ravel()) for label in np.unique(data.y)]
    low, high = min(face.min() for face in faces), max(face.max() for face in faces)
    row = np.hstack([np.pad(255 * (face - low) / max(high - low, 1e-300), 1) for face in faces])
    file = io.BytesIO()
    Image.fromarray(row.round().astype(np.uint8)).quantize(16).save(file, "PNG", optimize=True)
    source = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    height, width = row.shape
    return f'<img class="pixels" src="{source}" width="{width}" height="{height}" alt="Means of {len(faces)} classes">'


def _room(own, board):
    """Return the scores of random rankings, of all features, and of the method that is best at each size."""
    chosen = own.loc[[name for name in own.index if name in board.choice.methods]]
    parts = ["## Room for selection"]
    for score, title in SHOWN.items():
        sizes = [
            size
            for size in WEIGHTS
            if (RANDOM in own.index and own.loc[RANDOM, (score, size)] == own.loc[RANDOM, (score, size)])
        ]
        best = chosen[score].reindex(columns=sizes)
        if best.isna().all(axis=None):
            continue
        winners = best.idxmax()
        named = {
            "Random rankings": own.loc[RANDOM, score].reindex(sizes),
            "All features": _of_all(own, score, sizes),
            "Best method": best.max(),
        }
        series = [(label, list(values)) for label, values in named.items() if values is not None]
        parts += [f"**{title}**", cells.lines(series, sizes, f"{title} over the number of features")]
        head = [f"{title} in percent", *(f"#{size}" for size in sizes)]
        rows = [[label, *map(cells.value, values)] for label, values in series]
        rows.append(["which is", *(cells.text(board.titles[winners[size]]) for size in sizes)])
        parts.append(cells.table(head, rows, "small"))
        if score == "acc":
            parts.append(
                "The best is chosen with the labels, which flatters it: a user without labels does not know it."
            )
    return parts


def _of_all(own, score, sizes):
    return own.loc[ALL, score].reindex(sizes) if ALL in own.index else None


def _ranking(name, own, board, places):
    rows = []
    found = board.overall.xs(name, level="dataset").drop(index=[RANDOM], errors="ignore")
    for method, gains in found.dropna(how="all").sort_values("acc", ascending=False).iterrows():
        words = cells.link(places(addresses()[method]), board.titles[method]) if method in addresses() else method
        rows.append(
            [
                words,
                *(cells.gain(value, whole=True) for value in gains),
                *(cells.value(value) for value in own.loc[method, "acc"].reindex(list(WEIGHTS))),
                cells.value(board.seconds.get((name, method), float("nan")), "{:.2g}"),
                cells.text(board.kinds[method]),
            ]
        )
    head = [
        "Method",
        *(f"#Gain in {title}" for title in SHOWN.values()),
        *(f"#ACC {size}" for size in WEIGHTS),
        "#Seconds",
        "Kind",
    ]
    fits = board.study.trials
    fits = fits[(fits["dataset"] == name) & fits["is_default"]]
    lacking = sorted(set(fits["method"]) - set(found.dropna(how="all").index) - {RANDOM})
    ended = fits.drop_duplicates("method").set_index("method")["status"]
    texts = [f"{board.titles[method]} ({ended[method].replace('_', ' ')})" for method in lacking]
    return [
        "## Methods on it",
        "Gains over random rankings, in points: default parameters, the weighted mean over sizes, "
        f"`study={board.study.name}`.",
        cells.table(head, rows, "data board"),
        f"Without scores at every size: {', '.join(texts)}." if texts else "",
    ]


def index(board, places):
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
        rows.append([f"[{title}]({places(address(name))})", family, *shape, terms, best])
    return (
        f"# Data sets\n\n{len(names)} data sets. The last column is the method that gains most over random rankings, "
        f"chosen with the labels: what there is to gain.\n\n{pipes(rows)}\n"
    )
