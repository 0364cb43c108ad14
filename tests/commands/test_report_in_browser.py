"""The page of `scripts.make_report` in a real browser: readable at any width."""

import browser
import pytest

pytestmark = pytest.mark.skipif(browser.find_chromium() is None, reason="no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def file(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "a report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False), (1900, True)])
def test_the_page_fits_its_window_uses_its_right_half_and_asks_for_nothing(file, width, dark):
    with browser.open_page(file, width, 900, dark) as page:
        assert page.run("document.documentElement.scrollWidth") == width
        assert not page.errors and all(address.startswith(("file:", "data:")) for address in page.requests)
        left = page.run("document.querySelector('#best-nmi').getBoundingClientRect().left")
        assert (left > width / 2 - 30) == (width > 1000)
        background = page.run("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(20, 23, 26)" if dark else "rgb(252, 252, 251)")
