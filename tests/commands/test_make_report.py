"""The report page: self-contained, with links that exist, and usable in a real browser."""

import re
from html.parser import HTMLParser
from pathlib import Path

import browser
import numpy as np
import pandas as pd
import pytest
from frames import PROTOCOL, frames, store

from scripts.compare import compare_studies, controls_of
from scripts.compare.evidence_page import line_rows
from scripts.compare.headline import line_table
from scripts.core.study import Study
from scripts.make_report import LIMIT, is_numeric, make_report
from scripts.make_report.trials import MARK, curve, pixels

ROOT = Path(__file__).resolve().parents[2]
SIZES = PROTOCOL["sizes"]
RANKING = list(range(300))
POINTS = [
    {"dataset": "umist", "method": "all_features", "acc": {644: [0.40, 0.44]}},
    {"dataset": "umist", "method": "laplacian_score", "acc": {size: [0.44, 0.46] for size in SIZES}},
    {"dataset": "umist", "method": "mcfs", "acc": {size: [size / 1000, 0.3] for size in SIZES}, "ranking": RANKING},
    {"dataset": "umist", "method": "dgufs", "acc": {50: [0.2, 0.3]}, "status": "collapsed", "trace": [3, 2, 1.5, 1.4]},
    {"dataset": "umist", "method": "dgufs", "params": {"alpha": 1}, "acc": {50: [0.1, 0.1]}, "learned": {50: 0.9}},
    {"dataset": "pie10p", "method": "mcfs", "acc": {size: [0.31, 0.33] for size in SIZES}},
]
needs_browser = pytest.mark.skipif(browser.find_chromium() is None, reason="no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    store(frames(POINTS), folder)
    return make_report(Study.open(folder, "dgufs", folder / "none"))


def test_a_page_of_many_fits_has_no_curves_and_only_the_figures_that_fit(tmp_path, monkeypatch):
    store(frames(POINTS), tmp_path)
    study = Study.open(tmp_path, "dgufs", tmp_path / "none")
    monkeypatch.setattr("scripts.make_report.page.MANY_FITS", 2)
    monkeypatch.setattr("scripts.make_report.figures.FIGURE_BYTES", 10)
    small = make_report(study)
    assert "As these are more than 2, they have no curves and no pixels." in small and 'class="curve"' not in small
    assert "Left out for their size: ACC against the number of features on" in small
    assert "make_figure figure=acc_vs_size study=dgufs" in small
    monkeypatch.setattr("scripts.make_report.page.TOO_MANY_FITS", 2)
    without = make_report(study)
    assert "which are too many for one page" in without and "A cell leads to the fit" not in without
    assert 'class="trial"' not in without and 'href="#t-' not in without


def test_a_page_of_many_data_sets_has_a_row_for_each_method_and_says_where_the_others_are(tmp_path, monkeypatch):
    for name in ("folded.MOST_ROWS", "times.MOST_ROWS", "figures.FIGURE_BYTES"):
        monkeypatch.setattr(f"scripts.make_report.{name}", 20)
    methods = ["laplacian_score", "mcfs", "ndfs", "rufs"]
    points = [
        {"dataset": f"d{place}", "method": method, "acc": {50: [0.4, 0.4 + place / 100]}, "fit_s": place}
        for place in range(9)
        for method in methods
        if (place, method) != (0, "rufs")
    ]
    store(frames(points), tmp_path)
    page = make_report(Study.open(tmp_path, "dgufs", tmp_path / "none"))
    times, audit = (page.split(f'<section id="{name}">')[1].split("</section>")[0] for name in ("times", "audit"))
    assert times.count("<tr>") == 5 and '<td>9 data sets</td><td class="n">9</td><td class="n">4</td>' in times
    assert "make_table study=dgufs metric=seconds" in times
    choices = audit.split("<summary>Ways to choose parameters and size</summary>")[1].split("</details>")[0]
    assert choices.count("<tr>") == 5 and "prints the 35 rows of all data sets" in choices
    assert '<td class="n">42.0 (40.0 to 44.0)</td>' in choices
    assert audit.count("<tr>") < 9 + 5 * 8, "no table of the audit has a row for every method and data set"


@pytest.fixture(scope="module")
def file(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "a report.html"
    path.write_text(html, encoding="utf-8")
    return path


class Reader(HTMLParser):
    """Reads the names, links, addresses and the balance of tags of a page."""

    VOID = ("meta", "link", "img", "br", "input", "polyline", "wbr")

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.addresses, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.addresses += [attrs[name] for name in ("src", "href") if name in attrs and tag != "a"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


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
    trial = frames(POINTS).trials["trial"][1]
    cell = re.search(rf'<td class="([\w -]+)"[^>]*><a href="#t-{trial}">(.*?)</td>', html)
    assert cell[1] == "n within-1-std"
    assert "45.0" in cell[2] and "45.1" in cell[2] and "within 1 std" in cell[2]
    assert f'<article class="trial" id="t-{trial}"' in html


def test_the_lines_of_evidence_are_those_of_the_comparison(html):
    study = Study("dgufs", frames(POINTS))
    studies = {"dgufs": study}
    lines = line_rows(line_table(compare_studies(studies), controls_of(studies)))
    section = html.split('<h3 id="evidence">')[1].split("</table>")[0]
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", section)]
    assert found == [row[1:] for row in lines] and len(found) == 6


def test_counts_of_the_overview_are_those_of_the_comparison(html):
    counts = dict(re.findall(r"data-filter='\"\W+([\w ]+)\"'><b>(\d+)</b>", html))
    assert sum(map(int, counts.values())) == int(re.search(r"<h3>(\d+) published cells", html)[1])
    assert int(counts["within 1 std"]) >= 1 and int(counts["not run"]) > 20


def test_a_study_without_a_data_set_of_the_paper_is_not_compared_with_it(tmp_path):
    store(frames([{"dataset": "wine", "method": "mcfs", "acc": {5: [0.5, 0.6]}}]), tmp_path)
    page = make_report(Study.open(tmp_path, "dgufs", tmp_path))
    assert "published cells" not in page and 'id="dgufs_table2"' not in page and 'id="all_acc"' in page
    assert "1 method on 1 data set; 1 fit, which took" in page


def test_text_from_results_cannot_become_markup(tmp_path):
    hostile = {"dataset": "umist", "method": "<script>alert(1)</script>", "acc": {50: [0.5, 0.5]}}
    store(frames([hostile | {"method": "mine"}], study="own"), tmp_path)
    trials = tmp_path / "own/umist/mine/trials.csv"
    trials.write_text(trials.read_text().replace("converged", "<script>alert(1)</script>"))
    page = make_report(Study.open(tmp_path, "own", tmp_path))
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_an_empty_study_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has no results"):
        make_report(Study.open(tmp_path, "none"))


@pytest.mark.parametrize("others", [POINTS, []])
def test_a_study_with_a_data_set_on_which_every_fit_failed_still_has_a_report(others, tmp_path):
    failed = {"dataset": "orl", "method": "mcfs", "status": "failed", "sizes": SIZES}
    store(frames([*others, failed]), tmp_path)
    page = make_report(Study.open(tmp_path, "dgufs", tmp_path))
    assert "Not drawn: no method has scores on orl" in page
    assert page.count("<figcaption>ACC against the number of features") == len({point["dataset"] for point in others})


def test_what_failed_is_listed_with_its_error_and_what_is_missing_with_its_command(tmp_path):
    failed = {"dataset": "orl", "method": "mcfs", "status": "failed", "sizes": SIZES}
    store(frames([*POINTS, failed]), tmp_path)
    trials = tmp_path / "dgufs/orl/mcfs/trials.csv"
    stored = pd.read_csv(trials)
    stored.assign(error="ValueError: no <eigenvalue> converged").to_csv(trials, index=False)
    section = make_report(Study.open(tmp_path, "dgufs", tmp_path)).split('<section id="unfinished">')[1]
    section = section.split("</section>")[0]
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
    import base64
    import io

    from PIL import Image

    drawn = pixels((np.zeros((4, 6)), order), [0, 1, 9])
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn["source"].partition(",")[2]))).convert("RGB"))
    marked = (picture == MARK).all(axis=2).ravel(order="C" if order == "row" else "F")
    assert np.flatnonzero(marked).tolist() == [0, 1, 9]
    assert (drawn["height"], drawn["width"]) == picture.shape[:2] == (4, 6)


