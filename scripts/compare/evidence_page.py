"""The beginning of the page: the five lines of every paper and the cells that agree, beside controls, in Markdown."""

from metrics.study.frames import of_kmeans
from scripts.compare.controls import CONTROLS, RANDOM
from scripts.compare.evidence import CANNOT_TELL, NOT_REPRODUCED, REPRODUCED
from scripts.compare.headline import OURS, PERMUTED, WORDS, above_random
from scripts.core.published import PAPERS
from scripts.core.text import number, signed

BASELINES = "baselines only"
HARDLY = 0.2  # share of honest copies that pass a line
HEAD = "Paper|Line|Ours|By chance|p|Pass|As bad|Verdict".split("|")


def starts_text(comparison):
    """Say how many of our numbers are means over more K-means starts than the tables have; "" where none is."""
    cells = of_kmeans(comparison[comparison["mean"].notna()])
    again = cells[cells["n_groups"].notna()]
    if again.empty:
        return ""
    starts = " or ".join(str(count) for count in sorted(again["n_restarts"].unique()))
    fell = (again["mean"] - again["table_mean"]).mean()
    others = ", the others over those of the tables" if len(again) < len(cells) else ""
    return (
        f"{len(again)} of {len(cells)} of our numbers by K-means are means over {starts} starts (`python -m "
        f"scripts.restarts`){others}. The starts stand in groups of as many as the table "
        "has; in each, the best of the candidates is taken (the points within 2 standard errors of the best, at most "
        f"10; {again['n_again'].mean():.1f} on average), as the paper takes the best of its grid; the mean over the "
        f"groups is judged, and its error is that over the groups. It differs from the table by {signed(fell, 2)} "
        "points on average."
    )


def summaries(lines):
    """Return a sentence for every paper, from `scripts.compare.headline.line_table`."""
    return [_summary(paper, own) for paper, own in lines.groupby("paper", sort=False)]


def _summary(paper, own):
    n_cells, absent = own[["cells", "absent"]].iloc[0]
    if n_cells == 0 < absent:
        return f"{PAPERS[paper]}: nothing to compare, as none of the {absent} published cells that count is run."
    cells = f"on {n_cells} cells"
    if own["value"].isna().all():
        return f"{PAPERS[paper]}: too little is run to say anything, {cells}."
    of = f", {BASELINES}" if not own["own_cells"].iloc[0] else ""
    names = {word: list(own["line"][own["verdict"] == word]) for word in (REPRODUCED, NOT_REPRODUCED, CANNOT_TELL)}
    told = [f"{len(found)} {word}" + f" ({', '.join(found)})" * bool(found) for word, found in names.items()]
    partial, points = own[["partial", "points"]].iloc[0]
    run = f": {points}" if points else ""
    rest = f" *Provisional*: {partial} of these cells lack a part of their grid{run}." if partial else ""
    rest += f" Left out are {absent} published cells that are not run." if absent else ""
    if (most := own["power"].max()) < HARDLY:
        rest += f" Hardly any line can be *reproduced* here: at most {most:.0%} of honest copies pass one."
    return f"{PAPERS[paper]}: of {len(own)} lines {', '.join(told)}, {cells}{of}.{rest}"


def line_rows(lines):
    """Return the lines of `scripts.compare.headline.line_table` as texts, the head first."""
    rows = [[*HEAD, *map(str.capitalize, CONTROLS.values())]]
    for line in lines.itertuples():
        random = _range(line.random, line.random_low, line.random_high, 2)
        others = [number(line.all_features), number(line.max_variance)]
        ours = [number(line.value), number(line.by_chance), number(line.p, 4), *map(number, (line.power, line.as_bad))]
        ours.append(line.verdict + " (provisional)" * bool(line.partial and line.verdict != CANNOT_TELL))
        paper = PAPERS[line.paper] + (f", {BASELINES}" if line.cells and not line.own_cells else "")
        rows.append([paper, line.line, *ours, random, *others])
    return rows


def due(comparison, controls):
    """Say how often published rows are above a random ranking; "" without random rankings."""
    counts = above_random(comparison, controls)
    if counts.empty:
        return ""
    cells, above = counts["cells"].sum(), counts["above"].sum()
    each = ", ".join(f"{PAPERS[row.paper]} {row.above} of {row.cells}" for row in counts.itertuples())
    taken = f"; {counts['taken'].sum()} of the {cells} are taken from another paper" * bool(counts["taken"].any())
    return (
        f"What the papers are due: {above} of {cells} published scores, {above / cells:.0%}, are above the median of "
        f"the random rankings ({each}{taken})."
    )


def commands(comparison, controls):
    """Return the commands for papers without stored random rankings."""
    rows = comparison.drop_duplicates("paper")
    rows = rows[~rows["paper"].isin(controls.loc[controls["control"] == RANDOM, "paper"])]
    return [
        f"python run.py experiment={row.paper}_controls"
        + (f" study={row.study}" if row.study != row.paper else "")
        + (" +protocol.coarse=true" if "coarse True" in row.departs else "")
        for row in rows.itertuples()
    ]


def count_rows(counts):
    rows = [["Paper", "Rows", "By", "Cells", *map(str.capitalize, WORDS), "Std rule", "Left out"]]
    for (paper, group, by), found in counts.groupby(["paper", "rows", "by"], sort=False):
        decimals = 1 if by == PERMUTED else 0
        numbers = [
            _range(found[name].median(), found[name].min(), found[name].max(), decimals)
            for name in (*WORDS, "std_rule")
        ]
        left_out = found["left_out"].iloc[0] if by == OURS else ""
        rows.append([PAPERS[paper], group, CONTROLS.get(by, by), str(found["cells"].iloc[0]), *numbers, left_out])
    return rows


def _range(middle, low, high, decimals):
    texts = [number(value, decimals) for value in (middle, low, high)]
    return texts[0] if texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"
