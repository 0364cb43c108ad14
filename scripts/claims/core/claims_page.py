"""docs/claims.md, printed from the stored numbers."""

from collections import Counter

from scripts.claims.core.claim import FAILS, HOLDS, MISSING, OPEN, PART, Claim, is_judged, verdict
from scripts.claims.core.store import rows
from scripts.core.published import PAPERS, YEARS
from scripts.core.views import render

BORNE, MIXED, NONE = "borne out", "in part", "not borne out"
KINDS = (BORNE, MIXED, NONE, OPEN)


def page(claims, stored):
    """Return the whole page on claims, tested or not, from the stored numbers."""
    claims = list(claims)
    given = {claim.name: verdicts(claim, stored) for claim in claims}
    kinds = {name: _kind({word for word, _ in found.values()} - {OPEN, MISSING}) for name, found in given.items()}
    words = Counter(word for found in given.values() for word, _ in found.values())
    by_paper = [["paper", "claims", *KINDS]]
    for paper, title in PAPERS.items():
        own = [kinds[claim.name] for claim in claims if claim.paper == paper]
        by_paper.append([title, str(len(own)), *(str(own.count(kind)) for kind in KINDS)])
    summary = [
        [PAPERS[claim.paper], f"[{claim.name}](#{claim.name})", claim.where, kinds[claim.name]] for claim in claims
    ]
    measured = [claim for claim in claims if isinstance(claim, Claim)]
    return render(
        "claims/claims.md.j2",
        claims=claims,
        papers=PAPERS,
        years=YEARS,
        kinds=kinds,
        open=OPEN,
        borne=BORNE,
        failed=NONE,
        by_paper=by_paper,
        n_verdicts=words.total(),
        counts=", ".join(f"{words[word]} {word}" for word in (HOLDS, PART, FAILS, OPEN, MISSING)),
        summary=[["paper", "claim", "where", "it is"], *summary],
        commands={claim.name: _command(claim, stored) for claim in measured},
        tables={claim.name: table(claim, rows(stored, claim.name)) for claim in measured},
        judged={claim.name: _judged(given[claim.name]) for claim in measured},
    )


def _kind(given):
    """Return the one of `KINDS` that the verdicts on all variants of a claim come to."""
    return {frozenset(): OPEN, frozenset([HOLDS]): BORNE, frozenset([FAILS]): NONE}.get(frozenset(given), MIXED)


def verdicts(claim, stored):
    """Return the verdict on every variant of a claim; what is not tested or not measured has one under ""."""
    if not isinstance(claim, Claim):
        return {"": (OPEN, [])}
    outcomes = {}
    for row in rows(stored, claim.name):
        if is_judged(row.variant):
            outcomes.setdefault(row.variant, []).append(claim.holds(row.numbers))
    return {variant: (verdict(found), found) for variant, found in outcomes.items()} or {"": (MISSING, [])}


def _command(claim, stored):
    own, command = stored[stored["claim"] == claim.name], f"`python -m scripts.claims {claim.name}`"
    missing = [name for name in claim.datasets if name not in set(own["dataset"])]
    left_out = f"; not measured on {', '.join(missing)}" if missing else ""
    return f"{command}, at commit {', '.join(own['commit'].unique())}{left_out}" if len(own) else command


def table(claim, found):
    """Return the lines of the table of a claim's numbers, as `scripts.claims.core.store.rows` returns them."""
    quantities = list(dict.fromkeys(quantity for row in found for quantity in row.numbers))
    lines = [["variant", "data", *quantities, "borne out"]]
    for variant, dataset, numbers in found:
        outcome = {True: "yes", False: "no", None: "-"}[claim.holds(numbers)] if is_judged(variant) else ""
        lines.append([variant, dataset, *(_number(numbers.get(quantity)) for quantity in quantities), outcome])
    return lines


def _judged(found):
    """Return the verdicts on the variants of a claim, each with its rows, as a sentence."""
    parts = []
    for variant, (word, outcomes) in found.items():
        told = [outcome for outcome in outcomes if outcome is not None]
        parts.append(f"{variant} **{word}**" + (f" ({sum(told)} of {len(told)} rows)" if told else ""))
    return "; ".join(parts).strip() + "."


def _number(value):
    return "" if value is None or value != value else f"{value:.4g}"
