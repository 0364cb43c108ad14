"""The report page: self-contained, with links that exist, and what it says of a study."""

import base64
import html
import io
import re

import numpy as np
import pandas as pd
import pytest
from frames import SIZES, SMALL, frames, store
from html_page import Reader
from PIL import Image

from scripts.compare import compare_studies, controls_of
from scripts.compare.evidence_page import line_rows
from scripts.compare.headline import line_table
from scripts.core.study import Study
from scripts.core.views import is_numeric
from scripts.make_report import LIMIT, make_report
from scripts.make_report.trials import MARK, curve, pixels

FAILED = {"dataset": "orl", "method": "mcfs", "status": "failed", "sizes": SIZES}


def report(folder, points):
    store(frames(points), folder)
    return make_report(Study.open(folder, "dgufs", folder / "none"))


def test_a_page_of_many_fits_has_no_curves_and_only_the_figures_that_fit(tmp_path, monkeypatch):
    store(frames(SMALL), tmp_path)
    study = Study.open(tmp_path, "dgufs", tmp_path / "none")
    monkeypatch.setattr("scripts.make_report.content.MANY_FITS", 2)
    monkeypatch.setattr("scripts.make_report.figures.FIGURE_BYTES", 10)
    small = make_report(study)
    assert "As these are more than 2, they have no curves and no pixels." in small and 'class="curve"' not in small
    assert "Left out for their size: ACC against the number of features on" in small
    assert "make_figure figure=acc_vs_size study=dgufs" in small
    monkeypatch.setattr("scripts.make_report.content.TOO_MANY_FITS", 2)
    monkeypatch.setattr("scripts.make_report.figures._drawn", lambda figure: "data:,")  # one is drawn above
    without = make_report(study)
    assert "which are too many for one page" in without and "A cell leads to the fit" not in without
    assert 'class="trial"' not in without and 'href="#t-' not in without


def test_commands_of_a_page_quote_a_folder_with_a_space(tmp_path):
    page = html.unescape(report(tmp_path / "my results", SMALL))
    lines = [line for line in re.findall("<code>(python -m scripts.+?)</code>", page) if "study=" in line]
    assert lines and all(line.endswith(f" 'results_dir={tmp_path}/my results'") for line in lines)


def test_a_page_of_many_data_sets_has_a_row_for_each_method_and_says_where_the_others_are(tmp_path, monkeypatch):
    for name in ("folded.MOST_ROWS", "figures.FIGURE_BYTES"):
        monkeypatch.setattr(f"scripts.make_report.{name}", 20)
    methods = ["laplacian_score", "mcfs", "ndfs", "rufs"]
    points = [
        {"dataset": f"d{place}", "method": method, "acc": {50: [0.4, 0.4 + place / 100]}, "fit_s": place}
        for place in range(9)
        for method in methods
        if (place, method) != (0, "rufs")
    ]
    page = report(tmp_path, points)
    times, audit = (page.split(f'<section id="{name}">')[1].split("</section>")[0] for name in ("times", "audit"))
    assert times.count("<tr>") == 5 and '<td>9 data sets</td><td class="n">9</td><td class="n">4</td>' in times
    assert "make_table study=dgufs metric=seconds" in times
    choices = audit.split("<summary>Ways to choose parameters and size</summary>")[1].split("</details>")[0]
    assert choices.count("<tr>") == 5 and "prints the 35 rows of all data sets" in choices
    assert '<td class="n">42.0 (40.0 to 44.0)</td>' in choices
    assert audit.count("<tr>") < 9 + 5 * 8, "no table of the audit has a row for every method and data set"


# --- the page as text


def test_every_link_leads_somewhere_on_the_page_and_nothing_comes_from_elsewhere(html):
    reader = Reader(html)
    assert len(reader.names) == len(set(reader.names)) and not reader.open
    assert len(reader.links) > 10
    assert set(reader.links) <= {f"#{name}" for name in reader.names}
    assert all(address.startswith("data:") for address in reader.addresses)
    assert "http:" not in html.replace("http://www.w3.org", "") and "https:" not in html
    assert len(html.encode()) < LIMIT


def test_a_cell_links_to_the_fit_behind_it_with_verdict_and_published_value(html):
    trial = frames(SMALL).trials["trial"][1]
    cell = re.search(rf'<td class="([\w -]+)"[^>]*><a href="#t-{trial}">(.*?)</td>', html)
    assert cell[1] == "n within-1-std"
    assert "45.0" in cell[2] and "45.1" in cell[2] and "within 1 std" in cell[2]
    assert f'<article class="trial" id="t-{trial}"' in html


