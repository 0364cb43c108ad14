"""The features that methods find in data of known truth: computed by hand, printed and drawn."""

import numpy as np
import pandas as pd
import pytest
from frames import PROTOCOL, frames, store, study_of
from scipy import stats
from small_data import TRUTH

from ufs_bench.datasets import read_spec
from ufs_bench.datasets.synthetic import truth_of
from ufs_bench.datasets.truth import truth_names
from ufs_bench.runners.messages import StoreError
from ufs_bench.runners.store.parquet import packed_refits, read_refits
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.study import Study
from ufs_bench.scripts.ground_truth import (
    HEAD,
    LEVEL,
    beyond_chance,
    chance,
    differences,
    found,
    recovered,
    ship_further,
    truth_frame,
    truth_table,
)
from ufs_bench.scripts.ship import pack


def fit(dataset, method, hits, copies=0, **more):
    """Make a fit that finds `hits` of 10 features, and then selects copies of them, and noise after that."""
    spec = read_spec(dataset)
    truth = truth_of(**spec["sources"][0]["options"])
    groups, noise = truth.groups, sorted(set(range(spec["features"])) - set(truth.relevant))
    ranking = [group[0] for group in groups[:hits]] + [group[1] for group in groups[:copies]]
    ranking += noise[: 40 - len(ranking)]
    keys = {"dataset": dataset, "method": method, "data_sha": spec["data_sha256"], "ranking": ranking}
    keys |= {"sizes": [10]} | more
    return {"acc": {min(keys["sizes"]): [0.5]}} | keys


def of_seeds(hits, family="clusters", difficulty=1, method="mcfs", **more):
    return [fit(f"truth_{family}_d{difficulty}_s{seed}", method, count, **more) for seed, count in enumerate(hits)]


def test_recall_is_counted_at_the_true_number():
    row = recovered(study_of(of_seeds([7]))).iloc[0]
    assert (row["family"], row["difficulty"], row["signal"], row["seed"], row["size"]) == ("clusters", 1, 4.0, 0, 10)
    assert (row["recall"], row["precision"], row["redundancy"]) == (0.7, 0.7, 0)


def test_of_more_relevant_features_than_are_asked_for_as_many_count_as_can_be_found():
    row = recovered(study_of(of_seeds([7], "shift"))).iloc[0]  # 50 of 500 are relevant
    assert (row["size"], row["recall"], row["precision"]) == (10, 0.7, 0.7)
    assert row["chance"] == pytest.approx(row["share"]) == 0.1


def test_chance_is_the_mean_recall_of_random_rankings():
    groups, rng = [(0, 1, 2, 3), (4, 5), (6,)], np.random.default_rng(0)
    drawn = [set(rng.permutation(20)[:3].tolist()) for _ in range(20_000)]
    recall = np.mean([[not drawn_set.isdisjoint(group) for group in groups] for drawn_set in drawn])
    assert chance(20, groups, 3) == pytest.approx(recall, abs=0.01)
    assert recovered(study_of(of_seeds([7])))["chance"].tolist() == [pytest.approx(0.1)]


def test_a_method_is_said_to_be_beyond_chance_where_it_is_in_every_family():
    rows = of_seeds([5] * 5, method="rufs") + of_seeds([4] * 5, "wide", method="rufs")
    rows += of_seeds([5] * 5) + of_seeds([1, 0, 0, 0, 0], "wide")  # chance expects 1 of 50 in wide
    found_rows = recovered(study_of(rows))
    assert truth_frame(found_rows)["chance"].to_dict() == {"rufs": "yes", "mcfs": ""}
    share = found_rows.query("family == 'wide'")["share"].iloc[0]
    assert beyond_chance(found_rows)["mcfs"] == pytest.approx(stats.binom.sf(0, 50, share))


