"""docs/findings.md and the part of the README that is printed: the sentences are computed, as their numbers are."""

from textwrap import fill

from scripts.compare.controls import ALL
from scripts.core.conf import printed, unique_names
from scripts.core.text import listed, pipes, span
from scripts.findings import corrected, recent, search, twins, winners
from scripts.ranks.page import OVER, POINTS, above, below, by_family, gain_notes, gains_table, signed, with_interval
from scripts.versus import ALPHA, least_p

FAR = -20.0  # points: one data set on which a method loses so many decides its mean
FEW = 6  # families: with fewer, intervals over families are wide
BEST = 5  # methods in the table of the README

HEAD = """# What is found so far

Which methods choose features that cluster better than features drawn at random, for a user who has no labels?
`python -m scripts.findings` prints this page, its figure and the same part of the README from the shipped study
`{study}`: sentences and numbers alike are computed, none is typed."""


def page(study, settings):
    """Return docs/findings.md."""
    field = settings[0].field
    parts = [
        HEAD.format(study=study),
        *(
            fill(f"{number}. {text}", 120, subsequent_indent=" " * len(f"{number}. "))
            for number, text in enumerate(sentences(settings), 1)
        ),
        "![Gains in accuracy over random rankings](findings.svg)",
        "## The data",
        fill(f"{len(field.families)} data sets: {by_family(field.families)}.", 120, break_on_hyphens=False),
        *(fill(text, 120, break_on_hyphens=False) for text in _smaller(settings)),
    ]
    for one in settings:
        command = f"python -m scripts.ranks study={study} selection={one.selection} partial=true"
        if one.gaps:  # a rank needs every cell
            command += f" methods=[{','.join(sorted(one.methods.index))}]"
        parts += [f"## Default parameters, {one.size} features", f"```\n{command}\n```"]
        parts += [f"Gain in ACC over {OVER[one.random.reference]}, in points:", gains_table(one.random, one.names)]
    found = settings[0].search
    if len(found):
        lacking = settings[0].methods.index.difference(found.index)
        parts += search.sections(found, [settings[0].names[name] for name in lacking])
    parts += recent.sections(settings)
    notes = "\n".join(fill(line, 120, subsequent_indent="  ") for line in gain_notes(field, [settings[0].random]))
    return "\n\n".join([*parts, "## How to read it", notes, END]) + "\n"


END = """[reading.md](reading.md#gains-and-ranks) says more. To put your own method beside these, run
`python -m scripts.versus method=mine` ([own_method.md](own_method.md#compare-it-with-all-others))."""


def sentences(settings):
    """Return the findings, a text each."""
    texts = [_beside_random(one) for one in settings] + [_beside_all(one) for one in settings]
    texts += [_together(settings), _unnoticed(settings), _advice(settings)]
    texts += [recent.sentence(settings)] if any(len(one.recent) for one in settings) else []
    texts += [_of_variants(settings)] if any(len(one.variants) for one in settings) else []
    texts.append(_with_labels(settings))
    texts += [search.sentence(settings[0].search, settings[0].names)] if len(settings[0].search) else []
    texts += [text for text in (_alike(settings), _lone(settings[0]), _few(settings[0].field)) if text]
    several = any(one.gaps != settings[0].gaps for one in settings)
    for one in settings if several else settings[:1]:
        if one.gaps:
            where = f" with {one.size} features" if several else ""
            texts.append(f"Methods left out, as they lack a score on some data set{where}: {', '.join(one.gaps)}.")
    return texts


def readme(study, settings):
    """Return the part of the README: the finding, its figure, and a table of who gains."""
    first, names = settings[0], settings[0].names
    head = ["Method", *(f"Gain, {one.size} features" for one in settings), "Seconds a fit"]
    rows = [
        [
            names[name],
            *(with_interval(*one.random.table.loc[name, ["mean", "low", "high"]]) for one in settings),
            "" if name == ALL else f"{first.seconds[name]:.2g}",
        ]
        for name in [*first.methods.index[:BEST], ALL]
    ]
    texts = [_beside_random(first), _together(settings), _advice(settings), _few(first.field)]
    texts += [
        "![Gains in accuracy over random rankings](docs/findings.svg)",
        pipes([head, *rows]),
        f"Points of accuracy over random rankings, with 95 % intervals, of the {BEST} methods that gain most. "
        f"Seconds: the CPU time of one fit for {first.size} features, the median over the data sets. "
        f"`python -m scripts.findings` prints this part from `study={study}`.",
    ]
    return "\n\n".join(
        text if text[0] in "|!" else fill(text, 120, break_on_hyphens=False) for text in filter(None, texts)
    )


def paper(settings):
    """Return the part of paper/paper.md: what is found beside random rankings, and what remains of it."""
    texts = [_beside_random(one) for one in settings] + [_together(settings), _unnoticed(settings), _advice(settings)]
    return "\n\n".join(fill(text, 120, break_on_hyphens=False) for text in texts)


def _beside_random(one):
    table, names = one.methods, one.named
    gain, lose = above(table), below(table)
    undecided = len(table) - len(gain) - len(lose)
    parts = [
        f"**At their default parameters with {one.size} features, {undecided} of {len(table)} methods cannot be told "
        "from random rankings**: the 95 % interval of their gain in accuracy contains 0."
    ]
    parts.append(f"{names(gain)} gain{_s(gain)} {_span(table, gain)} points." if gain else "No method gains.")
    if lose:
        parts.append(f"{names(lose)} {'are' if len(lose) > 1 else 'is'} worse, by {_span(-table, lose)} points.")
    return " ".join(parts)


