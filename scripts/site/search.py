"""The index of the search page: the words of every section of every page, in a file that a page on disk may load."""

import json
import re
from html import unescape

# Nobody looks for them, and every section has them.
COMMON = frozenset(
    "a an and are as at be by for from has have in is it its no not of on or that the they this to with".split()
)
TITLE = re.compile(r'<(h[1-3])(?: id="([^"]*)")?[^>]*>(.*?)</\1>', re.DOTALL)
WORD = re.compile(r"[^\W\d_][\w'-]{1,30}")


def index_of(pages):
    """Return the text of the script with the index, from the pages' HTML by their paths.

    An entry is the title of a page, that of a section, its address, and its words, each once.
    """
    entries = [entry for path, page in sorted(pages.items()) for entry in sections(path, page)]
    return f"const INDEX = {json.dumps(entries, separators=(',', ':'), ensure_ascii=False)};\n"


def sections(path, page):
    """Yield the entries of a page; what stands above its first title is left out."""
    content = page.split("<main", 1)[1].split("</main>")[0]
    content = re.sub(r"<(script|svg)\b.*?</\1>", " ", content, flags=re.DOTALL)
    found = list(TITLE.finditer(content))
    page_title, _ = words_of(found[0][3])
    for title, following in zip(found, [*found[1:], None], strict=True):
        part = content[title.end() : following.start() if following else None]
        name, _ = words_of(title[3])
        _, words = words_of(part)
        address = f"{path}#{title[2]}" if title[2] and title is not found[0] else path
        yield [page_title, "" if title is found[0] else name, address, " ".join(words)]


def words_of(part):
    """Return some HTML as one line of text, and its words, each once and in small letters."""
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", part)).split())
    return text, list(dict.fromkeys(word.lower() for word in WORD.findall(text) if word.lower() not in COMMON))
