"""docs/claims.md, printed from the stored numbers."""

from textwrap import fill

from scripts.claims.core.claim import FAILS, HOLDS, MISSING, OPEN, PART, Claim, is_judged, verdict
from scripts.claims.core.store import rows
from scripts.core.published import PAPERS, YEARS
from scripts.core.text import pipes

TITLE = """# The papers' other claims

Beside their tables of scores, which [reproduction.md](reproduction.md) is about, the papers make claims that can be
tested."""
HEAD = """## How a verdict is reached

`python -m scripts.claims` measures all claims anew, stores the numbers in `results/published_claims.csv` and prints
this page; `python -m scripts.claims NAME` does one, and `--page` only prints the page. The rule beside a claim
gives a verdict for each row of its table. A variant of a method then *holds* where all rows bear the claim out,
*does not hold* where none does, and *holds in part* between. A row that says nothing has a dash and does not count,
such as the speed of a fit that never left its start, or a difference within its error; where there are only such
rows, the claim *cannot be tested here*. Controls are measured in the same way, and not judged.

"paper" is the printed objective, minimised by the solvers of this suite to its minimum, so that the number of
sweeps need not be the paper's. "released" is the program that the authors published, as we run it. Data are scaled
to [0, 1]. K-means is that of the papers: 20 random starts, at most 100 steps. ACC is in percent, and seconds are of
CPU on the machine that measured. With so few data sets a verdict is about these, not about data at large."""


BORNE, MIXED, NONE = "borne out", "in part", "not borne out"
KINDS = (BORNE, MIXED, NONE, OPEN)
UNBROKEN = {"subsequent_indent": "  ", "break_long_words": False, "break_on_hyphens": False}


def page(claims, stored):
    """Return the whole page on claims, tested or not, from the stored numbers."""
    claims = list(claims)
    parts = [
        TITLE,
        *conclusions(claims, stored),
        HEAD,
        "## Verdicts",
        counts(claims, stored),
        pipes([["paper", "claim", "where", "it is"], *_summary(claims, stored)]),
    ]
    for paper, title in PAPERS.items():
        parts.append(f"## {title} ({YEARS[paper]})")
        parts += [section(claim, stored) for claim in claims if claim.paper == paper]
    return "\n\n".join(parts) + "\n"


def conclusions(claims, stored):
    """Return what it all comes to, paper by paper, in paragraphs."""
    kinds = {claim.name: _kind(claim, stored) for claim in claims}
    lines = [["paper", "claims", *KINDS]]
    for paper, title in PAPERS.items():
        own = [kinds[claim.name] for claim in claims if claim.paper == paper]
        lines.append([title, str(len(own)), *(str(own.count(kind)) for kind in KINDS)])
    failed = [claim for claim in claims if kinds[claim.name] == NONE]
    told = sum(kind != OPEN for kind in kinds.values())
    head = (
        f"**In short.** Of {len(claims)} claims {told} could be tested. {list(kinds.values()).count(BORNE)} are borne "
        f"out by every variant of the method that was measured, {len(failed)} by none, the rest in part."
    )
    listed = [
        fill(f"* {PAPERS[claim.paper]}: {claim.says} [({claim.name})](#{claim.name})", 120, **UNBROKEN)
        for claim in failed
    ]
    return [fill(head, 120), pipes(lines), "Not borne out, by any variant:", "\n".join(listed)]


def _kind(claim, stored):
    """Return the one of `KINDS` that the verdicts on all variants of a claim come to."""
    given = {word for word, _ in verdicts(claim, stored).values()} - {OPEN, MISSING}
    if not given:
        return OPEN
    return {frozenset([HOLDS]): BORNE, frozenset([FAILS]): NONE}.get(frozenset(given), MIXED)


def counts(claims, stored):
    """Count the verdicts of each kind."""
    given = [word for claim in claims for word, _ in verdicts(claim, stored).values()]
    each = ", ".join(f"{given.count(word)} {word}" for word in (HOLDS, PART, FAILS, OPEN, MISSING))
    return fill(f"{len(claims)} claims, {len(given)} verdicts, one a variant: {each}.", 120)


def verdicts(claim, stored):
    """Return the verdict on every variant of a claim.

    An `Untested` claim, and one that was not measured, have one under "".
    """
    if not isinstance(claim, Claim):
        return {"": (OPEN, [])}
    outcomes = {}
    for row in rows(stored, claim.name):
        if is_judged(row.variant):
            outcomes.setdefault(row.variant, []).append(claim.holds(row.numbers))
    return {variant: (verdict(found), found) for variant, found in outcomes.items()} or {"": (MISSING, [])}


def section(claim, stored):
    """Return the section of the page on one claim."""
    title = f"### {claim.name}"
    if not isinstance(claim, Claim):
        return "\n\n".join(
            [title, _text("Claim", f"{claim.says} ({claim.where})"), _text("Verdict", f"**{OPEN}**: {claim.reason}")]
        )
    found = rows(stored, claim.name)
    texts = [
        _text("Claim", f"{claim.says} ({claim.where})"),
        _text("Control", claim.control),
        _text("Rule", claim.rule),
    ]
    if claim.note:
        texts.append(_text("Note", claim.note))
    texts.append(_text("Command", _command(claim, stored)))
    tables = [_table(claim, found)] if found else []
    return "\n\n".join([title, "\n".join(texts), *tables, _text("Verdict", _words(claim, stored))])


def _command(claim, stored):
    commits = stored.loc[stored["claim"] == claim.name, "commit"].unique()
    if not len(commits):
        return f"`python -m scripts.claims {claim.name}`"
    missing = [name for name in claim.datasets if name not in set(stored.loc[stored["claim"] == claim.name, "dataset"])]
    left_out = f"; not measured on {', '.join(missing)}" if missing else ""
    return f"`python -m scripts.claims {claim.name}`, at commit {', '.join(commits)}{left_out}"


def _table(claim, found):
    quantities = list(dict.fromkeys(quantity for row in found for quantity in row.numbers))
    lines = [["variant", "data", *quantities, "borne out"]]
    for variant, dataset, numbers in found:
        outcome = {True: "yes", False: "no", None: "-"}[claim.holds(numbers)] if is_judged(variant) else ""
        lines.append([variant, dataset, *(_number(numbers.get(quantity)) for quantity in quantities), outcome])
    return pipes(lines)


def _words(claim, stored):
    parts = []
    for variant, (word, outcomes) in verdicts(claim, stored).items():
        told = [outcome for outcome in outcomes if outcome is not None]
        parts.append(f"{variant} **{word}** ({sum(told)} of {len(told)} rows)" if told else f"{variant} **{word}**")
    return "; ".join(parts).strip() + "."


def _summary(claims, stored):
    for claim in claims:
        yield [PAPERS[claim.paper], f"[{claim.name}](#{claim.name})", claim.where, _kind(claim, stored)]


def _text(label, text):
    return fill(f"* {label}: {text}", 120, **UNBROKEN)


def _number(value):
    return "" if value is None or value != value else f"{value:.4g}"
