"""Every number in a hand-written sentence of the findings is what the shipped results say."""

import pytest
from pages import WORDS, above, below, says, says_no_other_number

from ufs_bench.metrics.study import ALL
from ufs_bench.metrics.study.families import CONFIDENCE
from ufs_bench.scripts.core.conf import ROOT, find, printed
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.core.text import differing, signed
from ufs_bench.scripts.findings import STUDY, predictions, sizes
from ufs_bench.scripts.findings import __main__ as command
from ufs_bench.scripts.findings.plan import ENOUGH, LEVEL, SCORES, WEIGHTS
from ufs_bench.scripts.rank.choice import base_methods

PAGE = "docs/findings.md"
FIRST, *_, LAST = WEIGHTS


def named(methods):
    """Return printed names as one text: "A, B and C"."""
    *first, last = [printed("method", name) for name in methods]
    return f"{', '.join(first)} and {last}" if first else last


def small(p, decimals=2):
    """Return a p as the page writes it: .05."""
    return f"{p:.{decimals}f}".lstrip("0")


def points(value):
    return f"{abs(value):.1f}"


def test_the_tables_and_the_figure_are_what_the_command_writes(fair, plan):
    assert not differing(command.pages(fair, plan)), "run: python -m scripts.findings write=true"


def test_the_sentences_say_what_the_results_do(fair, plan, shipped):
    gain, lose = plan.named(1), plan.named(-1)
    nmi, acc = (gain["mean"].xs(score, level="score") for score in ("nmi", "acc"))
    gainers = list(gain.index.unique("method"))
    lost = {score: lose["mean"].xs(score, level="score") for score in SCORES}
    named_ones = {*gain.index.unique("method"), *lose.index.unique("method")}
    undecided, n_families = [name for name in plan.methods if name not in named_ones], len(plan.means)
    needs = gain["needs"].map(len).groupby("method").max()
    sure = [name for name in gainers if not needs[name]]
    assert set(sure) == {"jgufs", "jelsr", "fssl"} and list(acc.index) == ["fssl"] and set(nmi.index) == set(gainers)

    by_size = sizes.one_size_at_a_time(fair, plan)
    n_gainers = {size: len(sizes.signs_of(table)[0]) for size, table in by_size.items()}
    medians = {size: table["mean"].xs("nmi", level="score").median() for size, table in by_size.items()}
    assert n_gainers[LAST] == 0

    variants = sizes.with_variants(fair, plan)
    more, _ = sizes.signs_of(variants)
    more = {name: scores for name, scores in more.items() if name not in gainers}
    assert more.pop("socfs_triplet") == list(SCORES) and set(map(tuple, more.values())) == {("nmi",)}
    repaired = variants.loc["dgufs_normalized"]
    best = plan.table["mean"].groupby("score").max()
    assert (plan.whole["mean"] > best[plan.whole.index]).all()
    assert [name for name in variants.index.unique("method")
            if (variants["mean"][name] > plan.whole["mean"]).any()] == ["dgufs_normalized"]  # fmt: skip
    assert variants["mean"].groupby("score").idxmax().map(lambda one: one[0]).unique().tolist() == ["dgufs_normalized"]

    apart = [(above if sign > 0 else below)(plan.table) for sign in (1, -1)]
    both = [sorted(name for name in undecided if all((name, score) in own for score in SCORES)) for own in apart]
    widths = plan.table["high"] - plan.table["mean"]
    half = {score: widths.xs(score, level="score").median() for score in SCORES}
    reach = [(plan.table["high"].xs(score, level="score")[undecided] > half[score]).sum() for score in SCORES]
    absent = [name for name in base_methods() if name not in plan.methods]

    counts = sizes.collapsed(fair, plan)
    missing = sizes.with_missing(fair, plan)
    known = set(gainers), set(lost["nmi"].index)
    changed = {by: [set(now) ^ old for now, old in zip(own, known, strict=True)] for by, own in missing.items()}
    assert changed == {-10.0: [set(), {"ufsol"}], 0.0: [set(), set()], 10.0: [{"fsasl"}, set()]}

    rows = predictions.lines(fair, plan, shipped(predictions.SEARCHED))[1:]
    confirmed = sum(row[2].startswith(predictions.CONFIRMED) for row in rows)
    assert all(row[2].startswith("confirmed: none") for row in rows[-2:])
    learned = counts.loc["sf2sog"]
    gained = f"{points(nmi.min())} to {points(nmi.max())} points of NMI"
    lost_nmi = {name: points(gain) for name, gain in lost["nmi"].items()}
    low, zero, high = (signed(own, 0) for own in sizes.MISSING)
    says_no_other_number(
        PAGE,
        f"{len(undecided)} of {len(plan.methods)} methods cannot be distinguished from random rankings",
        f"{WORDS[len(gainers)].capitalize()} methods gain: JGUFS, JELSR, FSSL, MCFS and NDFS, by {gained}.",
        f"FSSL also gains {points(acc['fssl'])} points of accuracy.",
        f"{WORDS[len(lost_nmi)].capitalize()} methods lose: DGUFS {lost_nmi['dgufs']} points of NMI",
        f"and SF2SOG {lost_nmi['sf2sog']}.",
        f"{n_gainers[FIRST]} methods gain with {FIRST} features, none with {LAST}.",
        f"Keeping all features gains {points(plan.whole['mean']['nmi'])} points of NMI. No method has a larger mean",
        f"over sizes from {FIRST} to {LAST} features",
        f"the {len(plan.families)} data sets of {n_families} families",
        f"without one of about {needs['mcfs']} and {needs['ndfs']} of the {n_families} families",
        f"if its p is {small(LEVEL)} or less. This p is corrected for all {len(plan.methods)} methods and both",
        f"{sum(map(len, apart))} of {len(plan.table)} intervals exclude zero",
        f"only {len(gain) + len(lose)} gains and losses remain significant",
        f"{named(both[0])} have intervals above zero in both scores; {named(both[1])} have them below.",
        f"more than {points(half['acc'])} points of ACC and {points(half['nmi'])} of NMI to either side",
        f"the plan expected {expected()} of ACC",
        f"The intervals of {reach[0]} (ACC) and {reach[1]} (NMI) of the {len(undecided)} undecided",
        f"these gain too: SOCFS + triplet in both scores, and {named(sorted(more))} in NMI.",
        f"largest mean, with p = {small(repaired.loc['acc', 'p'], 3)} and {small(repaired.loc['nmi', 'p'], 3)}.",
        f"p is bold if it is {small(LEVEL)} or less",
        f"{named(absent)} has scores in fewer than {ENOUGH} families",
        f"With {FIRST} features the median gain is {points(medians[FIRST])} points of NMI",
        f"with {LAST} it is {points(medians[LAST])}.",
        f"A mean over fewer than {ENOUGH} families",
        f"learns nothing in {100 * counts['none']['dgufs'] / counts['total']['dgufs']:.0f} % of its fits.",
        f"All {sets_of_smallest_norm(fair):,} feature sets of DGUFS in the study are the features of smallest norm",
        f"these lose {lost_nmi['dgufs']} points of NMI.",
        f"never collapses and is at {signed(repaired.loc['nmi', 'mean'])}.",
        f"SF2SOG collapses in {counts['none']['sf2sog']} of {counts['total']['sf2sog']} fits.",
        f"where no fit collapsed, it loses {points(learned['mean'])}.",
        f"more than {100 * sizes.OFTEN:.0f} % of the fits learned nothing",
        f"took longer than {find('experiment', 'fair_half')['runner']['max_seconds']} seconds",
        f"were {low}, {zero} or {high} points, the {WORDS[len(gainers) + len(lost_nmi)]} verdicts would not change.",
        f"With {low} UFSOL would lose, with {high} FSASL would gain.",
        f"states {WORDS[len(rows)]} hypotheses",
        f"{confirmed} of {len(rows)} are confirmed.",
        f"if p is {small(LEVEL)} or less in the predicted direction",
        "Hypothesis 8 was not confirmed until its reference was changed after the results",
        f"In {len(rows)} the size cancels",
        f"the methods since {predictions.SINCE} in {len(rows) - 1}, and the choices in {len(rows)}.",
        *of_clusters(fair, plan, shipped),
    )
    says(
        "paper/paper.md",
        f"{len(undecided)} of {len(plan.methods)} methods cannot be distinguished from random rankings",
        f"over sizes from {FIRST} to {LAST} features. JGUFS, JELSR, FSSL, MCFS and NDFS gain {gained}",
        f"and FSSL also {points(acc['fssl'])} points of accuracy. DGUFS loses {lost_nmi['dgufs']} points of NMI",
        f"and SF2SOG {lost_nmi['sf2sog']}.",
        f"over {n_families} families of data.",
        f"{n_gainers[FIRST]} methods gain with {FIRST} features, and none with {LAST}.",
        f"half of the {100 * CONFIDENCE:.0f} % intervals reach more than {points(half['acc'])} points of accuracy",
        f"and {points(half['nmi'])} of NMI to either side",
        f"The {len(plan.families)} data sets are new",
        f"the {WORDS[len(rows)]} hypotheses that were written before, {confirmed} are confirmed.",
    )


