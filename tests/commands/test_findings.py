"""The findings are what the shipped results say, and their sentences say what the numbers do, whatever these are."""

import itertools
import math
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.text import Text

from ufs_bench.scripts.core.conf import ROOT, printed
from ufs_bench.scripts.core.text import with_interval
from ufs_bench.scripts.findings import Setting, gaps_of, panels, recent, twins
from ufs_bench.scripts.findings.__main__ import FINDINGS, PAPER, STUDY, filled, pages
from ufs_bench.scripts.findings.findings_page import looks, page, paper, sentences
from ufs_bench.scripts.findings.plan import by_size, intervals_of, means_of
from ufs_bench.scripts.findings.summary import save_summary, text_page
from ufs_bench.scripts.make_figure.style import PHONE
from ufs_bench.scripts.ranks.gains import COLUMNS, Gains, above

DATA = ["umist", "orl", "digits"]
PROTOCOL = (
    '{"name": "p", "sizes": [5, 9], "scaling": "none", "restarts": 20, "seed": 0, "nmi": "geometric", "max_iter": 9}'
)


def setting(intervals, size=300):
    """Return a `Setting` of methods with these intervals over random rankings, the same over all features."""
    rows = {name: [(low + high) / 2, low, high, 1, 0, 0, 1] for name, (low, high) in intervals.items()}
    table = pd.DataFrame(rows, index=COLUMNS).T.sort_values("mean", ascending=False)
    points = pd.DataFrame({name: [row["mean"]] * 3 for name, row in table.iterrows()}, index=DATA)
    controls = pd.DataFrame({"all_features": [50.0] * 3, "random_rankings": [49.0] * 3, "min_norm": [40.0] * 3}, DATA)
    scores = points.drop(columns=[name for name in points if name in controls]) + 49
    field = SimpleNamespace(scores=scores, controls=controls, families=dict.fromkeys(DATA, "faces"), left_out=[])
    found = Gains("random_rankings", points, table, [name for name in table.index if name in controls])
    seconds = pd.Series(range(len(table)), index=table.index, dtype=float)
    return Setting(
        "largest_size", size, field, found, found._replace(reference="all_features"), seconds, [], (2.0, 1.0),
        recent.since(pd.DataFrame()),
    )  # fmt: skip


def test_the_page_and_the_paper_have_what_the_shipped_results_say(settings, fair):
    again = "run: python -m scripts.findings write=true"
    assert (ROOT / "docs/findings.md").read_text(encoding="utf-8") == page(STUDY, settings, looks(fair, settings)), (
        again
    )
    assert (ROOT / PAPER).read_text(encoding="utf-8") == filled(PAPER, FINDINGS, paper(settings)), again


def test_every_figure_of_the_page_is_written_with_it(settings, fair):
    written = {path.name: text for path, text in pages(fair, settings).items()}
    figures = re.findall(r"^!\[.*\]\((.*)\)$", written["findings.md"], re.MULTILINE)
    assert figures == ["sizes.svg", "families.svg", "findings.svg"]
    assert all("<svg" in written[name] and (ROOT / "docs" / name).is_file() for name in figures)


def test_the_main_figure_is_as_wide_as_a_phone_with_letters_of_8_points_that_do_not_overlap(settings):
    main = panels.draw(settings)
    main.draw_without_rendering()
    assert main.get_figwidth() <= PHONE
    labels = main.axes[0].get_yticklabels()
    for axis in main.axes:
        low, high = axis.get_xlim()
        labels += [label for label in axis.get_xticklabels() if low <= label.get_position()[0] <= high]
        labels.append(next(text for text in axis.findobj(Text) if text.get_text().endswith("features")))
    assert len(labels) > 30 and min(label.get_fontsize() for label in labels) >= 8
    boxes = [label.get_window_extent() for label in labels]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_two_pages_are_written_with_the_same_bytes(settings, tmp_path):
    for name in ("a.pdf", "b.pdf"):
        save_summary(STUDY, settings, tmp_path / name)
    content = (tmp_path / "a.pdf").read_bytes()
    assert content == (tmp_path / "b.pdf").read_bytes() and b"/Count 2" in content
    assert b"/Type3" not in content and b"/CIDFontType2" in content  # as the text is coded