def test_methods_at_chance_in_one_family_are_seldom_said_to_be_beyond_it_and_most_others_are():
    rng, shape, said = np.random.default_rng(0), (5, 12, 20), {0.1: [], 0.5: []}  # seeds, families, methods
    index = pd.MultiIndex.from_product([*map(range, shape)], names=["seed", "family", "method"])
    for least, shares in said.items():
        for _ in range(100 if least == 0.1 else 10):
            hits = rng.binomial(10, 0.5, shape)
            hits[:, 0] = rng.binomial(10, least, hits[:, 0].shape)
            rows = pd.Series(hits.ravel() / 10, index, name="precision").reset_index()
            shares.append((beyond_chance(rows.assign(difficulty=1, size=10, share=0.1)) <= LEVEL).mean())
    assert np.mean(np.array(said[0.1]) > 0) <= 0.1  # .05, and two standard errors of 100 studies
    assert np.mean(said[0.5]) >= 0.95


def test_copies_are_relevant_but_find_nothing_new():
    row = recovered(study_of(of_seeds([6], "redundant", copies=3))).iloc[0]
    assert (row["recall"], row["precision"], row["redundancy"]) == (0.6, 0.9, 0.3)


def test_it_passes_where_four_of_five_seeds_find_nine_of_ten():
    rows = of_seeds([9, 9, 10, 10, 0]) + of_seeds([9, 9, 9, 8, 8], difficulty=2)
    rows += of_seeds([10, 10, 10], family="wide") + of_seeds([10] * 5, family="curve", method="rufs")
    rows[-1] |= {"status": "failed"}
    rows[-2] |= {"status": "timeout"}
    table = found(recovered(study_of(rows)))
    for star in ("relevant", "diverse"):
        assert list(table[star].items()) == [
            (("mcfs", "clusters", 1), True),
            (("mcfs", "clusters", 2), False),
            (("mcfs", "wide", 1), False),
            (("rufs", "curve", 1), False),
        ]
    np.testing.assert_allclose(table["recall"], [0.76, 0.86, 1.0, 0.6])
    assert list(table["seeds"]) == [5, 5, 3, 5]


def test_of_fits_at_one_size_each_the_one_at_the_true_number_counts():
    rows = of_seeds([8], sizes=[20]) + of_seeds([7], sizes=[10]) + of_seeds([6], sizes=[40])
    assert recovered(study_of(rows))["recall"].tolist() == [0.7]
    each = {str(size): fit("truth_clusters_d1_s0", "mcfs", 0)["ranking"][:size] for size in (10, 20)}
    assert recovered(study_of(of_seeds([8], ranking=each)))["recall"].tolist() == [0.0]


def test_grid_points_all_features_and_other_data_are_left_out():
    rows = of_seeds([8]) + of_seeds([7], params={"n_neighbors": 3}) + of_seeds([5], method="all_features")
    rows.append({"dataset": "umist", "method": "mcfs", "acc": {50: [0.5]}})
    assert recovered(study_of(rows))["recall"].tolist() == [0.8]


def test_results_on_other_data_and_other_sizes_are_refused():
    with pytest.raises(ValueError, match="mcfs on truth_clusters_d1_s0 are on other data: their SHA-256 is 00ff"):
        recovered(study_of(of_seeds([8], data_sha="00ff")))
    with pytest.raises(ValueError, match="no stored fit has the true number"):
        recovered(study_of(of_seeds([8], sizes=[20])))


def test_the_table_orders_methods_and_has_stars_at_the_easiest_difficulty():
    rows = of_seeds([10] * 5, method="rufs") + of_seeds([10] * 4 + [5], difficulty=2, method="rufs") + of_seeds([4] * 5)
    rows += of_seeds([3] * 4, method="udfs") + of_seeds([1] * 5, method="random_rankings")
    text = truth_table(recovered(study_of(rows + of_seeds([6] * 5, "redundant", copies=3))))
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    assert lines[0] == [*HEAD, "clusters", "redundant", "redundant: diversity"]
    assert lines[2:4] == [["rufs", ".95", "", "yes", "1.00*", "", ""], ["mcfs", ".65", "", "yes", ".40", ".90*", ".60"]]
    assert [line[0] for line in lines[4:]] == ["udfs", "*random_rankings*"]


