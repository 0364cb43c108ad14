"""Downloads and ``scripts.fetch_data``, for real, against a server on the loopback address.

One file, since all of it needs that server.
"""

import functools
import gzip
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from socket import socket
from urllib.request import Request, urlopen

import numpy as np
import pytest
import yaml

from datasets import DataError, load_dataset
from datasets.files import checksum
from scripts.fetch_data import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = np.random.default_rng(0).random((60, 500))
LABELS = np.arange(60) % 3


class Page:
    """One path of the site: what it answers, and what it was asked.

    `cuts` holds, for each request in turn, after how many bytes the connection breaks; afterwards it holds.
    """

    def __init__(self, content, cuts=(), status=200, ranges=True, pause=0.0, kind="application/octet-stream"):
        self.content, self.cuts, self.status = content, list(cuts), status
        self.ranges, self.pause, self.kind = ranges, pause, kind
        self.asked = []


class Hostile(Page):
    """What a broken or hostile server sends: headers, then pieces until the client hangs up."""

    def __init__(self, pieces, headers=(), pause=0.0):
        super().__init__(b"")
        self.pieces, self.headers, self.pause, self.sent = pieces, headers, pause, 0

    def answer(self, handler):
        handler.send_response(200)
        for name, value in self.headers:
            handler.send_header(name, value)
        handler.end_headers()
        try:
            for piece in self.pieces:
                handler.wfile.write(piece)
                self.sent += len(piece)
                time.sleep(self.pause)
        except OSError:
            return


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        page = self.server.pages.get(self.path, Page(b"no such page", status=404))
        wanted = self.headers.get("Range")
        page.asked.append(wanted)
        if isinstance(page, Hostile):
            page.answer(self)
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and page.ranges else 0
        if start and start >= len(page.content):
            self.send_error(416)
            return
        body = page.content[start:]
        self.send_response(206 if start else page.status)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(page.content) - 1}/{len(page.content)}")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", page.kind)
        self.end_headers()
        cut = page.cuts.pop(0) if page.cuts else len(body)
        for first in range(0, cut, 16384):
            self.wfile.write(body[first : min(first + 16384, cut)])
            time.sleep(page.pause)

    def log_message(self, *_):
        pass


