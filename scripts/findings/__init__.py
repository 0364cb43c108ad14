"""The gains of the methods of a shipped study: ``python -m scripts.findings --help``.

Commands print tables; the sentences of docs/findings.md are written by hand, and tests/project/test_findings_page.py
compares their numbers with the frames that the tables are made of.
"""

from ufs_bench.runners.store.reference import PREFIX, shipped_studies
from ufs_bench.scripts.core.conf import printed, unique_names
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import with_interval
from ufs_bench.scripts.findings import predictions, sizes
from ufs_bench.scripts.findings.plan import LEVEL, SCORES, curves

STUDY = "reference/fair"
BESIDE = (*sizes.STUDIES.values(), predictions.SEARCHED)


def tables(study, plan):
    """Return the tables of an opened study and its `Estimates` by name, each a list of lines.

    Those of `STUDY` rest on further shipped studies, too.
    """
    shipped = BESIDE if study.name == STUDY and set(BESIDE) <= set(shipped_studies()) else ()
    others = {name: Study.open(study.results_dir, f"{PREFIX}{name}") for name in shipped}
    names = unique_names("method", study.trials["method"].unique())
    variants = sizes.with_variants(study, plan)
    found = {
        "gains": gain_lines(study, plan, variants, names),
        "sizes": sizes.size_lines(sizes.one_size_at_a_time(study, plan), names),
        "collapsed": sizes.collapsed_lines(sizes.collapsed(study, plan), variants, names),
        "missing": sizes.missing_lines(sizes.with_missing(study, plan), plan, names),
        "lacking": lacking_lines(plan, names),
    }
    if others:
        found["hypotheses"] = predictions.lines(study, plan, others[predictions.SEARCHED])
        by_number = {number: others[name] for number, name in sizes.STUDIES.items()}
        found["clusters"] = sizes.change_lines(sizes.changes(study, by_number, plan.families))
    return found


def gain_lines(study, plan, variants, names):
    """Return the lines of a table of all methods and variants, the largest gain in NMI first, and of all features.

    `variants` is a table of `sizes.with_variants`.
    """
    counts = curves(study).reindex(index=list(plan.families)).count().xs(SCORES[0], level="score")
    seconds = seconds_of(study, plan.families)
    rows = [["Method", "Data sets", *_for_each("Gain"), *_for_each("p"), *_for_each("p with variants"),
             "Families needed", "Seconds"]]  # fmt: skip
    for name in variants["mean"].xs(SCORES[1], level="score").sort_values(ascending=False).index:
        own, tested = variants.loc[name], name in plan.methods
        p = [_p(plan.table["p"].loc[name, score]) if tested else "" for score in SCORES]
        needs = plan.table["needs"].loc[name] if tested else {}
        rows.append([
            names[name] if tested else f"*{names[name]}*",
            str(counts[name]),
            *(with_interval(*own.loc[score, ["mean", "low", "high"]]) for score in SCORES),
            *p,
            *(_p(own.loc[score, "p"]) for score in SCORES),
            ", ".join(f"{len(own)} ({score.upper()})" for score, own in needs.items() if own),
            f"{seconds[name]:.2g}",
        ])  # fmt: skip
    whole = [with_interval(*plan.whole.loc[score]) for score in SCORES]
    return [*rows, ["All features (control)", str(len(plan.families)), *whole, *[""] * 6]]


def lacking_lines(plan, names):
    """Return the lines of a table of the data sets on which methods of the plan have no gain."""
    rows = [["Method", "A fit failed or was too long", "Not run, or refused by the method"]]
    for name in sorted({*plan.lacking, *plan.not_run}):
        parts = [plan.lacking.get(name, []), plan.not_run.get(name, [])]
        rows.append([names[name], *(", ".join(printed("dataset", one) for one in part) for part in parts)])
    return rows


def seconds_of(study, datasets):
    """Return the median over data sets of the CPU seconds of a fit for the most features, by method."""
    seconds = study.seconds
    return seconds[seconds.index.isin(datasets, level="dataset")].groupby("method").median()


def _for_each(what):
    return [f"{what}, {score.upper()}" for score in SCORES]


def _p(value):
    text = f"{value:.2g}"
    return f"**{text}**" if value <= LEVEL else text
