"""docs/findings.md: the sentences are computed, as their numbers are."""

from ufs_bench.scripts.core.conf import family_of, printed, unique_names
from ufs_bench.scripts.core.text import POINTS, listed, with_interval
from ufs_bench.scripts.core.views import notes, render
from ufs_bench.scripts.findings import clusters, kinds, panels, plan, predictions, recent, sizes, twins
from ufs_bench.scripts.ranks.choice import base_methods
from ufs_bench.scripts.ranks.gains import above, below
from ufs_bench.scripts.ranks.ranks_page import OVER, by_family, gain_notes, gains_table

FAR = -20.0  # points: a method that loses more on some data set has a wide interval
BEST = 5  # methods in the table of gains where none gains


def page(study, settings, tables):
    """Return docs/findings.md, of a study by its name; `tables` are those of `looks`."""
    first, field = settings[0], settings[0].field
    return render(
        "findings/findings.md.j2",
        study=study,
        settings=settings,
        gains=gain_rows(settings) if first.plan else [],
        **tables,
        sentences=sentences(settings),
        plan=first.plan,
        predictions=first.predictions,
        rules=plan,
        by_clusters=first.clusters and clusters.lines(first.clusters),
        kinds=first.kinds,
        by_kind=first.kinds and kinds.lines(first.kinds),
        on_kinds=first.kinds and kinds.choosing(first.kinds),
        reach=panels.REACH,
        enough=plan.ENOUGH,
        families=field.families,
        by_family=by_family(field.families),
        smaller=[(one.size, fewer) for one in settings if (fewer := _smaller(one))],
        over=OVER,
        gains_table=gains_table,
        since=recent.SINCE,
        recent=[(one.size, recent.lines(one.recent)) for one in settings if len(one.recent)],
        lacking=recent.lacking(settings),
        gain_notes=gain_notes(field, [first.random]),
    )


def further(study):
    """Return a page on what the data sets of any study that no part of the plan has say of its hypotheses.

    A ValueError says that there are none, or too little of them.
    """
    own = plan.choice_of(study.filled())
    datasets, _ = plan.further(own.datasets)
    families = sorted({family_of(name) for name in datasets})
    if len(families) < plan.FEWEST:
        raise ValueError(
            f"{study.name} has data beyond the plan's of {len(families)} families ({', '.join(families) or 'none'}), "
            f"and of fewer than {plan.FEWEST} no p is {plan.LEVEL} or less: run more data, each with random rankings."
        )
    found = plan.estimates(study, plan.further)
    if found is None:
        raise ValueError(f"no method of {study.name} has scores at a size of {listed([*map(str, plan.WEIGHTS)])}.")
    return render(
        "findings/further.md.j2",
        study=study,
        found=found,
        lines=predictions.lines(study, found, study, found.families),
        beside=sorted(set(study.trials["dataset"]) - set(found.families)),
    )


def sentences(settings):
    """Return the findings, a text each."""
    several = any(one.gaps != settings[0].gaps for one in settings)
    return notes(
        "findings/sentences.md.j2",
        **_values(settings),
        recent=recent,
        gaining=_gaining,
        lacking_variants=_named({name for one in settings for name in one.lacking_variants}),
        twins=twins(settings[-1]),
        far=FAR,
        lone=[
            (name, points.idxmin(), points.min())
            for name, points in settings[0].random.points[settings[0].methods.index].items()
            if points.min() < FAR
        ],
        left_out=[
            (f" with {one.size} features" if several else "", one.gaps)
            for one in (settings if several else settings[:1])
            if one.gaps
        ],
    )


def gain_rows(settings):
    """Return the lines of a table of the methods that gain by the plan, or of the best means if none does."""
    first, names = settings[0], settings[0].names
    head = ["Method", *(f"Gain, {score.upper()}" for score in plan.SCORES)]
    head += [*(f"p, {score.upper()}" for score in plan.SCORES), "Seconds a fit"]
    found, parts = first.plan.table.unstack("score"), ("mean", "low", "high")
    partial = {*first.plan.lacking, *first.plan.not_run}
    gaining = first.plan.named(1).index.unique("method")
    ordered = found["mean", "acc"].sort_values(ascending=False).index
    rows = [
        [
            names.get(name, name) + ("‡" if name in partial else ""),
            *(with_interval(*(found.loc[name, (part, score)] for part in parts)) for score in plan.SCORES),
            *(f"{found.loc[name, ('p', score)]:.2g}" for score in plan.SCORES),
            f"{first.seconds[name]:.2g}",
        ]
        for name in (ordered[ordered.isin(gaining)] if len(gaining) else ordered[:BEST])
    ]
    return [head, *rows]


def looks(study, settings):
    """Return the tables of `scripts.findings.sizes`, by the names that the page gives them."""
    own = settings[0].plan
    variants = sizes.with_variants(study, own)
    names = unique_names("method", variants.index.unique("method"))
    return {
        "by_size": sizes.size_rows(sizes.one_size_at_a_time(study, own), names),
        "more_gain": sizes.variant_text(variants, own, names),
        "collapsed": sizes.collapsed_rows(study, own, variants, names),
        "missing": sizes.missing_rows(sizes.with_missing(study, own), own, names),
    }


def paper(settings):
    """Return the part of paper/paper.md: what is found beside random rankings, and what remains of it."""
    return render("findings/paper.md.j2", **_values(settings)).strip()


def _values(settings):
    """Return what the sentences are made of."""
    counted = () if settings[0].plan is None else settings[0].plan.table.index.unique("method")
    return {
        "absent": _named([name for name in base_methods() if name not in counted]),
        "settings": settings,
        "n_families": len(set(settings[0].field.families.values())),
        "named": settings[0].named,
        "above": above,
        "below": below,
        "plan": settings[0].plan,
        "clusters": settings[0].clusters,
        "names": settings[0].names,
        "outcomes": predictions.outcomes(settings[0].predictions),
        "with_interval": with_interval,
        "rules": plan,
    }


def _named(methods):
    """Return the printed names of methods, sorted."""
    return sorted(unique_names("method", list(methods)).values())


def _gaining(variants):
    """Return the variants whose interval lies above 0, each with its gain, the largest first; or "none"."""
    names = unique_names("method", list(variants.index))
    table = variants.sort_values("mean", ascending=False, kind="stable")
    return [f"{names[name]} by {table.loc[name, 'mean']:.{POINTS}f}" for name in above(table)] or ["none"]


def _smaller(one):
    """Return the data sets with fewer features than a size, each with how many are selected."""
    cells = one.field.cells
    sizes = cells[cells.index.isin(one.methods.index, level="method")]["n_selected"].groupby("dataset").max()
    sizes = sizes.reindex(list(one.field.families))
    return [f"{size:.0f} on {printed('dataset', name)}" for name, size in sizes[sizes < one.size].items()]