def test_the_lines_of_evidence_are_those_of_the_comparison(html):
    studies = {"dgufs": Study.of("dgufs", frames(SMALL))}
    lines = line_rows(line_table(compare_studies(studies), controls_of(studies)))
    section = html.split('<h3 id="evidence">')[1].split("</table>")[0]
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", section)]
    assert found == [row[1:] for row in lines] and len(found) == 6


def test_counts_of_the_overview_are_those_of_the_comparison(html):
    counts = dict(re.findall(r"data-filter='\"\W+([\w ]+)\"'><b>(\d+)</b>", html))
    assert sum(map(int, counts.values())) == int(re.search(r"<h3>(\d+) published cells", html)[1])
    assert int(counts["within 1 std"]) >= 1 and int(counts["not run"]) > 20


def test_a_study_of_other_data_is_not_compared_with_the_paper_and_text_from_results_cannot_become_markup(tmp_path):
    store(frames([{"dataset": "wine", "method": "mine", "acc": {5: [0.5, 0.6]}}]), tmp_path)
    trials = tmp_path / "dgufs/wine/mine/trials.csv"
    trials.write_text(trials.read_text().replace("converged", "<script>alert(1)</script>"))
    page = make_report(Study.open(tmp_path, "dgufs", tmp_path / "none"))
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page
    assert "published cells" not in page and 'id="dgufs_table2"' not in page and 'id="all_acc"' in page
    assert "1 method on 1 data set; 1 fit, which took" in page


def test_an_empty_study_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has no results"):
        make_report(Study.open(tmp_path, "none"))


def test_a_study_on_which_every_fit_failed_still_has_a_report(tmp_path):
    page = report(tmp_path, [FAILED])
    assert "Not drawn: no method has scores on orl" in page
    assert "<figcaption>ACC against the number of features" not in page


def test_what_failed_is_listed_with_its_error_and_what_is_missing_with_its_command(tmp_path):
    store(frames([*SMALL, FAILED]), tmp_path)
    trials = tmp_path / "dgufs/orl/mcfs/trials.csv"
    stored = pd.read_csv(trials)
    stored.assign(error="ValueError: no <eigenvalue> converged").to_csv(trials, index=False)
    page = make_report(Study.open(tmp_path, "dgufs", tmp_path))
    assert "Not drawn: no method has scores on orl" in page
    drawn = {point["dataset"] for point in SMALL}
    assert page.count("<figcaption>ACC against the number of features") == len(drawn) == 2
    section = page.split('<section id="unfinished">')[1].split("</section>")[0]
    assert "1 fit without scores" in section and "ValueError: no &lt;eigenvalue&gt; converged" in section
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", section)]
    assert ["LapScore", "PIE 10P", "not run"] in rows and ["MCFS", "ORL", "failed"] in rows
    assert re.search(r"<code>python run.py .*method=.*laplacian_score.* dataset=\S*pie10p", section)


def test_numbers_are_known_from_texts():
    numbers = [0.5, -3, "41.2 ± 3.0", "12 %", "3 of 9", "-0.5 to +1.25", "1e-05", "nan", ".5"]
    assert all(map(is_numeric, numbers))
    assert not any(map(is_numeric, ["", "mcfs", "2 data sets", "10p", "not run", None]))


# --- one trial


def test_a_curve_spans_its_frame_and_is_thinned_to_what_shows():
    drawn = curve(np.exp(-np.arange(3000) / 500))
    points = np.array([pair.split(",") for pair in drawn["points"].split()], dtype=float)
    assert len(points) <= 150
    assert points.min(axis=0).tolist() == [0, 0]
    assert points.max(axis=0).tolist() == [drawn["width"], drawn["height"]]
    assert (np.diff(points[:, 1]) >= 0).all()  # a falling objective goes down, and y points down
    assert curve([1.0]) is None and curve([1.0, np.inf]) is None


@pytest.mark.parametrize("order", ["row", "column"])
def test_pixels_are_marked_where_the_features_are(order):
    drawn = pixels((np.zeros((4, 6)), order), [0, 1, 9])
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn["source"].partition(",")[2]))).convert("RGB"))
    marked = (picture == MARK).all(axis=2).ravel(order="C" if order == "row" else "F")
    assert np.flatnonzero(marked).tolist() == [0, 1, 9]
    assert (drawn["height"], drawn["width"]) == picture.shape[:2] == (4, 6)