def test_a_method_without_some_family_is_compared_where_both_have_one():
    rows = of_seeds([10] * 5, method="max_variance") + of_seeds([2] * 5, "wide", method="max_variance")
    for method, hits in {"pfa": (5, 5, 4, 5, 5), "rsr": (1, 1, 1, 0, 1), "udfs": (3, 1, 2, 3, 1)}.items():
        rows += of_seeds(hits, "wide", method=method)  # the mean of max_variance over both families is .6
    over = truth_frame(recovered(study_of(rows)))["over"].to_dict()
    assert over == {"max_variance": "", "pfa": "+.28", "rsr": "-.12", "udfs": ".00?"}


def test_differences_are_of_the_same_data_and_of_seeds_that_lack_none():
    rows = of_seeds([10, 10, 10], method="max_variance") + of_seeds([8, 8], "wide", method="max_variance")
    rows += of_seeds([9, 8, 0]) + of_seeds([7, 6], "wide") + of_seeds([1] * 3, "heavy")
    rows += of_seeds([10, 10, 10], method="fspca") + of_seeds([3], method="rsr")
    table = differences(recovered(study_of(rows)), "max_variance")
    assert table["seeds"].to_dict() == {"mcfs": 2, "fspca": 3, "rsr": 1}
    assert table["mean"].to_dict() == pytest.approx({"mcfs": -0.15, "fspca": 0, "rsr": -0.7})
    p = 2 * stats.t.sf(0.15 / 0.05, 1)  # seeds -.1 and -.2: standard error .05
    assert table["p"].to_dict() == pytest.approx({"mcfs": 2 * p, "fspca": 1, "rsr": np.nan}, nan_ok=True)


def test_few_studies_in_which_none_differs_say_so_of_one_and_most_find_a_difference():
    rng, shape = np.random.default_rng(20), (20, 10, 11)  # seeds, difficulties, methods
    index = pd.MultiIndex.from_product([*map(range, shape)], names=["seed", "difficulty", "method"])
    said = {0.0: [], 0.1: []}
    for gain, wrong in said.items():
        for _ in range(10 if gain else 100):
            precision = rng.binomial(10, 0.5, shape) / 10
            precision[:, :, 1:] += gain
            rows = pd.Series(precision.ravel(), index, name="precision").reset_index()
            p = differences(rows.assign(family="f"), 0)["p"]
            wrong.append([(p <= LEVEL).any(), (p <= LEVEL).mean()])
    means = {gain: np.mean(wrong, axis=0) for gain, wrong in said.items()}
    assert means[0.0][0] <= 0.1  # .05, and two standard errors of 100 studies
    assert means[0.1][1] >= 0.95


def test_what_is_selected_on_further_seeds_counts_as_the_fits_themselves_do(tmp_path, shipping, run_cells):
    def ran(folder, *seeds):
        names = ",".join(TRUTH.replace("s0", f"s{seed}") for seed in seeds)
        words = ["study=truth", "method=max_variance", "protocol=ground_truth", f"dataset={names}", "runner.n_jobs=1"]
        run_cells(*words, f"results_dir={tmp_path / folder}")
        return Study.open(tmp_path / folder, "truth").filled()

    ran("shipped", 0)
    assert pack.ship(tmp_path / "shipped", "truth") == ([f"{TRUTH}/max_variance"], [], [])
    all_three, path = ran("all", 0, 1, 2), shipping / "truth/_further.parquet"
    assert ship_further(all_three) == {"max_variance": 2}
    both, before = Study.open(tmp_path, "reference/truth"), path.read_bytes()
    found, whole = (recovered(study).drop(columns="fit_s") for study in (both, all_three))
    pd.testing.assert_frame_equal(found, whole)
    assert ship_further(all_three) == {"max_variance": 2} and path.read_bytes() == before
    all_three.whole["data_sha"] = "x" + all_three.whole["data_sha"].str[1:]
    with pytest.raises(StoreError, match="max_variance: data_sha=x.* as in conf/truth"):
        ship_further(all_three)
    assert path.read_bytes() == before

    rows = read_refits(path)
    path.write_bytes(packed_refits(rows.assign(family_sha="00ff")))
    with pytest.raises(ValueError, match="max_variance on truth_.* are on other data: their SHA-256 is 00ff"):
        recovered(both)
    store(frames(of_seeds([5]), "truth", PROTOCOL), tmp_path / "other")
    with pytest.raises(StoreError, match="mcfs has no shipped fits in truth of this code"):
        ship_further(Study.open(tmp_path / "other", "truth"))