# --- the page in a browser

SHOWN = "[...document.querySelectorAll('#comparison tbody tr')].filter(row => row.checkVisibility())"


@pytest.fixture
def page(file, tmp_path):
    with browser.open_page(file, tmp_path) as opened:
        yield opened


def column(page, table, index):
    script = f"[...document.querySelectorAll('{table} tbody tr')].map(row => row.cells[{index}].dataset.v)"
    return [float(text) if text else None for text in page.run(script)]


@needs_browser
def test_a_column_sorts_both_ways_with_the_empty_cells_last(page):
    button = "#all_acc th:nth-child(3) button"  # UMIST
    page.click(button)
    values = column(page, "#all_acc table", 2)
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=True) and len(known) > 3
    assert values[: len(known)] == known
    page.run(f"document.querySelector('{button}').focus()")
    page.press("Enter", "Enter")
    assert column(page, "#all_acc table", 2)[: len(known)] == known[::-1]
    assert page.run("document.querySelector('#all_acc th:nth-child(3)').getAttribute('aria-sort')") == "ascending"


@needs_browser
def test_names_sort_by_the_alphabet(page):
    page.click("#comparison th:first-child button")
    names = page.run("[...document.querySelectorAll('#comparison tbody th')].map(cell => cell.textContent)")
    assert names == sorted(names, key=str.lower) and len(set(names)) > 2


