"""Downloads, for real, against a server on the loopback address: checked, taken from mirrors, shown."""

import gzip
import json
import signal
import sys

import numpy as np
import pytest
from forked import wait_until
from web_site import SAMPLES, Hostile, Page, closed_address, load_in_process

from ufs_bench.datasets import DataError, load_dataset


def test_a_download_fills_the_cache_and_is_not_repeated(site, cache, spec, content):
    site.pages["/a"] = page = Page(content)
    first = load_dataset(spec(site.url("/a")))
    np.testing.assert_array_equal(first.X, SAMPLES)
    assert load_dataset(spec(site.url("/a"))).sha == first.sha
    assert page.asked == [None]
    assert [path.name for path in cache.iterdir() if not path.name.startswith(".")] == ["small.npz"]


def test_a_truncated_file_leads_to_the_mirror(site, cache, spec, content):
    site.pages["/a"], site.pages["/b"] = Page(content[:-1000]), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b"), bytes=len(content)))
    assert (cache / "small.npz").read_bytes() == content
    assert site.pages["/b"].asked == [None]


def test_wrong_bytes_are_named_and_never_used(site, cache, spec):
    site.pages["/a"] = Page(b"<!DOCTYPE html><html>Please log in</html>")
    for _ in range(2):
        with pytest.raises(DataError, match="it is an HTML page"):
            load_dataset(spec(site.url("/a")))
    assert [path.name for path in cache.iterdir()] == [".small.npz.lock"]
    assert site.pages["/a"].asked == [None, None]


@pytest.mark.parametrize("status", [404, 403, 503])
def test_an_error_of_the_first_address_leads_to_the_mirror(site, cache, spec, content, status):
    site.pages["/a"], site.pages["/b"] = Page(b"sorry", status=status), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))
    assert site.pages["/a"].asked == [None]
    assert (cache / "small.npz").read_bytes() == content


def test_when_every_address_fails_one_error_says_all_that_is_needed(site, cache, spec, content):
    site.pages["/b"] = Page(b"wrong")
    addresses = [site.url("/a"), site.url("/b"), closed_address()]
    with pytest.raises(DataError) as caught:
        load_dataset(spec(*addresses))
    text = str(caught.value)
    checksum_wanted = spec()["sources"][0]["checksum"]
    for words in (*addresses, "404", "a text file", "refused", checksum_wanted, str(cache), "UFS_DATA_DIR"):
        assert words in text


def test_progress_is_a_bar_on_a_terminal(site, cache, spec, content, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    site.pages["/a"] = Page(content)
    load_dataset(spec(site.url("/a")))
    shown = capsys.readouterr().err
    assert "\r100%" in shown and "downloading" not in shown


def test_a_connection_that_breaks_leads_to_the_mirror(site, cache, spec, content):
    site.pages["/a"], site.pages["/b"] = Page(content, cuts=[98_304]), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))
    assert (cache / "small.npz").read_bytes() == content


def test_a_killed_download_leaves_no_file_and_begins_anew(site, cache, spec, content, tmp_path):
    site.pages["/a"] = page = Page(content, pause=0.3)
    (tmp_path / "spec.json").write_text(json.dumps(spec(site.url("/a"))))
    child = load_in_process(tmp_path / "spec.json")
    wait_until(lambda: page.asked)
    child.send_signal(signal.SIGKILL)
    child.wait(10)
    assert not (cache / "small.npz").exists()
    page.pause = 0
    load_dataset(spec(site.url("/a")))
    assert (cache / "small.npz").read_bytes() == content


def test_a_silent_server_is_left_for_the_mirror(site, cache, spec, content, monkeypatch):
    monkeypatch.setattr("ufs_bench.datasets.download.READ_SECONDS", 0.3)
    site.pages["/a"], site.pages["/b"] = Page(content, pause=2), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))
    assert (cache / "small.npz").read_bytes() == content


def test_a_server_that_encodes_unasked_is_understood(site, cache, spec, content):
    packed = gzip.compress(content)
    site.pages["/a"] = Hostile([packed], [("Content-Encoding", "gzip"), ("Content-Length", str(len(packed)))])
    assert load_dataset(spec(site.url("/a"), bytes=len(content))).n_samples == 60


def test_progress_is_a_plain_line_where_there_is_no_terminal(site, cache, spec, content, capsys):
    site.pages["/a"] = Page(content)
    load_dataset(spec(site.url("/a")))
    assert capsys.readouterr().err == f"small.npz: downloading from 127.0.0.1:{site.server_port}\n"
