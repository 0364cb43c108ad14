"""Say which methods find the features of data of known truth: ``python -m scripts.ground_truth --help``."""

import functools
import hashlib
from math import comb

import numpy as np
import pandas as pd
from scipy.special import stdtr
from scipy.stats import binom

from ufs_bench.datasets import read_spec
from ufs_bench.datasets.synthetic import truth_of
from ufs_bench.datasets.truth import parts_of, truth_names
from ufs_bench.metrics.recovery import precision_recall, redundancy
from ufs_bench.metrics.study import UNSCORED
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.metrics.study.ranks import holm
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store import reference
from ufs_bench.scripts.core import refits
from ufs_bench.scripts.core.command_lines import of_experiment
from ufs_bench.scripts.core.entry import command
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import deliver, pipes, signed
from ufs_bench.scripts.rank.choice import is_control

ASKED = 10  # features, the size of conf/protocol/ground_truth.yaml, also where more are relevant
ENOUGH = 0.9  # relevance or diversity that has a star
SHARE, SEEDS = 0.8, 5  # of the seeds must reach it, and so many there must be
LEVEL = 0.05  # of the chance that one method or more is said to differ from a control, where none does
HEAD = ["Method", "Relevance", "Over max_variance", "Chance"]
COLUMNS = [
    "family", "difficulty", "signal", "seed", "method", "control", "status", "size", "share", "chance",
    "recall", "precision", "redundancy", "fit_s", "day",
]  # fmt: skip


def recovered(study):
    """Return what every fit of a study finds, at the default parameters of its method, in the columns `COLUMNS`.

    There is a row per data set of known truth and method.  The size is the true number of relevant groups of
    interchangeable features, at most `ASKED`.  The measures at this size are from `metrics.recovery`, nan for a failed
    fit; recall is of as many groups as so many features can find.  share and chance are the expected precision and
    recall of a random ranking.  A shipped study has `further_rows`, too.  A ValueError is about results on other data
    than those that are made now, and about a study in which that size is not stored.
    """
    known, sets = set(truth_names()), of_kmeans(study.whole)
    sets = sets[sets["dataset"].isin(known) & sets["is_default"]]
    sets = pd.concat([sets.assign(day=sets["started"].str[:10]), further_rows(study)])
    sets = sets[sets["method"] != "all_features"]
    controls = {method: is_control(method) for method in sets["method"].unique()}
    rows = []
    for row in sets.itertuples():
        spec, truth = _data(row.dataset)
        if row.data_sha != spec["data_sha256"]:
            raise ValueError(
                f"the results of {row.method} on {row.dataset} are on other data: their SHA-256 is {row.data_sha}, now "
                f"{spec['data_sha256']}. Run them again: python run.py experiment=ground_truth."
            )
        size = min(len(truth.groups), ASKED)
        if row.n_selected != size:
            continue  # where the size is part of the model, this is the fit at another one
        family, difficulty, seed = parts_of(row.dataset)
        signal = spec["sources"][0]["options"]["signal"]
        measures = (float("nan"),) * 3
        if row.status not in UNSCORED:
            ranking, copies = row.features, [group for group in truth.groups if len(group) > 1]
            precision, recall = precision_recall(ranking, truth.relevant, size, copies)
            recall = round(recall * len(truth.groups)) / size  # of those that can be found
            measures = recall, precision, redundancy(ranking, copies)
        rows.append((
            family, difficulty, signal, seed, row.method, controls[row.method], row.status, size,
            len(truth.relevant) / spec["features"], chance(spec["features"], truth.groups, size), *measures,
            row.fit_s, row.day,
        ))  # fmt: skip
    if len(sets) and not rows:
        raise ValueError("no stored fit has the true number of features among its sizes: 'protocol.sizes=[10]' has.")
    return pd.DataFrame(rows, columns=COLUMNS)


def chance(n_features, groups, size):
    """Return the expected share of groups that a random set of so many features has a member of.

    The share is of as many groups as so many features can find.
    """
    some = [1 - comb(n_features - len(group), size) / comb(n_features, size) for group in groups]
    return sum(some) / min(len(some), size)