@needs_browser
def test_a_filter_keeps_the_rows_with_all_words_and_counts_them(page):
    page.click("#comparison input")
    page.type("lapscore acc")
    rows = page.run(f"{SHOWN}.map(row => row.textContent)")
    assert len(rows) == 1 and "LapScore" in rows[0]
    assert page.run("document.querySelector('#comparison [role=status]').textContent").startswith("1 of ")


@needs_browser
def test_a_verdict_of_the_overview_filters_the_published_cells(page):
    page.click('a[data-filter*="within 1 std"]')
    page.wait_for("location.hash === '#comparison'")
    verdicts = page.run(f"{SHOWN}.map(row => row.cells[6].textContent)")
    assert verdicts and all("within 1 std" in text for text in verdicts)


@needs_browser
def test_a_link_leads_to_the_fit_even_where_a_filter_hides_it(page):
    page.click("#trials input")
    page.type("nothing like this")
    assert page.run("[...document.querySelectorAll('.trial')].every(item => item.hidden)")
    page.click("#all_acc td a")
    page.wait_for("document.activeElement.classList.contains('trial')")
    assert page.run("'#' + document.activeElement.id === location.hash")
    assert page.run("document.activeElement.querySelector('dl').checkVisibility()")
    page.wait_for(
        "Math.abs(document.activeElement.getBoundingClientRect().top) < innerHeight / 2"
    )  # it scrolls smoothly


@needs_browser
def test_on_paper_are_the_fits_that_are_open_and_no_others(page):
    page.send("Emulation.setEmulatedMedia", media="print")
    printed = "[...document.querySelectorAll('.trial')].filter(fit => fit.checkVisibility()).length"
    assert page.run(printed) == 0 and not page.run("document.querySelector('#trials').checkVisibility()")
    assert page.run("document.querySelector('#tables').checkVisibility()")
    page.run("document.querySelector('.fit').open = true")
    assert page.run(printed) == 1


@needs_browser
def test_numbers_are_aligned_to_the_right_and_words_to_the_left(page):
    columns = (
        "[...document.querySelectorAll('{} tbody tr:first-child > *')].map(cell => getComputedStyle(cell).textAlign)"
    )
    assert page.run(columns.format("#all_acc")) == ["left", "right", "right"]
    assert page.run(columns.format("#times"))[:3] == ["left", "left", "right"]


@needs_browser
def test_the_keyboard_reaches_sections_headers_and_cells(page):
    kinds = set()
    for _ in range(80):
        page.press("Tab", "Tab")
        kinds.add(
            page.run("document.activeElement.tagName + '.' + (document.activeElement.closest('nav, th, td')?.tagName)")
        )
    assert {"A.NAV", "BUTTON.TH", "A.TD"} <= kinds


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_complains_of_nothing_and_asks_for_nothing(file, tmp_path, width, dark):
    with browser.open_page(file, tmp_path, width, 844, dark) as page:
        page.click("#all_acc td a")
        page.wait_for("location.hash.startsWith('#t-')")
        assert page.run("document.documentElement.scrollWidth") <= width
        if width == 1280:
            ranks = "[...document.querySelectorAll('#ranks .scroll')]"
            assert page.run(f"{ranks}.every(region => region.scrollWidth <= region.clientWidth)")
        assert not page.errors
        assert {address for address in page.requests if not address.startswith("data:")} == {file.resolve().as_uri()}, (
            page.requests
        )
        light = page.run("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
        assert (np.mean(light) < 100) == dark


CONTRAST = """(() => {
  const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", {willReadFrequently: true});
  const light = (...layers) => {
    for (const layer of layers) { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  const tints = ["agree", "above", "below"].map((name) => `hsl(${get("--" + name)} / ${get("--tint")})`);
  const plain = [get("--page"), get("--raised")], on = (name, ...ground) => ratio(light(...ground), light(get(name)));
  return [
    ...plain.flatMap((ground) => ["--text", "--faint", "--link"].map((name) => on(name, ground))),
    ...tints.map((tint) => on("--text", get("--raised"), tint)),
  ];
})()"""


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for_on_every_ground(file, tmp_path, dark):
    with browser.open_page(file, tmp_path, dark=dark) as page:
        ratios = page.run(CONTRAST)
    assert len(ratios) == 9 and min(ratios) >= 4.5, ratios
