"""Numbers that a page has by hand are what shipped results, papers, settings, or the blocks of the page itself say."""

import numpy as np
from pages import WORDS, claimed, measured_datasets, says, words_of

from ufs_bench.metrics import nearest_neighbour
from ufs_bench.metrics.study.frames import of_kmeans
from ufs_bench.scripts.compare import columns, evidence
from ufs_bench.scripts.core.conf import find
from ufs_bench.scripts.core.papers import PAPERS, load_published, published_cells
from ufs_bench.scripts.core.refits import ENOUGH
from ufs_bench.scripts.refit import restarts
from ufs_bench.scripts.ship import scores

PROTOCOLS, READING, OBJECTIONS = (f"docs/{name}.md" for name in ("protocols", "reading", "objections"))
REPRODUCTION, SHIPPED = "docs/reproduction.md", "docs/shipped.md"


# --- protocols.md


def test_settings_on_the_page_of_protocols_are_those_of_the_files():
    usps, fair = find("protocol", "ufsol")["sizes_for"]["usps"], find("protocol", "fair")
    sizes = len(fair["sizes"])
    params = {name: find("method", name)["params"] for name in ("rufs", "ndfs", "socfs", "kmeans_ufs_admm")}
    (steps,) = {find("protocol", paper)["max_iter"] for paper in PAPERS}
    says(
        PROTOCOLS,
        f"keeps {', '.join(map(str, usps[:-1]))} and {usps[-1]} features on USPS",
        f"the same {WORDS[len(fair['grid_values'])]} values of every weight, and at most {fair['budget']} grid points",
        f"scored at {WORDS[sizes]} sizes, so a best over the grid is the best of {sizes} to {sizes * fair['budget']}",
        f"K-means starts {fair['restarts']} times, and a method with a random part has {WORDS[fair['seeds']]} seeds",
        f"| RUFS's `nu` | {params['rufs']['nu']:.0f} |",
        f"| NDFS's `gamma` | {params['ndfs']['gamma']:.0e} |".replace("+0", ""),
        f"| k, the neighbours | {params['ndfs']['n_neighbors']} |",
        f"| SOCFS's `lambda2` | {params['socfs']['lambda2']:.0f} |",
        f"| K-means UFS, ADMM: `mu0` | {params['kmeans_ufs_admm']['mu0']} |",
        f"| Lloyd steps | at most {steps} |",
    )


def test_random_rankings_are_as_many_as_the_pages_say(shipped):
    count = {}
    for name in ("dgufs", "kmeans_ufs", "rufs", "ufsol", "jgufs", "fair"):
        trials = shipped(name).trials
        (count[name],) = trials[trials["method"] == "random_rankings"].groupby("dataset").size().unique()
    assert count == {"dgufs": 100, "kmeans_ufs": 100, "rufs": 20, "ufsol": 20, "jgufs": 20, "fair": 25}
    says(
        PROTOCOLS,
        "a hundred random orders (twenty in what is shipped of RUFS, UFSOL and JGUFS)",
        "but 25 random rankings",
    )
    says(READING, "(25 in `fair`, 20 or 100 in the papers' studies)")
    says(REPRODUCTION, "are a hundred in the studies of DGUFS and K-means UFS, and twenty in the other three")


def test_the_smaller_study_has_what_the_page_says(shipped):
    points = shipped("fair_points").trials
    assert points.groupby(["dataset", "method"])["params"].nunique().max() == 3
    says(PROTOCOLS, f"three grid points of each of the {WORDS[points['method'].nunique()]} methods")