def found(rows):
    """Return the measures of `recovered` by method, family and difficulty.

    They are recall, chance, precision, share and redundancy: means over the seeds, in which a failed fit finds nothing;
    seeds is their number.  relevant and diverse are true where a share of `SHARE` of at least `SEEDS` seeds have a
    precision and a recall of `ENOUGH`.
    """
    measures = ["recall", "chance", "precision", "share", "redundancy"]
    rows = rows.fillna({"recall": 0, "precision": 0})
    rows = rows.assign(relevant=rows["precision"] >= ENOUGH, diverse=rows["recall"] >= ENOUGH)
    groups = rows.groupby(["method", "family", "difficulty"])
    means = groups[measures].mean().assign(seeds=groups["seed"].nunique())
    enough = means["seeds"] >= SEEDS
    return means.assign(**{star: enough & (groups[star].mean() >= SHARE) for star in ("relevant", "diverse")})


def differences(rows, control):
    """Return by method how its relevance in the rows of `recovered` differs from a control's, on the same data.

    A seed has one value: the mean over the families and difficulties that both have, in which a failed fit finds
    nothing; a seed that lacks one of these is left out.  The data of every family, difficulty and seed are drawn by
    themselves, so that these values are independent.  mean is theirs, seeds their number, and p Student's, two-sided,
    corrected by Holm's steps for all methods: a statement on new seeds of these families.  It is 1 of a method that
    selects as many as the control everywhere, and nan of a single seed.
    """
    precision = rows.fillna({"precision": 0}).set_index(["seed", "family", "difficulty", "method"])["precision"]
    wide = precision.unstack("method")
    found = {}
    for method in wide.columns.drop(control):
        each = (wide[method] - wide[control]).unstack(["family", "difficulty"]).dropna(axis=1, how="all").dropna()
        values = each.mean(axis=1)
        mean, error, count = values.mean(), values.sem(), len(values)
        t = abs(mean) / max(error, np.finfo(float).tiny)  # nan of a single seed
        found[method] = mean, count, 2 * stdtr(count - 1, -t) if values.any() else 1.0
    table = pd.DataFrame(found.values(), pd.Index(found, name="method"), ["mean", "seeds", "p"])
    return table.assign(p=holm(table["p"]))


def beyond_chance(rows):
    """Return by method p of its selecting no more relevant features than chance, in one family or more.

    It is of the rows of `recovered` at the easiest difficulty: the chance that as many features drawn at random, with
    replacement, have as many relevant ones or more over the seeds, the largest of the families, corrected by Holm's
    steps for all methods.  A failed fit finds nothing.
    """
    easy = rows[rows["difficulty"] == 1].fillna({"precision": 0})
    easy = easy.assign(hits=(easy["precision"] * easy["size"]).round())
    sums = easy.groupby(["method", "family"]).agg({"hits": "sum", "size": "sum", "share": "first"})
    p = pd.Series(binom.sf(sums["hits"] - 1, sums["size"], sums["share"]), sums.index)
    return holm(p.groupby("method").max())


@functools.cache
def _data(name):
    spec = read_spec(name)
    return spec, truth_of(**spec["sources"][0]["options"])


def truth_table(rows):
    """Return the rows of `recovered` as a table in Markdown, a line for each method, which `truth_frame` has."""
    table = truth_frame(rows)
    lines = [[*HEAD, *table.columns[3:]]]
    for row in table.itertuples():
        method = f"*{row.Index}*" if is_control(row.Index) else row.Index
        lines.append([method, _text(row.relevance), row.over, row.chance, *row[4:]])
    return f"{pipes(lines)}\n"


def truth_frame(rows):
    """Return a row for each method, the one with the largest mean relevance first.

    relevance: its mean over all families and difficulties.  over: its gain over the features of largest variance, with
    ? where the test of `differences` cannot tell.  chance: "yes" where it is beyond it, by `beyond_chance`.  Then, by
    family, the relevance at the easiest difficulty, with * for a star; the last, of families with copies, diversity.
    """
    table = found(rows)
    means, easy = table.groupby("method")["precision"].mean(), table.xs(1, level="difficulty")
    methods = sorted(means.index, key=lambda method: (-means[method], method))
    frame = means.reindex(methods).to_frame("relevance")
    own = [method for method in methods if not is_control(method)]
    p = beyond_chance(rows[rows["method"].isin(own)])
    frame["over"] = _over_variance(rows, own).reindex(methods).fillna("")
    frame["chance"] = ["yes" if p.get(method, 1) <= LEVEL else "" for method in methods]
    for family in easy.index.unique("family"):
        frame[family] = _starred(easy.xs(family, level="family"), "precision", "relevant").reindex(methods).fillna("")
    copies = easy["redundancy"].groupby("family").max()
    for family in copies.index[copies > 0]:
        of_copies = easy.xs(family, level="family")
        frame[f"{family}: diversity"] = _starred(of_copies, "recall", "diverse").reindex(methods).fillna("")
    return frame


