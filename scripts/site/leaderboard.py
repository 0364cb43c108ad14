"""The page on which all methods stand."""

import json

from markupsafe import Markup

from runners.words import counted
from scripts.core.conf import unique_names
from scripts.core.views import render
from scripts.findings.plan import CONFIRMATORY, WEIGHTS, datasets_of
from scripts.site.board import ENOUGH, KINDS, LEVEL, SHOWN, numbers, packed
from scripts.site.cells import REACH, gain
from scripts.site.pages import framed


def leaderboard(board, links):
    """Return the page and its numbers as JSON; `links` gives the page of a method and of a data set."""
    found, rows = numbers(board), board.rows
    shown = [
        {
            **row,
            "place": place,
            "link": links("method", row["name"]),
            "seconds": f"{row['seconds']:.2g}" if row["seconds"] == row["seconds"] else "",
        }
        for place, row in enumerate(rows)
    ]
    n_families = len({one["family"] for one in found["datasets"] if one["name"] in board.tested})
    methods, datasets = (_linked(group, board.missing[group], links) for group in ("method", "dataset"))
    content = render(
        "site/leaderboard.html.j2",
        study=board.study.name,
        rows=shown,
        scores=SHOWN,
        kinds=KINDS,
        sizes=list(WEIGHTS),
        weights=list(WEIGHTS.values()),
        enough=min(ENOUGH, n_families),
        planned=len(datasets_of(CONFIRMATORY)),
        level=f"{LEVEL:g}",
        reach=REACH,
        n_datasets=len(board.tested),
        n_families=n_families,
        n_tested=0 if board.p is None else len(board.p),
        confirmatory=board.is_confirmatory,
        lacking=" and ".join(
            counted(len(found), words)
            for found, words in ((datasets, "planned data set"), (methods, "method"))
            if found
        ),
        lacking_methods=methods,
        lacking_datasets=datasets,
        gain=gain,
        numbers=_inline(packed(found) | {"reach": REACH}),
    )
    page = framed("Leaderboard", content, "leaderboard.html", ("site/curves.js", "site/board.js"))
    return page, json.dumps(found, separators=(",", ":"))


def _linked(group, names, links):
    return [(links(group, name), text) for name, text in unique_names(group, names).items()]


def _inline(content):
    """Return JSON that may stand in a page: no text in it can end the script."""
    return Markup(json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"))