def _beside_all(one):
    table = one.whole.table.drop(index=one.whole.controls)
    best, gain = table.index[0], above(table)
    text = f"Against keeping all features, the best gain with {one.size} features is {table['mean'].iloc[0]:.1f} points"
    who = f"the interval lies above 0 for {one.named(gain)} only" if gain else "no interval lies above 0"
    return f"{text} ({one.names[best]}); {who}."


def _advice(settings):
    """Answer the question which method to use."""
    found = winners(settings)
    sizes = " and ".join(str(one.size) for one in settings)
    if not found:
        return f"**Which method should I use?** No method gains over random rankings at both sizes ({sizes})."
    fast = settings[0].seconds[found].idxmin()
    several = len(found) > 1
    who = listed([settings[0].names[name] for name in found], "or")
    text = (
        f"**Which method should I use?** Without labels, {who}: {'they gain' if several else 'it gains'} at both sizes"
    )
    speed = f", and of these {settings[0].names[fast]} is the fastest" if several else ""
    return f"{text} ({sizes} features){speed}."


def _together(settings):
    """Say what remains when all methods are tested at once."""
    parts = []
    for one in settings:
        p = corrected(one).sort_values(kind="stable")
        sure = [f"{one.names[name]} (p = {value:.3f})" for name, value in p.items() if value < ALPHA]
        least = f"none (least p = {p.iloc[0]:.2f}, {one.names[p.index[0]]})"
        parts.append(f"with {one.size} features ({len(p)} methods) {', '.join(sure) or least}")
    text = "All methods tested at once (signed-rank test over data sets, Holm's correction), these differ from random "
    return f"{text}rankings: {'; '.join(parts)}. {_of_families(settings[0].field, len(p))}"


def _of_families(field, n_methods):
    """Say whether families as the unit could show a gain of one of so many methods, by the least p that they allow."""
    n = len(set(field.families.values()))
    corrected_least = least_p(n, n_methods)
    could = "could" if corrected_least < ALPHA else "could not"
    return (
        f"A test over the {n} families {could} show a gain: the smallest p that {n} values allow is {least_p(n):.3f}, "
        f"and {corrected_least:.2f} after the correction."
    )


def _unnoticed(settings):
    """Say how large a gain may be and yet not be seen."""
    below = [(one.size, (one.methods["mean"] - one.methods["low"]).median()) for one in settings]
    reach = [f"{points:.1f} points ({size} features)" for size, points in below]
    return (
        f"Small gains go unnoticed here: half of the intervals reach more than {' and '.join(reach)} below their mean. "
        "A method that cannot be told from random rankings may still gain as much."
    )


def _of_variants(settings):
    """Say which variants gain, which count neither above nor in the tables."""
    parts = []
    for one in settings:
        table = one.variants.sort_values("mean", ascending=False, kind="stable")
        names = unique_names("method", list(table.index))
        gain = [f"{names[name]} by {table.loc[name, 'mean']:.{POINTS}f}" for name in above(table)]
        parts.append(f"with {one.size} features {listed(gain or ['none'])}")
    return (
        f"**Do variants gain?** Of {max(len(one.variants) for one in settings)} variants and released programs of the "
        f"methods above, which are not counted among them, these gain over random rankings: {'; '.join(parts)}."
    )


def _smaller(settings):
    """Say, in no or one text, on which data sets fewer features are selected than the title of a table says."""
    parts = []
    for one in settings:
        cells = one.field.cells
        own = cells[cells.index.isin(one.methods.index, level="method")]
        sizes = own["n_selected"].groupby("dataset").max().reindex(list(one.field.families))
        fewer = [f"{size:.0f} on {printed('dataset', name)}" for name, size in sizes[sizes < one.size].items()]
        parts += [f"{listed(fewer)} in place of {one.size}"] if fewer else []
    return [f"Where a data set has too few features for a size, fewer are selected: {'; '.join(parts)}."] * bool(parts)


def _with_labels(settings):
    """Say what a choice of the size by the labels would add, as the tables of papers have it."""
    own, by_chance = settings[0].labelled
    return (
        f"With the size chosen with the labels, as papers do, a method has {own:.1f} points more than with "
        f"{settings[0].size} features, on average; a random ranking has {by_chance:.1f} more. [choices.md](choices.md) "
        "says what choices without labels lose, and [reproduction.md](reproduction.md) whether a published order is "
        "preserved."
    )


def _alike(settings):
    found = twins(settings[-1])
    pairs = [
        f"{settings[-1].names[method]} has the same scores as {settings[-1].names[control]}"
        for method, control in found.items()
    ]
    what = "it selects the same features as that control, or features that cluster the same way"
    return f"{'; '.join(pairs)} on every data set: {what}." if pairs else ""


def _lone(one):
    """Name the methods whose mean hangs on one data set."""
    points = one.random.points
    found = [name for name in one.methods.index if points[name].min() < FAR]
    texts = [
        f"{one.names[name]} ({printed('dataset', points[name].idxmin())} {signed(points[name].min())})"
        for name in found
    ]
    return f"Some intervals are wide because of one data set: {', '.join(texts)}." if texts else ""


def _few(field):
    families = len(set(field.families.values()))
    if families >= FEW:
        return ""
    return (
        f"All this rests on {len(field.families)} data sets of {families} families. So few families make wide "
        "intervals: that a method cannot be told from random rankings does not mean that it is no better."
    )


def _span(table, names):
    return span(table.loc[names, "mean"], "{:.1f}")


def _s(names):
    return "" if len(names) > 1 else "s"
