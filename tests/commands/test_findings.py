"""The tables of the findings, and the figure of gains by size."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from pages import above

from ufs_bench.metrics.study import ALL
from ufs_bench.scripts.core.conf import ROOT
from ufs_bench.scripts.core.text import filled
from ufs_bench.scripts.findings import gain_lines, lacking_lines, plan, seconds_of, sizes
from ufs_bench.scripts.findings.plan import SCORES, WEIGHTS, by_size, estimates, intervals_of, means_of
from ufs_bench.scripts.make_figure.style import PHONE


@pytest.fixture(scope="module")
def found(fair):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "FLIPS", plan.FLIPS // 100)
        patch.setattr(plan, "FLIPS_WITHOUT", plan.FLIPS_WITHOUT // 10)
        return estimates(fair)


def test_a_part_between_marks_is_replaced_and_a_page_without_its_marks_is_refused(tmp_path):
    page = tmp_path / "page.md"
    marked = "Before.\n<!-- printed by python -m scripts.some: part -->\n{}<!-- end -->\nAfter.\n"
    page.write_text(marked.format(""), encoding="utf-8")
    page.write_text(filled(page, "scripts.some", {"part": "a\\nb"}), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == marked.format("a\\nb\n")
    assert filled(page, "scripts.some", {"part": "c"}) == marked.format("c\n")
    with pytest.raises(ValueError, match=r"page\.md must have one part <!-- printed by python -m scripts.other"):
        filled(page, "scripts.other", {"part": "text"})


def test_the_table_of_gains_has_each_method_and_variant_once_and_p_of_the_plan_for_methods_alone(fair, found):
    variants = sizes.with_variants(fair, found)
    names = {name: name for name in variants.index.unique("method")}
    head, *rows, whole = gain_lines(fair, found, variants, names)
    assert (
        sorted(row[0].strip("*") for row in rows) == sorted(names)
        and len({len(row) for row in [head, whole, *rows]}) == 1
    )
    assert [row[0] for row in rows if row[0][0] != "*"] == [row[0] for row in rows if row[4]]
    bold = {row[0] for row in rows if "**" in row[4] + row[5]}
    assert bold == {*found.named(1).index.unique("method"), *found.named(-1).index.unique("method")}
    nmi = [float(row[3].split()[0]) for row in rows]
    assert nmi == sorted(nmi, reverse=True)
    assert int({row[0]: row[1] for row in rows}["spca_psd"]) == 35 - len(found.not_run["spca_psd"])
    lacking = lacking_lines(found, names)
    assert {row[0] for row in lacking[1:]} == {row[0] for row in rows if row[4] and row[1] != whole[1]}


def test_fits_that_learned_nothing_are_counted_and_gains_where_all_learned_are_apart(fair, found):
    table = sizes.collapsed(fair, found)
    fits = fair.trials.query("is_default and method == 'sf2sog'")
    fits = fits[fits["dataset"].isin(found.families)]
    assert table.loc["sf2sog", "none"] == fits["status"].isin(["collapsed", "diverged"]).sum()
    learned = set(fits["dataset"]) - set(fits.loc[fits["status"].isin(["collapsed", "diverged"]), "dataset"])
    gains = plan.curves(fair)["sf2sog", "nmi"].loc[sorted(learned)]
    mean = gains.groupby(found.families).mean().mean()
    assert table.loc["sf2sog", "learned"] == len(learned) and table.loc["sf2sog", "mean"] == pytest.approx(mean)


def test_seconds_are_of_the_data_sets_that_count(fair, found):
    own = fair.trials.query("is_default and method == 'socfs' and nth_seed == 0").set_index("dataset")["fit_s"]
    assert len(own) > len(found.families)
    assert seconds_of(fair, found.families)["socfs"] == own[list(found.families)].median()


def test_what_the_objections_say_of_intervals_at_one_size_is_what_the_study_says(fair, found):
    gains, counts = by_size(fair), []
    for size in (10, 300):
        wide = gains.xs(size, level="n_selected")["acc"].unstack("method")[found.methods].reindex(list(found.families))
        counts.append(len(above(intervals_of(means_of(wide, found.families)))))
    text = " ".join((ROOT / "docs/objections.md").read_text(encoding="utf-8").split())
    apart = "Each interval is taken by itself"
    said = f"With 10 features the interval of {counts[0]} of {len(found.methods)} methods lies above 0 in ACC"
    large = f"{len(wide.dropna(how='all'))} of the {len(found.families)} data sets have 300 features"
    assert f"{said}, and with 300 the interval of {counts[1]}. {apart} (Student's t over families; {large})." in text


def test_lines_are_means_over_families_and_names_do_not_overlap(fair, found):
    figure = sizes.draw_sizes(fair, found)
    figure.draw_without_rendering()
    assert figure.get_figwidth() <= PHONE
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert len(texts) > 20 and min(text.get_fontsize() for text in texts) >= 7
    gainers = found.named(1).index.unique("method")
    for axis, score in zip(figure.axes, SCORES, strict=True):
        drawn = [line for line in axis.lines if len(line.get_xdata()) == len(WEIGHTS)]
        assert len(drawn) == len(found.methods) + 1
        own = by_size(fair).xs((ALL, 100), level=("method", "n_selected"))[score].reindex(list(found.families))
        mean = own.groupby(found.families).mean().mean()
        assert any(np.isclose(line.get_ydata()[3], mean) and line.get_linestyle() == "--" for line in drawn)
        assert sum(line.get_linewidth() > 1 for line in drawn) == len(gainers) + 1
        boxes = [text.get_window_extent() for text in axis.texts]
        assert len(boxes) == len(gainers) + 1 and all(box.x1 <= figure.bbox.x1 for box in boxes)
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    svg = (ROOT / "docs/sizes.svg").read_text(encoding="utf-8")
    assert re.search(r"<svg", svg) and pd.notna(mean)
