"""The page of `scripts.make_report` in a real browser: sorted, filtered, printed, and readable at any width."""

import browser
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(browser.find_chromium() is None, reason="no Chromium here: apt-get install chromium")
SHOWN = "[...document.querySelectorAll('#comparison tbody tr')].filter(row => row.checkVisibility())"


@pytest.fixture(scope="module")
def file(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "a report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture
def page(file):
    with browser.open_page(file) as opened:
        yield opened


def column(page, table, index):
    script = f"[...document.querySelectorAll('{table} tbody tr')].map(row => row.cells[{index}].dataset.v)"
    return [float(text) if text else None for text in page.run(script)]


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


def test_names_sort_by_the_alphabet(page):
    page.click("#comparison th:first-child button")
    names = page.run("[...document.querySelectorAll('#comparison tbody th')].map(cell => cell.textContent)")
    assert names == sorted(names, key=str.lower) and len(set(names)) > 2


def test_a_filter_keeps_the_rows_with_all_words_and_counts_them(page):
    page.click("#comparison input")
    page.type("lapscore acc")
    rows = page.run(f"{SHOWN}.map(row => row.textContent)")
    assert len(rows) == 1 and "LapScore" in rows[0]
    assert page.run("document.querySelector('#comparison [role=status]').textContent").startswith("1 of ")


def test_a_verdict_of_the_overview_filters_the_published_cells(page):
    page.click('a[data-filter*="within 1 std"]')
    page.wait_for("location.hash === '#comparison'")
    verdicts = page.run(f"{SHOWN}.map(row => row.cells[6].textContent)")
    assert verdicts and all("within 1 std" in text for text in verdicts)


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


def test_on_paper_are_the_fits_that_are_open_and_no_others(page):
    page.send("Emulation.setEmulatedMedia", media="print")
    printed = "[...document.querySelectorAll('.trial')].filter(fit => fit.checkVisibility()).length"
    assert page.run(printed) == 0 and not page.run("document.querySelector('#trials').checkVisibility()")
    assert page.run("document.querySelector('#tables').checkVisibility()")
    page.run("document.querySelector('.fit').open = true")
    assert page.run(printed) == 1


def test_numbers_are_aligned_to_the_right_and_words_to_the_left(page):
    columns = (
        "[...document.querySelectorAll('{} tbody tr:first-child > *')].map(cell => getComputedStyle(cell).textAlign)"
    )
    assert page.run(columns.format("#all_acc")) == ["left", "right", "right"]
    assert page.run(columns.format("#times"))[:3] == ["left", "left", "right"]


def test_the_keyboard_reaches_sections_headers_and_cells(page):
    kinds = set()
    for _ in range(80):
        page.press("Tab", "Tab")
        kinds.add(
            page.run("document.activeElement.tagName + '.' + (document.activeElement.closest('nav, th, td')?.tagName)")
        )
    assert {"A.NAV", "BUTTON.TH", "A.TD"} <= kinds


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_complains_of_nothing_and_asks_for_nothing(file, width, dark):
    with browser.open_page(file, width, 844, dark) as page:
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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for_on_every_ground(file, dark):
    with browser.open_page(file, dark=dark) as page:
        ratios = page.run(CONTRAST)
    assert len(ratios) == 9 and min(ratios) >= 4.5, ratios