def test_every_sentence_is_on_the_page_below_the_one_before(settings):
    figure = text_page(STUDY, settings)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.texts]
    assert len(boxes) == len(sentences(settings)) + 2
    for upper, lower in itertools.pairwise(boxes):
        assert lower.y1 <= upper.y0
    assert all(box.x1 < figure.bbox.x1 for box in boxes) and boxes[-1].y0 > 0
    assert not any(mark in text.get_text() for text in figure.texts for mark in ("**", "](", "`"))


def test_a_method_counts_once_as_better_worse_or_undecided(settings):
    texts = [text for text in sentences(settings) if text.startswith("One size and accuracy alone")]
    for one, text in zip(settings, texts, strict=True):
        undecided, total = map(int, re.search(r"contains 0 for (\d+) of (\d+) methods", text).groups())
        table = one.methods
        assert total == len(table) and undecided == ((table["low"].round(1) <= 0) & (table["high"].round(1) >= 0)).sum()


def test_an_end_that_prints_as_0_is_no_gain_and_no_loss():
    found = sentences([setting({"mcfs": (0.04, 3), "udfs": (-3, -0.04), "rufs": (0.06, 1)})] * 2)[0]
    assert "contains 0 for 2 of 3 methods" in found and "above 0 for RUFS" in found and "below 0" not in found


def test_variants_that_gain_are_named_and_data_sets_with_fewer_features_too(settings):
    variants = pd.DataFrame(
        {"mean": [2.0, 4.0, 1.0], "low": [1.0, 2.0, -1.0], "high": [3.0, 5.0, 3.0]},
        index=["ndfs_released", "dgufs_normalized", "mcfs_released"],
    )
    one = setting({"mcfs": (-1, 1)})._replace(variants=variants, lacking_variants=("ufsol_similarity",))
    (found,) = [text for text in sentences([one, setting({"mcfs": (-1, 1)}, 100)]) if "variants" in text]
    assert "with 300 features DGUFS (normalized) by 4.0 and NDFS (released) by 2.0 (of 3);" in found
    assert found.endswith(
        "with 100 features none (of 0). Without a score on some data set, at one of the sizes: UFSOL (similarity)."
    )
    text = " ".join(page(STUDY, settings, {}).split()).partition("fewer are selected: ")[2].partition("## ")[0]
    for one in settings:
        own = text.partition(f" in place of {one.size}")[0].rpartition(" in place of ")[2]
        for name in one.field.families:
            size = one.field.cells.loc[(name, "socfs"), "n_selected"]
            assert (f"{size:.0f} on {printed('dataset', name)}" in own) == (size < one.size), name


def test_where_none_gains_the_sentences_say_so():
    found = " ".join(sentences([setting({"mcfs": (-1, 3), "udfs": (-4, -2)})] * 2))
    assert "contains 0 for 1 of 2 methods" in found and "above 0 for none" in found
    assert "below 0 for UDFS, by 3.0 points" in found and "no interval lies above 0" in found


def test_a_method_that_scores_as_a_control_does_is_named():
    assert twins(setting({"dgufs": (-12, -6), "mcfs": (1, 3)})) == {"dgufs": "min_norm"}


def test_a_page_without_its_marks_is_refused(monkeypatch, tmp_path):
    (tmp_path / "README.md").write_text("nothing", encoding="utf-8")
    monkeypatch.setattr("ufs_bench.scripts.findings.__main__.ROOT", tmp_path)
    with pytest.raises(ValueError, match=r"README\.md must have one part <!-- printed by python -m scripts"):
        filled("README.md", FINDINGS, "text")


def test_seconds_are_of_the_data_sets_that_count(settings, fair):
    own = fair.trials.query("is_default and method == 'socfs' and nth_seed == 0").set_index("dataset")["fit_s"]
    assert len(own) > len(settings[0].field.families)
    assert settings[0].seconds["socfs"] == own[list(settings[0].field.families)].median()


