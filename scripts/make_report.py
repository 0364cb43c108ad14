"""A study as one HTML file that opens from disk: ``python -m scripts.make_report --help``."""

import base64
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ufs_bench.metrics.study import ALL, METRICS, RANDOM, UNSCORED
from ufs_bench.metrics.study.families import family_means, t_intervals
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.runners.messages import counted, duration
from ufs_bench.runners.place import place_of
from ufs_bench.scripts.cite import sources
from ufs_bench.scripts.core.command_lines import MissingResults
from ufs_bench.scripts.core.conf import family_of, unique_names
from ufs_bench.scripts.core.controls import names_of, with_mean_of_draws
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.papers import OF_TABLES, PAPERS, load_published, paper_tables
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import number, render, signed, spread, write
from ufs_bench.scripts.make_figure.curves import acc_vs_size
from ufs_bench.scripts.make_figure.style import as_svg
from ufs_bench.scripts.make_table import make_table
from ufs_bench.scripts.make_table.formats import Style, to_frame

HTML = Style("<b>{}</b>", "<u>{}</u>", mark="<sup>{}</sup>")
MOST = 30  # fits without scores that are listed
CONTROLS = (RANDOM, ALL)
ENOUGH = 6  # families; with fewer, the intervals are over data sets
DRAWN = 6  # data sets that are drawn; the command draws the others


def make_report(study, selection="best_over_grid"):
    """Return the page of a study; a ValueError is about nothing stored, or several protocols."""
    trials = study.filled().trials
    names = {group: unique_names(group, sorted(trials[group].unique())) for group in ("method", "dataset")}
    paper = _paper_of(study)
    printed = sorted(paper_tables(paper), key=lambda spec: OF_TABLES.index(spec.metric)) if paper else []
    failed = trials[trials["status"].isin(UNSCORED)].sort_values(["method", "dataset"], kind="stable")
    return render(
        "make_report.html.j2",
        study=study.own_name,
        place="".join(f" {shlex.quote(word)}" for word in place_of(study.results_dir)),
        paper=PAPERS.get(paper),
        selection=selection,
        rule=SELECTIONS[selection],
        counts=[counted(len(names["method"]), "method"), counted(len(names["dataset"]), "data set"),
                counted(len(trials), "fit")],
        hours=duration(trials["fit_s"].sum()),
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


def chosen(study, metric, selection):
    """Return the chosen scores of K-means in percent, random rankings with the mean of their draws."""
    return of_kmeans(with_mean_of_draws(study.select(metric, selection), study, metric, selection))


def standings(study, metric, selection):
    """Return a dict on one score: the sentence on who is best, and a row a method; None without any score."""
    means = chosen(study, metric, selection).pivot(index="dataset", columns="method", values="mean")
    means = means.dropna(axis=1, how="all").dropna(how="all")
    methods = [name for name in means if name not in CONTROLS]
    if not methods:
        return None
    reference = next((name for name in CONTROLS if name in means), None)
    names = names_of(means.columns, selection)
    over = names[reference] if reference else "the mean of all methods"
    gains = means[methods].sub(means[reference] if reference else means[methods].mean(axis=1), axis=0).dropna(how="all")
    families = [family_of(dataset) for dataset in gains.index]
    by_family = len(set(families)) >= ENOUGH
    units = family_means(gains, families) if by_family else gains.to_numpy()
    intervals = dict(zip(methods, np.transpose(t_intervals(units)), strict=True))
    firsts = means[methods].eq(means[methods].max(axis=1), axis=0).sum()
    known = gains.notna().sum()
    order = sorted(methods, key=lambda name: (known[name] < len(gains), -intervals[name][0]))
    rows = [
        {
            "title": names[name], "mean": number(means[name].mean(), 1), "gain": signed(intervals[name][0]),
            "interval": "" if np.isnan(intervals[name][1]) else " to ".join(map(signed, intervals[name][1:])),
            "firsts": int(firsts[name]), "n": int(known[name]),
        }
        for name in order
    ]  # fmt: skip
    unit = "families of data" if by_family else "data sets"
    return {"title": METRICS[metric], "over": over, "rows": rows, "n": len(gains), "unit": unit,
            "sentence": _sentence(rows, METRICS[metric], over, len(gains))}  # fmt: skip


def _sentence(rows, title, over, n):
    """Say which method gains most, and which is first most often."""
    best, most = rows[0], max(rows, key=lambda row: row["firsts"])
    within = f" (95 % interval {best['interval']})" if best["interval"] else ""
    where = "on the only data set" if n == 1 else f"over {n} data sets"
    text = f"{best['title']} has the highest mean gain in {title} {where}: {best['gain']} points over {over}{within}."
    text += " This interval includes zero." if best["interval"].startswith(("-", "0.0")) else ""
    if n > 1:
        first = "It" if most is best else most["title"]
        text += f" {first} is first most often: on {most['firsts']} of {n}."
    return text


def by_dataset(study, selection):
    """Return a row a data set: its name, then the best and the second method in ACC and NMI with their scores."""
    rows, methods = {}, unique_names("method", study.trials["method"].unique())
    for metric in ("acc", "nmi"):
        own = chosen(study, metric, selection).dropna(subset="mean")
        for dataset, cells in own[~own["method"].isin(CONTROLS)].groupby("dataset"):
            cells = cells.sort_values("mean", ascending=False, kind="stable").head(2)
            texts = [f"{methods[row.method]} {row.mean:.1f}{spread(row.std, ' ± ')}" for row in cells.itertuples()]
            rows.setdefault(dataset, []).extend([*texts, ""][:2])
    titles = unique_names("dataset", rows)
    return sorted(([titles[name], *texts] for name, texts in rows.items()), key=lambda row: row[0].lower())


def figures(study, selection):
    """Draw ACC over the number of features on the first data sets; return them with notes on what is not shown."""
    shown, notes, titles = [], [], unique_names("dataset", sorted(study.summary["dataset"].unique()))
    for dataset in list(titles)[:DRAWN]:
        try:
            figure = acc_vs_size(study, dataset, selection=selection)
        except MissingResults as error:
            notes.append(f"Not drawn: {error}")
            continue
        caption = (
            f"{titles[dataset]}: accuracy of K-means in percent on the features that each method selects, over their "
            f"number. Parameters: {SELECTIONS[selection]}."
        )
        source = f"data:image/svg+xml;base64,{base64.b64encode(as_svg(figure).encode()).decode()}"
        shown.append({"caption": caption, "source": source})
    if len(titles) > DRAWN:
        notes.append(f"These are the first {DRAWN} of {len(titles)} data sets; scripts.make_figure draws the others.")
    return {"shown": shown, "notes": notes}


@command("make_report")
def main(options):
    """Write the report that the options describe."""
    study = Study.find(options["results_dir"], options["study"])
    path = Path(options["output"] or study.output_dir / "report.html")
    write(make_report(study, options["selection"]), path)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