def expected():
    """Return the half-width that the plan simulates."""
    row = next(line for line in prose_lines("docs/plan.md") if line.startswith("| new data: 35 sets"))
    return points(float(row.split("|")[-2]))


def prose_lines(page):
    return (ROOT / page).read_text(encoding="utf-8").splitlines()


def sets_of_smallest_norm(study):
    """Return the number of feature sets of DGUFS, all of which are those of the control."""
    own = study.whole[(study.whole["clusterer"] == "kmeans") & study.whole["is_default"]]
    norms = own[own["method"] == "min_norm"].set_index(["dataset", "n_selected"])["features"].map(frozenset)
    dgufs = own[own["method"] == "dgufs"].set_index(["dataset", "n_selected"])["features"].map(frozenset)
    assert (dgufs == norms.reindex(dgufs.index)).all()
    return len(dgufs)


def of_clusters(fair, plan, shipped):
    """Return the sentences on another number of clusters."""
    others = {number: shipped(name) for number, name in sizes.STUDIES.items()}
    found = sizes.changes(fair, others, plan.families)
    own = found.drop(index=ALL, level="method")
    gain, moved, nearer, kept = own["gain", "mean"], {}, {}, 0
    for number in sizes.OTHERS:
        change = own[number]
        moved[number] = sorted({*above(change), *below(change)})
        nearer[number] = all(abs(gain[one] + change["mean"][one]) < abs(gain[one]) for one in moved[number])
        kept += ((gain + change["mean"]) * gain > 0).sum()
    assert not moved["half"] and nearer["twice"]
    whole = found["half"].loc[(ALL, "acc")]
    return [
        f"{kept} of {2 * len(own)} gains keep their sign.",
        f"the {100 * CONFIDENCE:.0f} % interval of the change excludes zero for none of the {len(own)} gains.",
        f"All features lose {points(whole['mean'])} points of ACC ({points(whole['high'])} to {points(whole['low'])}).",
        f"With twice as many, {len(moved['twice'])} of {len(own)} intervals exclude zero",
        "The data sets have fewer than 1,000 samples.",
    ]


def test_the_command_takes_the_shipped_study_and_no_study_of_fewer_data_sets(fair, plan, capsys, monkeypatch):
    monkeypatch.setattr(command.plan, "estimates", lambda study: plan)
    monkeypatch.setattr(Study, "find", lambda results, name: fair if name == STUDY else Study.open(results, name))
    monkeypatch.setattr(command, "pages", lambda study, found: {})
    monkeypatch.setattr(command, "compared", lambda: command.REPRODUCTION.read_text(encoding="utf-8"))
    assert command.main(["check=true"]) == 0 and "docs/reproduction.md: the same" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["study=reference/dgufs"])
    assert "study=dgufs lacks" in capsys.readouterr().err