@pytest.fixture
def site(monkeypatch):
    """A web site: ``site.pages[path] = Page(...)``, ``site.url(path)``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # clients of these tests hang up
    server.pages = {}
    server.url = lambda path: f"http://127.0.0.1:{server.server_port}{path}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("UFS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("UFS_DATA_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def content():
    archive = BytesIO()
    np.savez(archive, X=SAMPLES, y=LABELS)
    return archive.getvalue()


@pytest.fixture
def spec(tmp_path, content):
    """``spec(address, ...)``: a data set of `content` at these addresses."""
    (tmp_path / "original").write_bytes(content)

    def make(*urls, name="small", **changes):
        source = {
            "file": f"{name}.npz",
            "format": "npz",
            "options": {"x": "X", "y": "y"},
            "checksum": f"sha256:{checksum(tmp_path / 'original')}",
            "urls": list(urls),
        }
        texts = dict.fromkeys(("paper_name", "citation", "origin", "terms"), "none")
        shape = {"samples": 60, "features": 500, "classes": 3, "image": None, "data_sha256": None}
        return {"name": name, **texts, **shape, "sources": [source | changes]}

    return make


def bad(cache):
    return sorted(path.name for path in cache.glob("*.bad-????????"))


def closed_address():
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/small.npz"


# ---- one file


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
    wait_for(lambda: part.is_file() and part.stat().st_size)
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


def test_a_silent_server_is_left_for_the_mirror(site, cache, spec, content, monkeypatch):
    monkeypatch.setattr("datasets.fetch.READ_SECONDS", 0.3)
    site.pages["/a"], site.pages["/b"] = Page(content, pause=2), Page(content)
    load_dataset(spec(site.url("/a"), site.url("/b")))
    assert (cache / "small.npz").read_bytes() == content


@pytest.mark.parametrize("stated", [True, False])
def test_a_server_that_does_not_end_is_left_at_the_size_of_the_file(site, cache, spec, content, stated, monkeypatch):
    monkeypatch.setattr("datasets.fetch.LARGEST", 10 * len(content))
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
    monkeypatch.setattr("datasets.fetch.PATIENCE", 0.5)
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

    monkeypatch.setattr("datasets.fetch.ANSWER_SECONDS", 1)
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


# ---- the cache


@pytest.mark.parametrize("content_now", [b"", b"404: Not Found", None])
def test_a_bad_file_in_the_cache_is_kept_aside_and_fetched_again(site, cache, spec, content, content_now, capsys):
    cache.mkdir()
    (cache / "small.npz").write_bytes(content[:-10] if content_now is None else content_now)
    site.pages["/a"] = Page(content)
    load_dataset(spec(site.url("/a")))
    assert (cache / "small.npz").read_bytes() == content
    assert bad(cache)[0] in capsys.readouterr().err


def test_a_bad_file_in_the_cache_is_not_used_without_a_network_either(cache, spec):
    cache.mkdir()
    (cache / "small.npz").write_bytes(b"bad")
    with pytest.raises(DataError, match="is not on this machine"):
        load_dataset(spec(closed_address()), download=False)
    assert len(bad(cache)) == 1 and not (cache / "small.npz").exists()


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


def load_in_process(spec_file):
    program = (
        "import json, sys; from datasets import load_dataset; print(load_dataset(json.load(open(sys.argv[1]))).X.shape)"
    )
    command = [sys.executable, "-c", program, str(spec_file)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.02)


# ---- progress


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


# ---- OpenML, as scikit-learn fetches it

ARFF = "\n".join(
    [
        "@RELATION toy",
        *(f"@ATTRIBUTE pixel{column} NUMERIC" for column in range(4)),
        "@ATTRIBUTE class {1, 10, 2}",
        "@DATA",
        *(f"{row},{row * row % 7},{row / 4},0,{[10, 2, 1][row % 3]}" for row in range(30)),
    ]
).encode()


@pytest.fixture
def openml(site, cache, monkeypatch, spec):
    """A site that answers as openml.org does for data set 77; the specification of it."""
    features = [
        {"index": str(i), "name": f"pixel{i}", "data_type": "numeric", "is_target": "false"} for i in range(4)
    ] + [
        {"index": "4", "name": "class", "data_type": "nominal", "nominal_value": ["1", "10", "2"], "is_target": "true"}
    ]
    for feature in features:
        feature.update(is_ignore="false", is_row_identifier="false", number_of_missing_values="0")
    description = {
        "id": "77", "name": "toy", "version": "1", "format": "ARFF", "status": "active", "description": "a toy",
        "file_id": "5", "default_target_attribute": "class", "md5_checksum": md5(ARFF).hexdigest(),
        "url": "https://www.openml.org/data/v1/download/5/toy.arff",
    }  # fmt: skip
    qualities = [{"name": "NumberOfInstances", "value": "30.0"}]
    answers = {
        "/api/v1/json/data/77": {"data_set_description": description},
        "/api/v1/json/data/features/77": {"data_features": {"feature": features}},
        "/api/v1/json/data/qualities/77": {"data_qualities": {"quality": qualities}},
    }
    site.pages.update({path: Page(json.dumps(answer).encode(), kind="text/json") for path, answer in answers.items()})
    site.pages["/data/v1/download/5/toy.arff"] = Page(ARFF)

    def to_the_site(request, *args, **kwargs):
        url = request.full_url.replace("https://www.openml.org", site.url(""))
        assert url != request.full_url
        return urlopen(Request(url), *args, **kwargs)

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", to_the_site)
    made = spec(samples=12)
    source = {
        "file": "toy_openml77.npz",
        "format": "npz",
        "options": {"x": "X", "y": "y"},
        "openml": 77,
        "per_class": 4,
    }
    return made | {"samples": 12, "features": 4, "classes": 3, "sources": [source]}


def test_an_openml_data_set_is_made_once_and_kept_with_a_checksum(openml, site, cache):
    dataset = load_dataset(openml)
    np.testing.assert_array_equal(dataset.X[:, 0], [2, 5, 8, 11, 1, 4, 7, 10, 0, 3, 6, 9])
    np.testing.assert_array_equal(dataset.y, np.repeat([0, 1, 2], 4))
    assert load_dataset(openml).sha == dataset.sha
    assert site.pages["/data/v1/download/5/toy.arff"].asked == [None]
    kept = sorted(path.name for path in cache.iterdir() if not path.name.startswith("."))
    assert kept == ["toy_openml77.npz", "toy_openml77.npz.sha256"]


def test_a_file_made_from_openml_serves_in_a_folder_of_the_users_with_its_checksum_only(openml, cache, tmp_path):
    dataset = load_dataset(openml)
    (tmp_path / "mine").mkdir()
    (cache / "toy_openml77.npz").rename(tmp_path / "mine/toy_openml77.npz")
    with pytest.raises(DataError, match=re.escape("toy_openml77.npz.sha256 is missing beside it")):
        load_dataset(openml, data_dir=tmp_path / "mine", download=False)
    (cache / "toy_openml77.npz.sha256").rename(tmp_path / "mine/toy_openml77.npz.sha256")
    assert load_dataset(openml, data_dir=tmp_path / "mine", download=False).sha == dataset.sha


def test_a_bad_file_made_from_openml_is_made_again(openml, site, cache):
    sha = load_dataset(openml).sha
    path = cache / "toy_openml77.npz"
    path.write_bytes(path.read_bytes()[:-5])
    assert load_dataset(openml).sha == sha
    assert len(bad(cache)) == 1


def test_a_sparse_openml_data_set_is_the_same(openml, site, cache):
    dense = load_dataset(openml)
    rows = [line.split(",") for line in ARFF.decode().split("@DATA\n")[1].splitlines()]
    sparse = ["{" + ", ".join(f"{i} {value}" for i, value in enumerate(row) if value != "0") + "}" for row in rows]
    arff = (ARFF.decode().split("@DATA")[0] + "@DATA\n" + "\n".join(sparse)).encode()
    site.pages["/data/v1/download/5/toy.arff"] = Page(arff)
    description = site.pages["/api/v1/json/data/77"]
    changed = json.loads(description.content)
    changed["data_set_description"] |= {"format": "Sparse_ARFF", "md5_checksum": md5(arff).hexdigest()}
    description.content = json.dumps(changed).encode()
    (cache / "toy_openml77.npz").unlink()
    assert load_dataset(openml).sha == dense.sha


def test_another_openml_data_set_than_expected_is_named_and_not_kept(openml, cache):
    with pytest.raises(DataError, match=r"openml.org/d/77 \(toy, version 1\).* is 12 x 4 x 3, expected 12 x 5 x 3"):
        load_dataset(openml | {"features": 5})
    assert not list(cache.glob("*.npz"))


def test_bytes_that_openml_did_not_state_are_refused(openml, site, cache):
    site.pages["/data/v1/download/5/toy.arff"].content = ARFF.replace(b"10,", b"11,", 1)
    with pytest.raises(DataError, match="md5 checksum"):
        load_dataset(openml)
    assert not list(cache.glob("*.npz"))


def test_openml_out_of_reach_is_an_error_with_its_page_and_the_command(openml, monkeypatch):
    def refuse(*_, **__):
        raise OSError("Network is unreachable")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refuse)
    with pytest.raises(DataError, match=r"(?s)https://www.openml.org/d/77: .*unreachable.*scripts.fetch_data small"):
        load_dataset(openml)


# ---- the script


@pytest.fixture
def registry(tmp_path, monkeypatch, spec, site, content):
    """Three data sets of the site: `one` and `two` can be had, `gone` cannot."""
    folder = tmp_path / "conf"
    folder.mkdir()
    monkeypatch.setattr("datasets.spec.FOLDER", folder)
    for name, path in (("one", "/1"), ("two", "/2"), ("gone", "/3")):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(spec(site.url(path), name=name)))
    site.pages["/1"], site.pages["/2"] = Page(content, pause=0.01), Page(content)


def test_one_failure_does_not_stop_the_others_and_shows_in_the_exit_status(registry, cache, capsys):
    assert main(["--all", "--jobs", "3"]) == 1
    out = capsys.readouterr().out
    assert "one: downloaded, 60 x 500 x 3, cache: one.npz" in out and "terms: none" in out
    assert out.splitlines()[-2:] == ["1 FAILED; 2 downloaded", "failed: gone"]
    assert main(["one", "two"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 there"


def test_several_files_are_downloaded_at_once(registry, cache, site):
    """Each of the two pages is sent only after the other one was asked for too."""
    meeting = threading.Barrier(2, timeout=10)

    class Both(Page):
        def __init__(self, content):
            super().__init__(content)
            self.asked = self

        def append(self, _):
            meeting.wait()

    site.pages["/1"], site.pages["/2"] = Both(site.pages["/1"].content), Both(site.pages["/2"].content)
    assert main(["one", "two", "--jobs", "2"]) == 0


def test_the_list_says_where_each_is_found(registry, cache, capsys, tmp_path, content):
    main(["one"])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/two.npz").write_bytes(content)
    capsys.readouterr()
    assert main(["--list", "--data-dir", str(tmp_path / "mine")]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert rows["one"].endswith("0.24 MB  cache: one.npz")
    assert rows["two"].endswith("0.24 MB  data_dir: two.npz")
    assert rows["gone"].endswith("-  download")
    assert "60 x 500 x 3" in rows["gone"]


def test_one_file_that_cannot_be_read_does_not_hide_the_others(registry, cache, capsys, tmp_path):
    (tmp_path / "conf/two.yaml").write_text("name: [two\n")
    assert main(["--list"]) == 1
    printed = capsys.readouterr()
    assert "two.yaml is not YAML" in printed.err and "one" in printed.out.split()


def test_the_list_of_named_sets_shows_their_addresses_and_checksums(registry, cache, site, capsys, spec):
    assert main(["--list", "two"]) == 0
    out = capsys.readouterr().out
    assert site.url("/2") in out and spec()["sources"][0]["checksum"] in out and "one" not in out.split()


def test_verify_finds_a_fault_in_any_place_and_changes_nothing(registry, cache, capsys, tmp_path):
    main(["one", "two"])
    assert main(["--verify"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 absent; 2 right"
    (cache / "two.npz").write_bytes(b"404: Not Found")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/one.npz").write_bytes(b"")
    before = sorted(cache.iterdir())
    assert main(["--verify", "--data-dir", str(tmp_path / "mine")]) == 1
    out = capsys.readouterr().out
    assert "it is a text file" in out and "it is empty" in out
    assert out.splitlines()[-1] == "failed: one two"
    assert sorted(cache.iterdir()) == before
    assert main(["--list", "two"]) == 1 and "BAD" in capsys.readouterr().out


def test_verify_checks_the_shape_too(registry, cache, capsys, tmp_path):
    main(["one"])
    path = tmp_path / "conf/one.yaml"
    path.write_text(path.read_text().replace("features: 500", "features: 499"))
    assert main(["--verify", "one"]) == 1
    assert "is 60 x 500 x 3, expected 60 x 499 x 3" in capsys.readouterr().out


def test_verify_of_a_named_set_that_is_not_there_fails(registry, cache, capsys):
    assert main(["--verify", "gone"]) == 1
    assert "not there" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none_such"], "known data sets are gone, one, two"),
        ([], "known ones are gone"),
        (["--all", "--jobs", "0"], "0"),
    ],
)
def test_a_wrong_command_says_what_is_known(registry, cache, capsys, arguments, words):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_ctrl_c_ends_the_script_at_once_and_keeps_what_there_is(site, cache, content, tmp_path, spec):
    site.pages["/a"] = Page(content, pause=2)
    (tmp_path / "slow.yaml").write_text(yaml.safe_dump(spec(site.url("/a"), name="slow")))
    program = (
        "import datasets.spec, pathlib, runpy, sys\n"
        "datasets.spec.FOLDER = pathlib.Path(sys.argv.pop(1))\n"
        "runpy.run_module('scripts.fetch_data', run_name='__main__')"
    )
    command = [sys.executable, "-c", program, str(tmp_path), "slow"]
    # A shell in the background ignores the signal, and so would its children.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    child = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    part = cache / "slow.npz.part"
    wait_for(lambda: part.is_file() and part.stat().st_size)
    os.kill(child.pid, signal.SIGINT)
    assert "interrupted" in child.communicate(timeout=15)[1]
    assert child.returncode == 130 and part.stat().st_size
