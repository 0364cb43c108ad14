"""Downloads, for real, against a server on the loopback address: resumed, checked, taken from mirrors, shown."""

import json
import signal
import sys

import numpy as np
import pytest
from forked import wait_until
from web_site import SAMPLES, Page, bad, closed_address, load_in_process

from ufs_bench.datasets import DataError, load_dataset


def test_a_download_fills_the_cache_and_is_not_repeated(site, cache, spec, content):
    site.pages["/a"] = page = Page(content)
    first = load_dataset(spec(site.url("/a")))
    np.testing.assert_array_equal(first.X, SAMPLES)
    assert load_dataset(spec(site.url("/a"))).sha == first.sha
    assert page.asked == [None]
    assert [path.name for path in cache.iterdir() if not path.name.startswith(".")] == ["small.npz"]


def test_a_dropped_connection_is_taken_up_where_it_broke(site, cache, spec, content):
    site.pages["/a"] = page = Page(content, cuts=[98_304, 49_152])
    load_dataset(spec(site.url("/a")))
    assert page.asked == [None, "bytes=98304-", "bytes=147456-"]
    assert (cache / "small.npz").read_bytes() == content


def test_a_connection_that_keeps_dropping_is_given_up_and_the_next_run_goes_on(site, cache, spec, content):
    site.pages["/a"] = page = Page(content, cuts=9 * [8_192])
    with pytest.raises(DataError, match="broke 5 times; the next run goes on at byte 40960"):
        load_dataset(spec(site.url("/a")))
    assert (cache / "small.npz.part").stat().st_size == 40_960
    page.cuts.clear()
    load_dataset(spec(site.url("/a")))
    assert page.asked[-1] == "bytes=40960-"


def test_a_killed_download_leaves_no_file_and_is_resumed(site, cache, spec, content, tmp_path):
    site.pages["/a"] = page = Page(content, pause=0.15)
    (tmp_path / "spec.json").write_text(json.dumps(spec(site.url("/a"))))
    child = load_in_process(tmp_path / "spec.json")
    part = cache / "small.npz.part"
    wait_until(lambda: part.is_file() and part.stat().st_size)
    child.send_signal(signal.SIGKILL)
    child.wait(10)
    kept = part.stat().st_size
    assert 0 < kept < len(content) and not (cache / "small.npz").exists()
    page.pause = 0
    load_dataset(spec(site.url("/a")))
    assert page.asked == [None, f"bytes={kept}-"]


def test_a_partial_file_that_was_complete_needs_no_network(cache, spec, content):
    cache.mkdir()
    (cache / "small.npz.part").write_bytes(content)
    assert load_dataset(spec(closed_address())).n_samples == 60


def test_a_server_that_ignores_ranges_sends_everything_again(site, cache, spec, content):
    site.pages["/a"] = page = Page(content, cuts=[98_304], ranges=False)
    load_dataset(spec(site.url("/a")))
    assert page.asked == [None, "bytes=98304-"]
    assert (cache / "small.npz").read_bytes() == content


@pytest.mark.parametrize("size", [5000, 10**6])
def test_the_beginning_of_something_else_is_not_used(site, cache, spec, content, size):
    cache.mkdir()
    (cache / "small.npz.part").write_bytes(size * b"x")
    site.pages["/a"] = Page(content)
    load_dataset(spec(site.url("/a")))
    assert (cache / "small.npz").read_bytes() == content
    assert len(bad(cache)) == (size < len(content)), "what was completed is kept aside, what was too long is dropped"


def test_a_truncated_file_is_kept_aside_and_the_mirror_used(site, cache, spec, content):
    site.pages["/a"], site.pages["/b"] = Page(content[:-1000]), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b"), bytes=len(content)))
    assert (cache / "small.npz").read_bytes() == content
    assert len(bad(cache)) == 1 and site.pages["/b"].asked == [None]


def test_wrong_bytes_are_named_kept_aside_and_never_used(site, cache, spec):
    site.pages["/a"] = Page(b"<!DOCTYPE html><html>Please log in</html>")
    for _ in range(2):
        with pytest.raises(DataError, match="it is an HTML page; kept as"):
            load_dataset(spec(site.url("/a")))
    assert len(bad(cache)) == 1 and not (cache / "small.npz").exists()
    assert site.pages["/a"].asked == [None, None]


@pytest.mark.parametrize("status", [404, 403, 503])
def test_an_error_of_the_first_address_leads_to_the_mirror(site, cache, spec, content, status):
    site.pages["/a"], site.pages["/b"] = Page(b"sorry", status=status), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))
    assert site.pages["/a"].asked == [None]
    assert (cache / "small.npz").read_bytes() == content


def test_a_mirror_takes_up_what_the_first_address_began(site, cache, spec, content):
    site.pages["/a"] = Page(content, cuts=[40_960] + 9 * [0])
    site.pages["/b"] = Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))
    assert site.pages["/b"].asked == ["bytes=40960-"]


def test_when_every_address_fails_one_error_says_all_that_is_needed(site, cache, spec, content):
    site.pages["/b"] = Page(b"wrong")
    addresses = [site.url("/a"), site.url("/b"), closed_address()]
    with pytest.raises(DataError) as caught:
        load_dataset(spec(*addresses))
    text = str(caught.value)
    checksum_wanted = spec()["sources"][0]["checksum"]
    for words in (*addresses, "404", "a text file", "refused", checksum_wanted, str(cache), "UFS_DATA_DIR"):
        assert words in text


def test_download_false_asks_nobody(site, cache, spec, content):
    site.pages["/a"] = Page(content)
    with pytest.raises(DataError, match="is not on this machine:"):
        load_dataset(spec(site.url("/a")), download=False)
    assert site.pages["/a"].asked == []


def test_progress_is_plain_lines_where_there_is_no_terminal(site, cache, spec, content, capsys):
    site.pages["/a"] = Page(content, cuts=[98_304])
    load_dataset(spec(site.url("/a")))
    lines = capsys.readouterr().err
    assert "\r" not in lines
    assert lines.splitlines() == [
        f"small.npz: downloading 0.24 MB from 127.0.0.1:{site.server_port}",
        f"small.npz: downloading 0.24 MB from 127.0.0.1:{site.server_port}, going on at 0.10 MB",
    ]


def test_progress_is_a_bar_on_a_terminal(site, cache, spec, content, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    site.pages["/a"] = Page(content)
    load_dataset(spec(site.url("/a")))
    shown = capsys.readouterr().err
    assert "\rsmall.npz: 100%" in shown and "downloading" not in shown