def test_what_the_objections_say_of_intervals_at_one_size_is_what_the_study_says(settings, fair):
    plan, gains, found = settings[0].plan, by_size(fair), []
    methods = plan.table.index.unique("method")
    for size in (10, 300):
        wide = gains.xs(size, level="n_selected")["acc"].unstack("method")[methods].reindex(list(plan.families))
        found.append(len(above(intervals_of(means_of(wide, plan.families)))))
    text = " ".join((ROOT / "docs/objections.md").read_text(encoding="utf-8").split())
    said = f"With 10 features the interval of {found[0]} of {len(methods)} methods lies above 0 in ACC, and with 300"
    large = f"{len(wide.dropna(how='all'))} of the {len(plan.families)} data sets have 300 features"
    assert f"{said} the interval of {found[1]} (Student's t over families; {large})." in text


def test_labels_add_to_methods_and_to_random_rankings(settings):
    for one in settings:
        assert min(one.labelled) >= 0
    assert any(f"has {settings[0].labelled[0]:.1f} points more" in text for text in sentences(settings))


def test_where_a_method_has_scores_at_one_size_only_each_size_says_how_many_there_are():
    large = setting({"mcfs": (1, 3), "rufs": (-1, 1)})._replace(gaps=["UDFS (2 of 3: +0.5 (-1.0 to +2.0))"])
    small = setting({"mcfs": (2, 4), "rufs": (-1, 1), "udfs": (-1, 2)}, 100)
    found = " ".join(sentences([large, small]))
    assert "contains 0 for 1 of 2 methods" in found and "contains 0 for 2 of 3 methods" in found
    assert "lack a score on some data set with 300 features; in brackets on how many data sets they have one" in found
    assert "there: UDFS (2 of 3: +0.5 (-1.0 to +2.0))." in found


def test_a_method_without_some_scores_is_named_with_its_gain_on_the_data_that_it_has():
    texts = gaps_of(scored(), {"dufs", "cae", "inf_fs"})
    gain = with_interval(*recent.gain_over(scored(), "dufs", "random_rankings").values())
    assert texts == ["CAE (5 of 7)", f"DUFS (6 of 7: {gain})", "Inf-FS (0 of 7)"]  # five are too few


def scored():
    """Return scores of two methods since 2019 and what they have to beat, on seven data sets."""
    data = ["umist", "orl", "digits", "allaml", "isolet", "webkb", "coil20"]
    flat = dict.fromkeys(["random_rankings", "greedy_css", "kmeans_ufs", "mcfs", "min_norm"], [50.0] * 7)
    dufs = [53.0, 52.0, 54.0, 53.5, 52.5, 53.0, math.nan]
    return pd.DataFrame({**flat, "dufs": dufs, "cae": [53.0] * 5 + [math.nan] * 2, "spdfs": [49.0] * 7}, data)


def test_a_method_since_2019_is_compared_on_the_data_sets_that_it_has():
    found = recent.since(scored())
    assert list(found.index) == ["kmeans_ufs", "spdfs", "dufs"]  # most data sets first; five of cae are too few
    dufs = found.loc["dufs"]
    assert dufs["lacking"] == ["coil20"] and dufs["n_datasets"] == 6
    for rival in recent.RIVALS:
        assert dufs[f"{rival}_mean"] == pytest.approx(3.0) and 2 < dufs[f"{rival}_low"] < 3 < dufs[f"{rival}_high"] < 4
    assert math.isnan(found.loc["kmeans_ufs", "kmeans_ufs_mean"])


def test_the_sentence_on_recent_methods_names_who_gains_over_whom():
    one = setting({"mcfs": (1, 3)})._replace(recent=recent.since(scored()))
    (text,) = (text for text in sentences([one]) if f"since {recent.SINCE}" in text)
    assert "DUFS over random rankings, DUFS over GreedyCSS, DUFS over K-means UFS" in text and "SPDFS" not in text
    assert "(6 or more)" in text and any(line.startswith("* DUFS: COIL20") for line in recent.lacking([one]))


def test_the_year_of_a_method_is_that_of_its_paper():
    years = {name: recent.year_of(name) for name in ("spca_psd", "socfs", "min_norm", "mine")}
    assert years == {"spca_psd": 2023, "socfs": 2015, "min_norm": 0, "mine": 0}
