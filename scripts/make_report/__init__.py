"""A study as one HTML file that opens from disk: ``python -m scripts.make_report --help``."""

import shlex
from collections import Counter

from markupsafe import Markup

from ufs_bench.metrics.study import METRICS, UNSCORED
from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.runners.place import place_of
from ufs_bench.runners.words import counted, duration
from ufs_bench.scripts.cite import sources
from ufs_bench.scripts.core.conf import unique_names
from ufs_bench.scripts.core.published import PAPERS, load_published
from ufs_bench.scripts.core.tables import OF_TABLES, paper_tables
from ufs_bench.scripts.core.views import raw, render
from ufs_bench.scripts.make_report.best import by_dataset, standings
from ufs_bench.scripts.make_report.pictures import figures
from ufs_bench.scripts.make_table import make_table
from ufs_bench.scripts.make_table.formats import Style, to_frame

HTML = Style("<b>{}</b>", "<u>{}</u>", mark="<sup>{}</sup>")
MOST = 30  # fits without scores that are listed


def make_report(study, selection="best_over_grid"):
    """Return the page of a study; a ValueError is about nothing stored, or several protocols."""
    trials = study.filled().trials
    names = {group: unique_names(group, sorted(trials[group].unique())) for group in ("method", "dataset")}
    paper = _paper_of(study)
    printed = sorted(paper_tables(paper), key=lambda spec: OF_TABLES.index(spec.metric)) if paper else []
    failed = trials[trials["status"].isin(UNSCORED)].sort_values(["method", "dataset"], kind="stable")
    return render(
        "make_report/page.html.j2",
        study=study.own_name,
        place="".join(f" {shlex.quote(word)}" for word in place_of(study.results_dir)),
        paper=PAPERS.get(paper),
        selection=selection,
        rule=SELECTIONS[selection],
        counts=[counted(len(names["method"]), "method"), counted(len(names["dataset"]), "data set"),
                counted(len(trials), "fit")],
        hours=duration(trials["fit_s"].sum()),
        metrics={name: METRICS[name] for name in ("acc", "nmi")},
        standings=[found for metric in ("acc", "nmi") if (found := standings(study, metric, selection))],
        datasets=by_dataset(study, selection),
        tables=[(spec.title, *_lines(make_table(spec, study, selection))) for spec in printed],
        figures=figures(study, selection),
        statuses=Counter(trials["status"]).most_common(),
        lacking={(names["method"][method], names["dataset"][dataset]): n
                 for (dataset, method), n in study.lacking.items() if n},
        failed=failed.head(MOST).to_dict("records"),
        n_failed=len(failed),
        names=names,
        seconds=trials.groupby("method")["fit_s"].agg(["median", "max", "size"]).rename(index=names["method"]),
        protocol=study.protocol,
        code=Counter(trials["git_sha"]).most_common(),
        versions=Counter(trials["versions"]).most_common(),
        data=sorted(set(zip(trials["dataset"], trials["data_sha"], strict=True))),
        sources=sources(study),
        style=raw("make_report/page.css"),
    )  # fmt: skip


def _paper_of(study):
    """Return the paper that has the study's protocol and prints scores of one of its data sets; None without one."""
    name, published = study.protocol["name"], load_published()
    printed_on = published.loc[published["paper"] == name, "dataset"]
    return name if printed_on.isin(study.trials["dataset"]).any() else None


def _lines(table):
    """Return the head of a table and its lines: what the paper prints and, below it, ours."""
    found = to_frame(table, HTML).map(Markup)  # only numbers, words of ours, tags
    return [table.head, *found], list(found.reset_index().itertuples(index=False, name=None))
