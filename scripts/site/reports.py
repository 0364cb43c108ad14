"""The report of a study in pages that a browser opens at once, its figures beside them."""

import base64
import re

CHUNK = 300_000  # characters of a part of a page; a longer article stands alone
TOGETHER = ("overview", "comparison")  # the first page: the one filters the other
FIGURE = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')


def split(text):
    """Return pages and figures of a report by name: report.html, and one, or several if long, of any other section."""
    head, *sections = re.split(r'(?=<section id=")', text)
    sections[-1], tail = sections[-1].split("</main>")
    figures = {}

    def beside(found):
        name = f"figure-{len(figures) + 1}.svg"
        figures[name] = base64.b64decode(found[1]).decode()
        return f'src="{name}"'

    named = {re.match(r'<section id="(\w+)"', section)[1]: FIGURE.sub(beside, section) for section in sections}
    pages = {"report.html": "".join(named.pop(name) for name in TOGETHER if name in named)}
    for name, section in named.items():
        for number, part in enumerate(chunks(section)):
            pages[f"{name}{f'-{number + 1}' if number else ''}.html"] = part
    places = {}
    for file, part in pages.items():
        for name in re.findall(r'\bid="([^"]+)"', part):
            places.setdefault(name, file)
    head = head.replace("img-src data:", "img-src 'self' data: file:")
    return figures | {
        file: re.sub(
            r'href="#([^"]+)"', lambda found, file=file: _moved(found, file, places), f"{head}{part}</main>{tail}"
        )
        for file, part in pages.items()
    }


def chunks(section):
    """Yield a section in parts that begin with its title, cut between its articles."""
    first, *articles = re.split(r"(?=<article)", section)
    if not articles:
        yield section
        return
    articles[-1] = articles[-1].removesuffix("</section>\n\n").removesuffix("</section>\n").removesuffix("</section>")
    part = ""
    for article in articles:
        if part and len(part) + len(article) > CHUNK:
            yield f"{first}{part}</section>\n"
            part = ""
        part += article
    yield f"{first}{part}</section>\n"


def _moved(link, file, places):
    """Return a link to a part of the report as it is on one of its pages."""
    there = places.get(link[1], file)
    return link[0] if there == file else f'href="{there}#{link[1]}"'