def _starred(own, measure, star):
    return own[measure].map(_text) + own[star].map({True: "*", False: ""})


def _over_variance(rows, own):
    """Return by method its gain over the features of largest variance as a text."""
    if "max_variance" not in set(rows["method"]):
        return beyond_chance(rows).iloc[:0].astype(str)
    table = differences(rows, "max_variance").reindex(own)
    marks = (table["p"] <= LEVEL).map({True: "", False: "?"})
    return table["mean"].map(lambda value: signed(value, 2).replace("0.", ".", 1)) + marks


def _text(value):
    return "" if np.isnan(value) else f"{value:.2f}".replace("0.", ".", 1)


def further_rows(study):
    """Return the further rows of a shipped study, with the columns that `recovered` reads; none of another study."""
    rows = refits.read(refits.folder_of(study) if study.is_shipped else None, refits.FURTHER)
    own = pd.DataFrame([_facts(name) for name in rows["dataset"]], rows.index, ["data", "family"])
    is_same = own["family"] == rows["family_sha"]
    return rows.assign(data_sha=own["data"].where(is_same, rows["family_sha"]))


@functools.cache
def _facts(dataset):
    """Return the SHA-256 of a data set, and a short digest for its family."""
    return read_spec(dataset)["data_sha256"], _family_sha(parts_of(dataset)[0])


@functools.cache
def _family_sha(family):
    own = [read_spec(name)["data_sha256"] for name in truth_names() if parts_of(name)[0] == family]
    return hashlib.sha256("".join(own).encode()).hexdigest()[:16]


def ship_further(study):
    """Pack the fits of a study on data sets that the shipped study of its name lacks; return their number by method.

    They are those at the default parameters on data of known truth, but for all features, which select nothing.  A
    StoreError names a method whose fits are of other code, packages, arithmetic or data than its shipped ones, or which
    has none.
    """
    whole = of_kmeans(study.whole)
    whole = whole[whole["is_default"] & whole["dataset"].isin(truth_names()) & (whole["method"] != "all_features")]
    packed = {}
    for method, rows in whole.groupby("method"):
        shipped = reference.read(study.own_name, [method], columns=("trial", "dataset", "identity"))
        rows = rows[~rows["dataset"].isin(shipped["dataset"])]
        if rows.empty:
            continue
        rows = rows.assign(identity=rows["trial"].map(refits.identity_names(rows)))
        if set(rows["identity"]) - set(refits.identity_names(shipped).values()):
            raise StoreError(f"{method} has no shipped fits in {study.own_name} of this code, packages and arithmetic.")
        for dataset, sha in rows[["dataset", "data_sha"]].itertuples(index=False):
            if sha != (own := _facts(dataset)[0]):
                raise StoreError(f"{method}: data_sha={sha} on {dataset} must be {own}, as in conf/truth.")
        rows = rows.assign(
            family_sha=[_facts(name)[1] for name in rows["dataset"]],
            day=rows["started"].str[:10],
            features=[None if own is None else own.astype(np.int16) for own in rows["features"]],
            fit_s=[float(f"{seconds:.2g}") for seconds in rows["fit_s"]],
        )
        packed[method] = rows
    if packed:
        refits.add(reference.SHIPPED / study.own_name, refits.FURTHER, pd.concat(packed.values()))
    return {method: len(rows) for method, rows in packed.items()}


@command("ground_truth")
def main(options):
    """Print what is found, or write it to a file."""
    study = Study.find(options["results_dir"], options["study"]).filled()
    rows = recovered(study)
    if rows.empty:
        raise ValueError(
            f"study={study.own_name} has no results on data of known truth: run {of_experiment('ground_truth', study)}"
        )
    text = truth_table(rows) if options["format"] == "md" else rows.to_csv(index=False)
    deliver(text, options["output"])


if __name__ == "__main__":
    main()