def test_the_command_prints_the_page(tmp_path, command):
    store(frames(of_seeds([10] * 5), "own", PROTOCOL), tmp_path)
    done = command("ground_truth", "study=own", f"results_dir={tmp_path}")
    assert done.returncode == 0 and "| mcfs   | 1.00 " in done.stdout, done.stderr
    rest = command("ground_truth", "study=owm", f"results_dir={tmp_path}")
    assert rest.returncode == 1 and "Did you mean own?" in rest.stderr


PAGE = (ROOT / "docs/ground_truth.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_table_of_the_page_is_what_the_command_prints(command, tmp_path):
    assert f"-->\n{command('ground_truth', f'results_dir={tmp_path}').stdout}<!-- end -->" in PAGE


def test_the_sentences_of_the_page_say_what_its_table_has():
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:1] == "|"]
    table = pd.DataFrame(lines[2:], columns=lines[0]).set_index("Method")
    own = table[~table.index.str.startswith("*")]
    families = own.columns[len(HEAD) - 1 : -1]
    stars, over = own.apply(lambda column: column.str.endswith("*")), own["Over max_variance"]
    in_each, of_each = stars[families].sum(), stars[families].sum(axis=1)
    other = [name for name in families if not table.loc["*max_variance*", name].endswith("*")]
    assert of_each.idxmax() == "laplacian_score" and of_each.max() < len(families)
    diverse = (stars["redundant"] & stars["redundant: diversity"]).sum()
    unclear = over.str.endswith("?")
    common = table.loc[["dgufs", "*min_norm*"], "Relevance"].unique()
    beyond = {share: f"{stats.binom.sf(15, 20, share):.2f}".lstrip("0") for share in (0.6, 0.9)}  # 16 of 20 seeds
    wanted = [
        f"{len(truth_names())} data sets of {len(families)} families",
        f"None of the {len(own)} methods has a star in every family at the easiest difficulty",
        f"has most, in {of_each.max()} of {len(families)}. No method has one in counts and pixels.",
        f"{(over.str.startswith('+') & ~unclear).sum()} of the {len(own)} select more relevant",
        f"{(over.str.startswith('-') & ~unclear).sum()} select fewer, and {unclear.sum()} cannot be distinguished",
        f"{(own['Chance'] == 'yes').sum()} of the {len(own)} select more relevant features than chance in every family",
        f"{', '.join(f'{in_each[name]} in {name}' for name in other if in_each[name])}, and 0 in counts and in pixels.",
        f"{diverse} of the {len(own)} have a star for relevance and one for diversity in redundant",
        f"find: {' '.join(common)} in the mean, as `min_norm`",
        f"it finds {table.loc['dgufs_normalized', 'Relevance']}, and has a star for diversity",
        f"seeds has a star with probability {beyond[0.6]}. With 90 % of the seeds the probability is {beyond[0.9]}.",
    ]
    words = " ".join(PAGE.split())
    assert [text for text in wanted if text not in words] == []
    assert in_each[["counts", "pixels"]].sum() == 0 and stars.loc["dgufs_normalized", "redundant: diversity"]