def test_what_ufsol_took_from_others_is_as_far_from_rufs_as_the_pages_say():
    table = load_published().query("paper == 'ufsol'")
    taken = table[table["inherited"] == "stated"]
    both = taken.merge(load_published().query("paper == 'rufs'"), on=["dataset", "method", "metric"])
    apart = (both["mean_percent_x"] - both["mean_percent_y"]).abs()
    says(
        PROTOCOLS,
        f"Of these {len(taken)} cells, {len(both)} are also in the RUFS paper, where all have other values: the median "
        f"difference is {apart.median():.1f} point, the largest {apart.max():.1f}.",
    )
    own = table[table["inherited"] == ""]
    names, n_shipped = own["dataset"].unique(), len(measured_datasets("ufsol"))
    says(
        OBJECTIONS,
        f"Their {len(taken)} cells are marked inherited",
        f"the {WORDS[own['method'].nunique()]} variants of the paper itself, on {WORDS[n_shipped]} of "
        f"{WORDS[len(names)]} data sets",
    )


def test_no_other_metric_is_nearer_to_a_row_of_all_features_by_half_a_point():
    for paper in PAPERS:
        rows = claimed(f"{paper}_metrics", "published").values()
        assert all(row["mean distance"] > row["of the usual"] - 0.5 for row in rows), paper
    says(PROTOCOLS, "None is nearer to a paper's row by half a point or more")
    says(OBJECTIONS, 'None is nearer to a paper\'s row "All Features" by half a point or more')


# --- reading.md


def test_the_example_of_a_table_is_in_the_table(shipped):
    printed = published_cells("dgufs", "table2", "acc").loc[("allaml", "laplacian_score")]
    best = of_kmeans(shipped("dgufs").select("acc")).set_index(["dataset", "method"]).loc[("allaml", "laplacian_score")]
    says(
        READING,
        f"| LapScore | {printed['mean']:.1f}±{printed['std']:.1f}({printed['n_features']}) |",
        f"| ↳ ours | {best['mean']:.1f}±{best['std']:.1f}({best['n_selected']:.0f}) "
        f"Δ{best['mean'] - printed['mean']:+.1f} |",
    )


def test_papers_that_share_nothing_have_as_few_ties_as_the_page_says():
    table = load_published()
    pairs = table.merge(table, on=["dataset", "method", "metric"], suffixes=("", "_other"))
    pairs = pairs[(pairs["paper"] < pairs["paper_other"])]
    apart = ~pairs["inherited"].str.startswith(("equal", "shifted"))
    related = set(zip(pairs["paper"][~apart], pairs["inherited"][~apart].str.partition(":")[2], strict=True))
    free = [pair not in related for pair in zip(pairs["paper"], pairs["paper_other"], strict=True)]
    ties = np.isclose(pairs["mean_percent"], pairs["mean_percent_other"])[free]
    says(READING, f"papers that share nothing have {WORDS[ties.sum()]} in {len(ties)} cells")


def test_constants_on_the_page_are_those_of_the_code():
    copies, more, noise = evidence.N_COPIES, evidence.N_FITS, evidence.HONEST
    most, sample = nearest_neighbour.MOST, nearest_neighbour.SAMPLE
    says(
        READING,
        f"*reproduced*: p <= {evidence.LEVEL}",
        f"at most {100 * evidence.AS_BAD:.0f} % of honest copies",
        f"({copies:,} copies, and {more:,} where these leave it open)",
        f"standard error of each cell and of {noise} points",
        f"(a correlation of {evidence.TOGETHER})",
        f"(points within {restarts.ERRORS:.0f} standard errors of the best, at most {restarts.MOST})",
        "differ by {} and {} points of ACC, and {} and {} of NMI".format(
            *(columns.SAMPLED[name, metric] for metric in ("acc", "nmi") for name in ("fashion", "mnist"))
        ),
        f"**With more than {most:,} samples, 1-NN accuracy is computed on {sample:,}**",
    )
    says(
        SHIPPED,
        f"{WORDS[round(5 * scores.SAME_RESTARTS)]} of five restarts must be, and means within {scores.MOVED}",
        f"keep fewer than {100 * ENOUGH:.0f} % or move by more than a standard error",
    )
    grid = np.prod([len(find("protocol", "jgufs")["grid_values"])] * len(find("method", "jgufs")["grid"]))
    says(READING, f'"jgufs 7 of {grid} points"')
    assert f"jgufs 7 of {grid} points" in words_of(REPRODUCTION)
