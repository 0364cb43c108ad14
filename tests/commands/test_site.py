"""The web site: every link of it leads somewhere, and every method and data set has its page."""

import html as entities
import inspect
import os.path
import re
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("markdown_it", reason="pip install -e '.[site]'")

from datasets import load_dataset
from runners.experiment.method import load_class
from runners.store.reference import shipped_studies
from scripts import site
from scripts.core.conf import ROOT, find
from scripts.core.published import PAPERS
from scripts.method_notes import classes, sections
from scripts.site import datasets, methods, reports
from scripts.site.pages import Pages, title_of, to_html


class Links:
    """The links and the names of a page; a parser of HTML takes ten seconds for all of them."""

    def __init__(self, text):
        tags = " ".join(re.findall(r"<[a-z][^<>]*>", text))
        values = {name: re.findall(rf'\s{name}="([^"]*)"', tags) for name in ("href", "src", "id")}
        self.links = [entities.unescape(value) for value in values["href"] + values["src"]]
        self.names = set(values["id"])


def test_every_link_of_the_site_leads_to_a_file_and_a_title_of_it(built):
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}
    seen = 0
    for path, page in pages.items():
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
    assert seen > 5000
    assert all("../../results.html" in page.links for path, page in pages.items() if path.parent.name == "dgufs")


def test_every_page_is_on_the_site_and_nothing_is_asked_of_another_host(built):
    assert {str(path.relative_to(built)) for path in built.rglob("*")} >= {
        "docs/findings.svg", "results/dgufs/tables.html", "leaderboard.json"
    }  # fmt: skip
    pages = {path.with_suffix("").relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")}
    assert {path.with_suffix("").relative_to(built) for path in (built / "docs").rglob("*.html")} == pages
    for path in built.rglob("*.html"):
        assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="https?:', path.read_text(encoding="utf-8")), path


def test_the_start_page_shows_the_finding_and_leads_to_the_results(built):
    start = (built / "index.html").read_text(encoding="utf-8")
    assert 'src="docs/findings.svg"' in start and "cannot be told from random rankings" in entities.unescape(start)
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
    monkeypatch.setattr(site.Pages, "written", lambda self: [("index.html", "<main><h1>new</h1></main>")])
    monkeypatch.setattr(site, "of_board", lambda board: {})
    folder = tmp_path / "site"
    site.build(folder, [])
    (folder / "old.html").write_text("old")
    site.build(folder, [])
    assert not (folder / "old.html").exists() and (folder / "index.html").read_text() == "<main><h1>new</h1></main>"
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="not of an earlier site"):
        site.build(tmp_path, [])
    assert (tmp_path / "mine.txt").exists()


def test_a_report_is_split_without_losing_a_part_and_its_links_follow(html):
    files = reports.split(html)
    pages = {name: Links(text) for name, text in files.items() if name.endswith(".html")}
    whole = Links(html)
    assert set().union(*(page.names for page in pages.values())) == whole.names
    assert sum(text.count("<article") for text in files.values()) == html.count("<article")
    assert len(pages) > 6 and any(name.endswith(".svg") for name in files)
    for name, page in pages.items():
        for link in page.links:
            file, _, part = link.partition("#")
            if not link.startswith(("http", "data:")):
                assert (file or name) in files and (not part or part in pages[file or name].names), (name, link)


def test_a_long_section_of_a_report_is_cut_between_its_articles(monkeypatch):
    monkeypatch.setattr(reports, "CHUNK", 60)
    articles = [f'<article id="a{number}">{number:030}</article>' for number in range(5)]
    parts = list(reports.chunks(f'<section id="x"><h2>X</h2>{"".join(articles)}</section>\n'))
    assert len(parts) > 1 and all(part.startswith('<section id="x"><h2>X</h2><article') for part in parts)
    assert re.findall(r"<article.*?</article>", "".join(parts)) == articles
    assert all(part.count("</section>") == 1 for part in parts)


def test_figures_take_the_ink_of_the_page_and_have_no_white_box(built):
    svg = (built / "docs/findings.svg").read_text(encoding="utf-8")
    stored = (ROOT / "docs/findings.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme:dark" in svg and "fill: #ffffff" in stored
    assert not re.search(r'<g id="patch_\d+">\s*<path[^>]*fill: #ffffff', svg) and "#000000" not in svg
    drawn = re.findall(r'd="([^"]*)"', stored)
    assert re.findall(r'd="([^"]*)"', svg) == drawn and len(drawn) > 50


def test_the_page_of_a_method_has_its_parameters_notes_and_settings(built):
    for target, users in classes():
        page = " ".join(entities.unescape(re.sub("<[^>]+>", "", (built / methods.address(users)).read_text())).split())
        found = sections(inspect.getdoc(load_class(target)))
        for line in re.findall(r"^(\w+) : ", found.get("Parameters", ""), re.MULTILINE):
            assert f"{line} (" in page, (target, line)
        for words in ("Differs from", "Known pathologies"):
            assert (words in found.get("Notes", "")) == (words in page), (target, words)
        assert all(name in page for name in users)


def test_the_page_of_a_method_says_what_became_of_its_paper(built):
    page = entities.unescape((built / "methods/rufs.html").read_text(encoding="utf-8"))
    assert "docs/claims.html" in page and "not borne out" in page and "within 1 std" in page
    assert "seconds grow as n^1.8" in page and "RUFS (released)" in page and "docs/methods/rufs.html" in page


def test_the_page_of_a_data_set_says_what_it_is_and_what_there_is_to_gain(built):
    page = entities.unescape((built / "data/umist.html").read_text(encoding="utf-8"))
    assert "575 samples, 644 features, 20 classes, images of 28 x 23" in page and "Terms: None stated" in page
    room = page.split("Room for selection")[1].split("Methods on it")[0]
    random, every, best = (
        [float(text) for text in re.findall(r'<td class="n">([\d.]+)</td>', row)]
        for row in re.findall(r'<tr><th scope="row">(?:Random rankings|All features|Best method)<.*?</tr>', room)[:3]
    )
    assert len(random) == len(every) == len(best) == 6
    assert re.findall("<p><strong>(.*?)</strong></p>\\s*(?:<p>)?<svg", room) == ["ACC", "NMI", "1-NN accuracy"]
    assert all(a < b for a, b in zip(random, best, strict=True)) and len(set(every)) == 1
    assert "has no method on it yet" in (built / "data/webkb4.html").read_text(encoding="utf-8")


def test_a_picture_is_made_only_of_data_whose_terms_allow_it(monkeypatch):
    data = load_dataset("digits")
    spec = find("dataset", "digits")
    monkeypatch.setattr(datasets, "load_dataset", lambda name, data_dir, download: data)
    assert 'class="pixels"' in datasets.picture("digits", spec)[0] and "CC BY" in datasets.picture("digits", spec)[1]
    for terms in (
        "None stated by the repository.",
        "MIT stated by the repository for its code; none stated for the data.",
    ):
        assert not datasets.picture("digits", {**spec, "terms": terms})
    assert not datasets.picture("digits", {**spec, "image": None})
    assert not datasets.picture("digits", {**spec, "data_sha256": "0"})
