"""Files of the cache and of the user's folder: bad ones are never used, and processes share one download."""

import json

import pytest
from web_site import Page, load_in_process

from ufs_bench.datasets import DataError, load_dataset


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
