"""The beginning of the page: the five lines of every paper and the cells that agree, beside controls, in Markdown."""

from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare.controls import CONTROLS, RANDOM
from ufs_bench.scripts.compare.evidence import CANNOT_TELL, NOT_REPRODUCED, REPRODUCED
from ufs_bench.scripts.compare.headline import above_random
from ufs_bench.scripts.core.published import PAPERS
from ufs_bench.scripts.core.text import number
from ufs_bench.scripts.core.views import notes

BASELINES = "baselines only"
HARDLY = 0.2  # share of honest copies that pass a line
HEAD = "Paper|Line|Ours|By chance|p|Pass|As bad|Verdict".split("|")


def starts_text(comparison):
    """Say how many of our numbers are means over more K-means starts than the tables have; "" where none is."""
    cells = of_kmeans(comparison[comparison["mean"].notna()])
    again = cells[cells["n_groups"].notna()]
    return "".join(notes("compare/starts.md.j2", again=again, n_cells=len(cells)))


def summaries(lines):
    """Return a sentence for every paper, from `scripts.compare.headline.line_table`."""
    papers = [(PAPERS[paper], own) for paper, own in lines.groupby("paper", sort=False)]
    words = REPRODUCED, NOT_REPRODUCED, CANNOT_TELL
    return notes("compare/summaries.md.j2", papers=papers, words=words, baselines=BASELINES, hardly=HARDLY)


def verdict_rows(lines):
    """Return a line a paper with the verdict of each of its five tests."""
    tests = list(dict.fromkeys(lines["line"]))
    rows = [["Paper", "Cells", *map(str.capitalize, tests)]]
    for paper, own in lines.groupby("paper", sort=False):
        first, words = own.iloc[0], own.set_index("line")["verdict"]
        name = PAPERS[paper] + (f", {BASELINES}" if first["cells"] and not first["own_cells"] else "")
        rows.append([name + "*" * bool(first["partial"]), str(first["cells"]), *(words[test] for test in tests)])
    return rows


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
    return "".join(notes("compare/due.md.j2", counts=above_random(comparison, controls), papers=PAPERS))


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


def _range(middle, low, high, decimals):
    texts = [number(value, decimals) for value in (middle, low, high)]
    return texts[0] if texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"
