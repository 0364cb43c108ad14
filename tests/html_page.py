"""A page of HTML as a test reads it."""

from html.parser import HTMLParser


class Reader(HTMLParser):
    """Reads the names, links, other addresses and numbers of tags of a page, and that its tags are balanced."""

    VOID = ("meta", "link", "img", "br", "input", "polyline", "wbr")

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.addresses, self.open, self.tags = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.names += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.addresses += [attrs[name] for name in ("src", "href") if name in attrs and tag != "a"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag
