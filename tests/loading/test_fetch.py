"""Downloads, for real, against a server on the loopback address: checked, taken from mirrors, cached, shown."""

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


def test_wrong_bytes_are_named_and_never_used(site, cache, spec):
    site.pages["/a"] = Page(b"<!DOCTYPE html><html>Please log in</html>")
    for _ in range(2):
        with pytest.raises(DataError, match="it is an HTML page"):
            load_dataset(spec(site.url("/a")))
    assert [path.name for path in cache.iterdir()] == [".small.npz.lock"]
    assert site.pages["/a"].asked == [None, None]


FAULTS = {
    **{str(status): {"status": status} for status in (403, 404, 503)},
    "the connection breaks": {"cuts": [98_304]},
    "silence": {"pause": 2},
    "a truncated file": {"truncated": True},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_first_address_leads_to_the_mirror(site, cache, spec, content, fault, monkeypatch):
    if fault == "silence":
        monkeypatch.setattr("ufs_bench.datasets.download.READ_SECONDS", 0.3)
    given = dict(FAULTS[fault])
    truncated = given.pop("truncated", False)
    site.pages["/a"], site.pages["/b"] = Page(content[:-1000] if truncated else content, **given), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b"), bytes=len(content)))
    assert (cache / "small.npz").read_bytes() == content and site.pages["/b"].asked == [None]


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


def test_a_server_that_encodes_unasked_is_understood(site, cache, spec, content):
    packed = gzip.compress(content)
    site.pages["/a"] = Hostile([packed], [("Content-Encoding", "gzip"), ("Content-Length", str(len(packed)))])
    assert load_dataset(spec(site.url("/a"), bytes=len(content))).n_samples == 60


def test_progress_is_a_plain_line_where_there_is_no_terminal(site, cache, spec, content, capsys):
    site.pages["/a"] = Page(content)
    load_dataset(spec(site.url("/a")))
    assert capsys.readouterr().err == f"small.npz: downloading from 127.0.0.1:{site.server_port}\n"


@pytest.mark.parametrize("content_now", [b"", b"404: Not Found", None])
def test_a_bad_file_in_the_cache_is_fetched_again(site, cache, spec, content, content_now, capsys):
    cache.mkdir()
    (cache / "small.npz").write_bytes(content[:-10] if content_now is None else content_now)
    site.pages["/a"] = Page(content)
    load_dataset(spec(site.url("/a")))
    assert (cache / "small.npz").read_bytes() == content
    assert "small.npz: its sha256 is" in capsys.readouterr().err


def test_a_bad_file_in_the_users_folder_asks_nobody(site, cache, spec, content, tmp_path):
    (tmp_path / "small.npz").write_bytes(b"bad")
    site.pages["/a"] = Page(content)
    with pytest.raises(DataError, match="nothing was changed"):
        load_dataset(spec(site.url("/a")), data_dir=tmp_path)
    assert (tmp_path / "small.npz").read_bytes() == b"bad" and site.pages["/a"].asked == []


def test_a_bad_file_that_has_no_address_may_be_right_and_its_checksum_wrong(cache, spec, tmp_path):
    (tmp_path / "small.npz").write_bytes(b"mine")
    with pytest.raises(DataError, match="correct the checksum in conf/dataset/small.yaml"):
        load_dataset(spec(), data_dir=tmp_path)


def test_a_cache_that_cannot_be_written_is_a_clear_error(site, spec, content, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("UFS_CACHE_DIR", str(tmp_path / "file"))
    site.pages["/a"] = Page(content)
    with pytest.raises(DataError, match="Set UFS_CACHE_DIR"):
        load_dataset(spec(site.url("/a")))


def test_processes_that_want_the_same_file_at_once_download_it_once(site, cache, spec, content, tmp_path):
    site.pages["/a"] = page = Page(content, pause=0.05)
    (tmp_path / "spec.json").write_text(json.dumps(spec(site.url("/a"))))
    children = [load_in_process(tmp_path / "spec.json") for _ in range(2)]
    assert {child.communicate(timeout=60)[0] for child in children} == {"(60, 500)\n"}
    assert page.asked == [None]
