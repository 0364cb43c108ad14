"""The web site: every link of it leads somewhere, and its tables can be sorted without a server."""

import html
import os.path
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("markdown_it", reason="pip install -e '.[site]'")

from runners.reference import shipped_studies
from scripts import site
from scripts.core.conf import ROOT
from scripts.core.published import PAPERS
from scripts.site.pages import Pages, layout, title_of, to_html
from tests.browser import find_chromium, open_page


class Links(HTMLParser):
    """The links and the names of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found[name] for name in ("href", "src") if name in found]
        self.names.add(found.get("id"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder of the site, with the tables of one shipped study and a short page in place of its report."""
    folder = tmp_path_factory.mktemp("site") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            site,
            "make_report",
            lambda study, selection: layout("Report", f'<p class="kicker">{study.name}</p>', "results/x/y.html"),
        )
        files = site.build(folder, ["dgufs"])
    assert {str(path) for path in files} >= {"index.html", "docs/findings.svg", "results/dgufs/acc.html"}
    return folder


def test_every_link_of_the_site_leads_to_a_file_and_a_title_of_it(built):
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}
    seen = 0
    for path, page in pages.items():
        if path.name == "report.html":
            assert "../../results.html" in page.links, path
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("https", "http", "data"), (path, link)
                continue
            target = (
                built / os.path.normpath((path.parent / unquote(parts.path)).relative_to(built)) if parts.path else path
            )
            assert target.is_file(), (path, link)
            assert not parts.fragment or parts.fragment in pages[target].names, (path, link)
            seen += 1
    assert seen > 300


def test_every_page_is_on_the_site_and_nothing_is_asked_of_another_host(built):
    pages = {path.with_suffix("").relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")}
    assert {path.with_suffix("").relative_to(built) for path in (built / "docs").rglob("*.html")} == pages
    for path in built.rglob("*.html"):
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', path.read_text(encoding="utf-8")), path


def test_the_start_page_shows_the_finding_and_leads_to_the_results(built):
    start = (built / "index.html").read_text(encoding="utf-8")
    assert 'src="docs/findings.svg"' in start and "cannot be told from random rankings" in html.unescape(start)
    assert 'href="results.html"' in start and 'href="results/dgufs/report.html"' in (built / "results.html").read_text()


def test_what_is_said_of_a_study_of_no_paper_leads_to_a_page():
    studies = {name for name in shipped_studies() if name not in PAPERS}
    assert studies <= site.ABOUT.keys()
    for text in site.ABOUT.values():
        (page,) = re.findall(r"\((docs/\w+)\.html\)", text)
        assert (ROOT / f"{page}.md").is_file()


def test_titles_have_the_names_that_links_on_github_lead_to():
    text = to_html("## What `a` & B do, twice\n\n## x\n\n## x\n", lambda *given: given)
    assert re.findall(r'id="([^"]+)"', text) == ["what-a--b-do-twice", "x", "x-1"]
    assert title_of("words\n# One `two`\n# Three") == "One `two`"


def test_a_link_to_nothing_is_refused_and_a_page_is_called_by_its_title(tmp_path):
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/a.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# The title\n[a.md](docs/a.md)" if name == "README.md" else "# The title\n")
    texts = dict(Pages(tmp_path).written())
    assert '<a href="docs/a.html">The title</a>' in texts["index.html"]
    (tmp_path / "docs/a.md").write_text("# A\n[b](b.md)")
    with pytest.raises(ValueError, match=r"docs/a\.md links to b\.md"):
        list(Pages(tmp_path).written())


def test_an_earlier_site_is_replaced_and_other_files_are_never_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(site.Pages, "written", lambda self: [("index.html", "new")])
    folder = tmp_path / "site"
    site.build(folder, [])
    (folder / "old.html").write_text("old")
    site.build(folder, [])
    assert not (folder / "old.html").exists() and (folder / "index.html").read_text() == "new"
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="not of an earlier site"):
        site.build(tmp_path, [])
    assert (tmp_path / "mine.txt").exists()


@pytest.mark.slow
@pytest.mark.skipif(not find_chromium(), reason="no Chromium")
def test_a_reader_sorts_a_table_from_disk(built, tmp_path):
    column = "[...document.querySelectorAll('tbody td:nth-child(2)')].map((cell) => parseFloat(cell.textContent))"
    for page in ("index.html", "results/dgufs/acc.html"):
        with open_page(built / page, tmp_path / page.replace("/", "-"), width=390) as opened:
            opened.click("thead th:nth-child(2) button")
            values = [value for value in opened.run(column) if value is not None]
            assert len(values) > 3 and values == sorted(values, reverse=True)
            assert not opened.errors and opened.run("document.documentElement.scrollWidth") == 390
