"""Downloads from broken and hostile servers end in time, and take no more bytes than the file has."""

import gzip
import itertools

import pytest
from web_site import Handler, Hostile, Page

from ufs_bench.datasets import DataError, load_dataset


def test_a_silent_server_is_left_for_the_mirror(site, cache, spec, content, monkeypatch):
    monkeypatch.setattr("ufs_bench.datasets.download.READ_SECONDS", 0.3)
    site.pages["/a"], site.pages["/b"] = Page(content, pause=2), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))
    assert (cache / "small.npz").read_bytes() == content


@pytest.mark.parametrize("stated", [True, False])
def test_a_server_that_does_not_end_is_left_at_the_size_of_the_file(site, cache, spec, content, stated, monkeypatch):
    monkeypatch.setattr("ufs_bench.datasets.download.LARGEST", 10 * len(content))
    site.pages["/a"] = page = Hostile(itertools.repeat(b"x" * 4096, 10**6))
    changes = {"bytes": len(content)} if stated else {}
    with pytest.raises(DataError, match="it sends more than"):
        load_dataset(spec(site.url("/a"), **changes))
    assert page.sent < 10**8 and not list(cache.glob("*.part"))
    site.pages["/b"] = Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b"), **changes))


def test_a_gzip_bomb_is_left_at_the_size_of_the_file(site, cache, spec, content):
    bomb = gzip.compress(bytes(10**8))
    site.pages["/a"] = Hostile([bomb], [("Content-Encoding", "gzip"), ("Content-Length", str(len(bomb)))])
    with pytest.raises(DataError, match="it sends more than"):
        load_dataset(spec(site.url("/a"), bytes=len(content)))
    assert not list(cache.glob("*.part"))


def test_a_server_that_encodes_unasked_is_understood(site, cache, spec, content):
    packed = gzip.compress(content)
    site.pages["/a"] = Hostile([packed], [("Content-Encoding", "gzip"), ("Content-Length", str(len(packed)))])
    assert load_dataset(spec(site.url("/a"), bytes=len(content))).n_samples == 60


def test_a_server_that_drips_is_left_for_the_mirror(site, cache, spec, content, monkeypatch):
    monkeypatch.setattr("ufs_bench.datasets.download.PATIENCE", 0.5)
    site.pages["/a"] = page = Hostile((content[i : i + 1] for i in range(10**5)), pause=0.05)
    with pytest.raises(DataError, match=r"bytes in \d+ s: too slow; the next run goes on at byte \d+"):
        load_dataset(spec(site.url("/a"), bytes=len(content)))
    assert page.sent < 100
    site.pages["/b"] = Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))


def test_a_server_whose_headers_drip_is_left(site, cache, spec, content, monkeypatch):
    class Dripping(Hostile):
        def answer(self, handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
            super().answer(handler)

    monkeypatch.setattr("ufs_bench.datasets.download.ANSWER_SECONDS", 1)
    site.pages["/a"] = Dripping([b"x"] * 10**4, pause=0.05)
    monkeypatch.setattr(Handler, "send_response", lambda *_: None)
    monkeypatch.setattr(Handler, "end_headers", lambda *_: None)
    with pytest.raises(DataError, match="no answer within 1 s"):
        load_dataset(spec(site.url("/a"), bytes=len(content)))


@pytest.mark.parametrize("length", ["abc", "-5", "1e3", "9" * 5000, ""])
def test_a_length_that_is_no_number_does_not_matter(site, cache, spec, content, length):
    site.pages["/a"] = Hostile([content], [("Content-Length", length)])
    assert load_dataset(spec(site.url("/a"), bytes=len(content))).n_samples == 60


def test_a_length_beyond_that_of_the_file_is_refused_before_anything_is_read(site, cache, spec, content):
    site.pages["/a"] = page = Hostile(itertools.repeat(b"x" * 4096, 10**6), [("Content-Length", str(10**12))])
    with pytest.raises(DataError, match="it sends more than"):
        load_dataset(spec(site.url("/a"), bytes=len(content)))
    assert page.sent < 10**8
