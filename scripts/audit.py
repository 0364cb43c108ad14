"""The audit of a study, with all that its scores do not show: ``python -m scripts.audit --help``."""

from dataclasses import dataclass

import pandas as pd

from ufs_bench.datasets import scale
from ufs_bench.metrics.protocol import Protocol
from ufs_bench.metrics.study import METRICS, POOR, audit, is_learned, nearest_size
from ufs_bench.metrics.study.frames import percent
from ufs_bench.metrics.study.scored import scored
from ufs_bench.metrics.study.selections import BY_NAME
from ufs_bench.metrics.study.sets import distinct_sets
from ufs_bench.metrics.study.summary import SELECTIONS
from ufs_bench.scripts.core.conf import read_group
from ufs_bench.scripts.core.data import data_of
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver, pipes
from ufs_bench.scripts.core.views import wrapped

USED = "dataset method trial params n_selected features protocol data_sha".split()  # columns that overlaps need


@dataclass(frozen=True)
class Audit:
    """The tables of `make_audit`."""

    tables: dict  # title -> DataFrame, which is empty where there is nothing to say
    notes: list  # the parts that could not be audited, and why


def make_audit(study, metric="acc"):
    """Return the `Audit` of a study's results; overlaps need its data, and nothing is downloaded.

    A ValueError says that nothing is stored under that name, or that the study mixes protocols.
    """
    whole = study.filled().whole
    trials = study.trials
    notes, overlaps, n_features = [], [], {}
    for dataset, rows in whole[USED].groupby("dataset"):  # all columns would be copied for every cell
        data, reason = data_of(rows, study.data_dir)
        if data is None:
            notes.append(f"No overlaps on {dataset}: {reason}")
            continue
        n_features[dataset], rankings = data.n_features, {}
        for method, cell in rows.groupby("method"):
            protocol = Protocol.from_json(cell["protocol"].iloc[0])
            scaling = protocol.scaling_of(method)
            if scaling not in rankings:
                rankings[scaling] = audit.trivial_rankings(scale(data.X, scaling))
            found = audit.trivial_overlaps(cell, rankings[scaling])
            if len(found):  # a cell may have no selection: no fit came to an end
                overlaps.append(found.assign(dataset=dataset, method=method))
    columns = "dataset method ranking n_selected is_start chance median low high".split()
    tables = {
        "distinct": distinct_sets(study.summary),
        "parameters": audit.parameter_effects(whole, n_features),
        "overlaps": pd.concat(overlaps, ignore_index=True)[columns] if overlaps else pd.DataFrame(columns=columns),
        "outcomes": audit.outcomes(trials),
        "movements": audit.movements(trials),
        "starts": audit.starts(trials),
        "scored": scored(trials),
        "choices": audit.choices({name: study.select(metric, name) for name in SELECTIONS}),
        "evaluators": percent(audit.evaluators(study.shares)),
        "gaps": audit.objective_gaps(trials, _optima()),
    }
    return Audit(tables, notes)


def _optima():
    files = read_group("method").values()
    return {content["name"]: content["optimum"] for content in files if "optimum" in content}


# An overlap of at least so much, corrected for chance, means that two rankings select the same features.
SAME = 0.9
HARDLY = 0.2  # share of the steps along a parameter
OFTEN = 0.5  # share of the fits
TRIVIAL = ("max_variance", "min_variance", "min_norm", "first_index", "all_features", "spectral_labels")
CELL = ["dataset", "method"]
MOST = 10  # rows of a table of a page that is not full
SHARES = ("outcomes", "overlaps")  # tables of shares, and columns of others
OF_SHARES = ("shared", "chance", "held")


def stands_out(name, frame):
    """Return True for the rows of a table of an audit, called `name`, that a reader should look at."""
    if frame.empty:
        return pd.Series(dtype=bool, index=frame.index)
    return TABLES[name][2](frame)


def _repeated(rows):
    largest = rows.groupby(CELL)[["n_points", "n_distinct"]].transform("max")
    return (largest["n_points"] > 1) & (largest["n_distinct"] == 1)


def _inert(rows):
    return (rows["n_changed"] <= HARDLY * rows["n_steps"]) | (_beyond(rows["shared"], rows["chance"]) >= SAME)


def _trivial(rows):
    """Find overlaps with trivial rankings; a control that is one itself, such as max_variance, is left out by name."""
    return ~rows["method"].isin(TRIVIAL) & (rows["chance"] < SAME) & (_beyond(rows["median"], rows["chance"]) >= SAME)


def _ends(rows):
    ended = rows[[*POOR, "failed", "timeout", "out_of_memory"]].sum(axis=1) > 0
    return ended | (rows["max_iter"] >= OFTEN) | (rows["rose"] > 0)


def _hollow(rows):
    return ~is_learned(rows) & rows["oracle_status"].isin(POOR)


def _winners(rows):
    """Find other metrics whose best method, or all equally good ones, are not best by ACC."""
    pairs = zip(rows["winner"], rows["winner_acc"], strict=True)
    return pd.Series([set(own).isdisjoint(by_acc) for own, by_acc in pairs], rows.index)


def _beyond(share, chance):
    """Return a share corrected for chance; 0 where chance alone has all."""
    return ((share - chance) / (1 - chance)).where(chance < 1, 0.0)


def _all(rows):
    return pd.Series(True, rows.index)


# The tables of an audit: title, what the table says, and the rows that stand out.
TABLES = {
    "distinct": ("Distinct feature sets", """
        How many different sets the points of a grid give, for every size; methods without a grid are left out.
        """, _repeated),
    "parameters": ("Parameters", """
        Steps between neighbouring values of one parameter, all others fixed, that change the selected set (at 0 a
        parameter is inert), the share of features that neighbouring sets have in common, and the share for random sets.
        """, _inert),
    "overlaps": ("Overlap with trivial rankings", """
        Share of the selected features that a trivial ranking could have kept (ties free), median over the trials, at
        the size nearest to 100, and what random features would have. Part start: the first features, as many as there
        are clusters, with which some programs start.
        """, _trivial),
    "outcomes": ("How the fits ended", """
        Shares of the trials. rose: the objective of a traced fit rose by more than 1e-10 of itself.
        """, _ends),
    "movements": ("How far the indicators move", """
        0 where the learned indicators end at their start, or at the clusters that it stands for; 1 where nothing of it
        is left. still: the share of the fits with 0.01 or less.
        """, lambda rows: rows["still"] >= OFTEN),
    "starts": ("What is left of random starts", """
        Share of the features of a random start that are selected in the end, median over the fits, and what two random
        sets of this size share. probability: the largest, over the fits, that chance keeps so many. held: the share of
        the fits that keep most of it, corrected for chance, where chance has less than 1 in 1000.
        """, lambda rows: rows["held"] >= OFTEN),
    "scored": ("Fewer scores than features asked for", """
        Features whose score is above a millionth of the largest, in fits that were asked for more: the order of the
        others is rounding, or the order of the file. short: the share of such fits.
        """, _all),
    "choices": ("Ways to choose parameters and size", """
        The same grid, in percent: oracle is chosen with the labels, the others without (python -m scripts.rank
        choices=true).
        """, _hollow),
    "evaluators": ("Other ways to judge a feature set", """
        The same feature sets, those at the default parameters and the size nearest to 100, judged by other metrics than
        ACC. tau: Kendall's rank correlation of the methods' order with that by ACC; loss: how many points of ACC the
        metric's winner has less than the best by ACC. Equally good winners all stand there, with =, and loss is their
        mean.
        """, _winners),
    "gaps": ("Distance to a known optimum", "gap: how far the objective ends above it, as a share of it.", _all),
}  # fmt: skip


def audit_page(found, study, metric="acc", full=False):
    """Return the audit of a study as a page of Markdown: the rows that stand out, at most `MOST` a table, or all."""
    parts, silent = [], []
    for name, (title, text, _) in TABLES.items():
        frame = found.tables[name]
        rows = compact(name, frame if full else frame[stands_out(name, frame)])
        if rows.empty and not full:
            silent.append(title)
            continue
        shown = rows if full else rows.head(MOST)
        table = pipes([list(map(str, shown.columns)), *shown.to_numpy().tolist()]) if len(rows) else "Nothing to show."
        more = [f"{len(rows) - len(shown)} more rows: full=true."] if len(rows) > len(shown) else []
        parts += [f"## {title}" + f" ({METRICS[metric]})" * (name == "choices"), wrapped(text), table, *more]
    head = "" if full else "Shown is what stands out; full=true prints all."
    head += f" Nothing stands out in: {', '.join(silent)}." if silent else ""
    said = "\n".join(f"* {note}" for note in found.notes)
    return "\n\n".join([f"# Audit of study {study}", *filter(None, [wrapped(head), said]), *parts]) + "\n"


def compact(name, frame):
    """Return a table of the audit, called `name`, in the columns and digits that are shown."""
    cells = ["dataset", "method"]
    if name == "distinct":
        frame = frame[frame.groupby(cells)["n_points"].transform("max") > 1]
        sets = [f"{row.n_distinct} of {row.n_points}" for row in frame.itertuples()]
        frame = frame.assign(sets=sets).pivot(index=cells, columns="n_selected", values="sets")
        frame = frame.fillna("").reset_index().rename_axis(columns=None)
    elif name == "overlaps" and len(frame):
        whole = frame[~frame["is_start"]]
        usual = whole["n_selected"] == whole.groupby(cells)["n_selected"].transform(nearest_size)
        frame = frame.drop(index=whole.index[~usual], columns=["low", "high"])
        frame = frame.assign(is_start=frame["is_start"].map({True: "start", False: ""}))
        frame = frame.rename(columns={"n_selected": "features", "is_start": "part", "median": "overlap"})
    elif name == "choices":
        columns = {name: choice.column for name, choice in BY_NAME.items()} | {"oracle_status": "oracle's fit"}
        frame = frame.rename(columns=columns)
    return frame.apply(lambda column: column.map(lambda value: _text(name, column.name, value)))


def _text(table, column, value):
    if isinstance(value, tuple):
        return " = ".join(value)  # equally good methods
    if not isinstance(value, float):
        return str(value)
    if pd.isna(value):
        return ""
    if table == "choices" or column == "loss":
        return f"{value:.1f}"
    if table in SHARES or column in OF_SHARES:
        return f"{value:.0%}"
    if column == "gap":
        return f"{100 * value:.3f} %"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:.6g}"


@command("audit")
def main(options):
    """Print the audit that the options describe, or write it to a file."""
    study = Study.find(options["results_dir"], options["study"], options["data_dir"])
    found = make_audit(study, options["metric"])
    deliver(audit_page(found, study.title, options["metric"], options["full"]), options["output"])


if __name__ == "__main__":
    main()
